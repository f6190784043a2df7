"""``--recsys-plan``: the calls that the selected tests would make, in lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from itertools import groupby
from typing import Any

import pytest

from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.calls.tokens import CHARACTERS
from pytest_recsys_mt.engine.drift import USERS
from pytest_recsys_mt.engine.plan import Count, Plan
from pytest_recsys_mt.sanitize import one_line

WIDTH = 80


def print_plan(config: pytest.Config, plan: Plan) -> None:
    """Write the plan to the terminal."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    counts = plan.counts()
    reporter.write_line("")
    for (suite, model), count in counts.items():
        reporter.write_sep("=", f"recsys-mt: {suite}, {model}")
        for label, text in _lines(count):
            _write(reporter, f"{label:<8}", text)
    if plan.unplanned:
        reporter.write_sep("=", "recsys-mt: not planned")
    for reason, tests in groupby(
        sorted(plan.unplanned, key=lambda test: test.reason), key=lambda test: test.reason
    ):
        _write(reporter, "", one_line(reason))
        functions = Counter(test.nodeid.partition("[")[0] for test in tests)
        for function, items in functions.items():
            number = f" ({items} tests)" if items > 1 else ""
            reporter.write_line(f"    {one_line(function)}{number}")
    reporter.write_sep("=", "recsys-mt: the plan, nothing was asked")
    made = sum(count.to_make for count in counts.values())
    planned = sum(count.calls - count.duplicates for count in counts.values())
    costs = [count.usd for count in counts.values()]
    known = [usd for usd in costs if usd is not None]
    cost = "cost unknown" if len(known) < len(costs) else f"at most {dollars(sum(known))}"
    if known and len(known) < len(costs) and sum(known):
        cost = f"at most {dollars(sum(known))} and what is unknown"
    reporter.write_line(
        f"{planned:,} calls planned, {planned - made:,} cached, {made:,} to make; {cost}"
    )
    asked = {id(test.subject): test.runner for test in plan.tests if test.subject.live}
    again = sum(min(USERS, len(one.cases)) * one.replicates for one in asked.values())
    if again:
        _write(
            reporter,
            "",
            f"not counted: up to {again:,} calls at the end to see whether answers changed, and both "
            f"sides of a difference once more where they were asked apart",
        )


def _lines(count: Count) -> list[tuple[str, str]]:
    """The lines for one suite and model, by label."""
    calls = (
        f"{count.calls:,} in {count.tests:,} tests; {count.duplicates:,} duplicates removed, "
        f"{count.cached:,} cached, {count.to_make:,} to make"
    )
    lines = [("calls", calls)]
    if count.prompt_tokens:
        how = f"estimated, {CHARACTERS} characters per token"
        if count.counted:
            how = "counted by the model's tokenizer"
        elif count.calibrated:
            how = "estimated, in proportion to the answers in the cache"
        most = "an unknown number"
        if count.output_tokens is not None:
            most = f"at most {count.output_tokens:,}"
        lines.append(("tokens", f"{count.prompt_tokens:,} of prompts ({how}); {most} of answers"))
    lines.append(("cost", _cost(count)))
    return lines


def _cost(count: Count) -> str:
    price = count.price
    if price is None:
        return "unknown: the price of this model is not known; name it with --recsys-prices=FILE"
    if price.is_free:
        return "none: it runs on this machine, or its price is 0"
    rate = f"${price.input:g} and ${price.output:g} per million tokens"
    rate += f", {price.date}" if price.date else ""
    if count.usd is None:
        return f"unknown: the length of answers has no limit ({rate})"
    return f"at most {dollars(count.usd)} ({rate})"


def _write(reporter: Any, label: str, text: str) -> None:
    indent = " " * len(label)
    for line in textwrap.wrap(text, WIDTH, initial_indent=label, subsequent_indent=indent):
        reporter.write_line(line)
