"""``--recsys-plan``: the calls that the selected tests could make, in lines of 80 columns."""

import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_recsys_mt.calls.day_account import DayAccount
from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.calls.tokens import CHARACTERS
from pytest_recsys_mt.engine.plan import BESIDE, CONFIRMING, CONTROLLING, Count, Plan
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.gate.nodeids import function_of
from pytest_recsys_mt.oracles.judging.together import lasting
from pytest_recsys_mt.safety.sanitize import Safe, one_line

WIDTH = 80

SKIPPED = "skipped: "
"""Start of the reason of a test that is skipped."""

MOST = 5
"""Tests that are named because they cost most."""


def print_plan(
    config: pytest.Config, plan: Plan, unplanned: Mapping[str, str], settings: Settings
) -> None:
    """Write the plan to the terminal; `unplanned` says by a test's id why its calls are not all known, or why it is skipped."""
    reporter = Safe(config.pluginmanager.get_plugin("terminalreporter"))
    reporter.write_line("")
    sure = {key: count for key, count in plan.counts.items() if key[0] not in BESIDE}
    free = []
    for name in dict.fromkeys(model for _, model in sure):
        counts = {suite: count for (suite, model), count in sure.items() if model == name}
        if name not in settings.models and not sum(
            count.usd is None or count.usd > 0 for count in counts.values()
        ):
            free.append(f"{one_line(name)} {sum(count.calls for count in counts.values()):,}")
            continue
        reporter.write_sep("=", f"recsys-mt: the plan for {one_line(name)}")
        for line in _table(counts):
            reporter.write_line(line)
        for note in [*_notes(list(counts.values())), *_lasting(name, counts, plan)]:
            _write(reporter, note)
    if free:
        _write(reporter, f"Calls that cost nothing, to other recommenders: {', '.join(free)}.")
    for name, questions in plan.questions.items():
        reporter.write_sep("=", f"recsys-mt: the plan for {one_line(name)}")
        reporter.write_line(f"at most {questions:,} questions to this judge")
    _write_dearest(reporter, plan)
    _write_tests(reporter, "may ask less, or otherwise", plan.bounded)
    skipped = Counter(_skip(reason) for reason in unplanned.values() if _skip(reason))
    if skipped:
        reporter.write_sep("=", f"recsys-mt: {sum(skipped.values())} tests are skipped")
    for reason, number in skipped.most_common():
        _write(reporter, f"{number:3}  {one_line(reason)}", indent=5)
    left = {nodeid: reason for nodeid, reason in unplanned.items() if not _skip(reason)}
    _write_tests(reporter, "not planned", left)
    reporter.write_sep("=", "recsys-mt: the plan, nothing was asked")
    _write_bound(reporter, plan, len(left), settings)


def _write_bound(reporter: Any, plan: Plan, unknown: int, settings: Settings) -> None:
    limits = settings.limits
    sure = [count for (suite, _), count in plan.counts.items() if suite not in BESIDE]
    again = [count for (purpose, _), count in plan.counts.items() if purpose == CONFIRMING]
    controls = [count for (purpose, _), count in plan.counts.items() if purpose == CONTROLLING]
    made, further, shown = (
        sum(count.to_make for count in counts) for counts in (sure, again, controls)
    )
    planned, most = sum(count.calls for count in sure), made + further + shown
    without = f", without the {unknown} tests that are not planned" if unknown else ""
    parts = [
        f"at most {most:,} calls, {_at_most([*sure, *again, *controls])}{without}",
        f"  {planned:,} calls planned, {planned - made:,} cached, {made:,} to make; {_at_most(sure)}",
    ]
    if further:
        parts.append(
            f"  {further:,} more if every relation is violated; {_at_most(again)}: both sides of a difference are "
            f"asked once more, and some users at the end, to see whether answers changed"
            + (f"; --recsys-shrink={settings.shrink} each" if settings.shrink else "")
        )
    if shown:
        parts.append(
            f"  {shown:,} controls; {_at_most(controls)}: they show whether promises that hold are kept vacuously "
            f"(-o recsys_controls=0 asks none)"
        )
    for part in parts:
        _write(reporter, part, indent=4)
    if made:
        _write(reporter, "A verdict that is clear early asks fewer users.")
    usd = sum(count.usd or 0.0 for count in (*sure, *again, *controls))
    ends = [f"--recsys-max-calls={limits.calls}"] * (most > (limits.calls or math.inf))
    ends += [f"--recsys-max-usd={limits.usd or 0:g}"] * (usd > (limits.usd or math.inf))
    if ends:
        _write(reporter, f"{' and '.join(ends)} {'end' if ends[1:] else 'ends'} the run earlier.")
    for line in left_today(settings, most, usd):
        _write(reporter, line, indent=4)


def left_today(settings: Settings, calls: int, usd: float) -> list[str]:
    """What the limits a day leave of today, a line for each, and whether that is less than `calls` or `usd`."""
    if not settings.daily:
        return []
    account = DayAccount(settings.daily, settings.cache, settings.command)
    account.open()
    left = account.left()
    lines = []
    if left.calls is not None:
        ends = ", which ends the run earlier" if calls > left.calls else ""
        lines.append(
            f"recsys_calls_a_day={settings.daily.calls} leaves {left.calls:,} calls of today{ends}"
        )
    if left.usd is not None:
        ends = ", which ends the run earlier" if usd > left.usd else ""
        lines.append(
            f"recsys_usd_a_day={settings.daily.usd:g} leaves ${left.usd:.2f} of today{ends}"
        )
    if left.tokens is not None:
        lines.append(
            f"recsys_tokens_a_day={settings.daily.tokens} leaves {left.tokens:,} tokens of today"
        )
    return lines


def _skip(reason: str) -> str:
    return reason.removeprefix(SKIPPED) if reason.startswith(SKIPPED) else ""


def _lasting(name: str, counts: Mapping[str, Count], plan: Plan) -> list[str]:
    made, pace = sum(count.to_make for count in counts.values()), plan.pace(name)
    if not made or not any(count.prompt_tokens for count in counts.values()):
        return []
    if pace is None:
        return ["How long it takes is not known yet: no answers in the cache tell."]
    return [
        f"At the {pace:.3g} calls a second of the answers in the cache, it takes {lasting(made / pace)}."
    ]


def _table(counts: Mapping[str, Count]) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("suite", "tests", "calls", "cached", "prompt", "answers", "at most")
    ]
    rows += [_row(suite, [count]) for suite, count in counts.items()]
    if len(counts) > 1:
        rows.append(_row("", list(counts.values())))
    numbers = [max(map(len, column)) for column in list(zip(*rows, strict=True))[1:]]
    room = WIDTH - sum(width + 2 for width in numbers)
    first = min(room, max(len(suite) for suite, *_ in rows))
    lines = []
    for suite, *cells in rows:
        if len(suite) > room:
            lines.append(suite)
            suite = ""
        shown = [cell.rjust(width) for cell, width in zip(cells, numbers, strict=True)]
        lines.append("  ".join([suite.ljust(first), *shown]).rstrip())
    return lines


def _row(suite: str, counts: Sequence[Count]) -> tuple[str, ...]:
    outputs, usd = [count.output_tokens for count in counts], [count.usd for count in counts]
    return (
        suite,
        f"{len(set().union(*(count.tests for count in counts))):,}",
        f"{sum(count.calls for count in counts):,}",
        f"{sum(count.cached for count in counts):,}",
        short(sum(count.prompt_tokens for count in counts)),
        "?" if None in outputs else short(sum(filter(None, outputs))),
        "?" if None in usd else dollars(sum(filter(None, usd))),
    )


def _notes(counts: Sequence[Count]) -> list[str]:
    notes = []
    if any(count.prompt_tokens for count in counts):
        how = f"are estimated, {CHARACTERS} characters per token, outside ASCII a byte"
        if all(count.counted for count in counts):
            how = "are counted by the model's tokenizer"
        elif any(count.calibrated for count in counts):
            how = "are estimated, in proportion to the answers in the cache"
        most = "are as long as the model allows"
        if any(count.output_tokens is None for count in counts):
            most = "have no limit that is known"
        notes.append(f"Tokens of prompts {how}; those of answers {most}.")
    price = next((count.price for count in counts), None)
    if price is None:
        notes.append("The price of this model is not known; name it with --recsys-prices=FILE.")
    elif not price.is_free:
        date = f", {price.date}" if price.date else ""
        notes.append(f"Price: ${price.input:g} and ${price.output:g} per million tokens{date}.")
    return notes


def _write_dearest(reporter: Any, plan: Plan) -> None:
    usd: defaultdict[str, float] = defaultdict(float)
    calls = Counter[str]()
    for (nodeid, _), count in plan.by_test.items():
        if nodeid and count.to_make:
            usd[function_of(nodeid)] += count.usd or 0.0
            calls[function_of(nodeid)] += count.to_make
    if len(calls) <= 1:
        return
    reporter.write_sep("=", "recsys-mt: the tests that ask most")
    dearest = sorted(calls, key=lambda name: (usd[name], calls[name]), reverse=True)
    for function in dearest[:MOST]:
        cost = f", {dollars(usd[function])}" if usd[function] else ""
        reporter.write_line(f"{calls[function]:,} calls{cost}")
        reporter.write_line(f"    {one_line(function)}")


def _write_tests(reporter: Any, title: str, reasons: Mapping[str, str]) -> None:
    if not reasons:
        return
    reporter.write_sep("=", f"recsys-mt: {title}")
    tests: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for nodeid, reason in reasons.items():
        tests[reason][function_of(nodeid)] += 1
    for reason in sorted(tests):
        _write(reporter, one_line(reason))
        for function, items in tests[reason].items():
            number = f" ({items} tests)" if items > 1 else ""
            reporter.write_line(f"    {one_line(function)}{number}")


def _at_most(counts: Sequence[Count]) -> str:
    costs = [count.usd for count in counts]
    known = sum(filter(None, costs))
    if None not in costs:
        return f"at most {dollars(known)}"
    return f"at most {dollars(known)} and what is unknown" if known else "cost unknown"


def short(number: float) -> str:
    """A number of tokens to three digits: ``3.23 M``."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def _write(reporter: Any, text: str, indent: int = 0) -> None:
    for line in textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False):
        reporter.write_line(line)
