"""``--recsys-plan``: the calls that the selected tests
could make, in lines of 80 columns.
"""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_recsys_mt.calls.day_account import DayAccount
from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.calls.tokens import CHARACTERS
from pytest_recsys_mt.engine.plan import (
    ADDITIONAL,
    CONFIRMING,
    CONTROLLING,
    Count,
    Plan,
)
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.gate.nodeids import function_of
from pytest_recsys_mt.oracles.judging.together import lasting
from pytest_recsys_mt.report.planned_papers import PlannedTest, papers_of
from pytest_recsys_mt.report.planned_table import WIDTH, table_of
from pytest_recsys_mt.safety.sanitize import Safe, one_line

SKIPPED = "skipped: "
"""Start of the reason of a test that is skipped."""

MOST = 5
"""Tests that are named because they cost most."""

MEANING = (
    "A line is a model, or a model in one setting. A test that fills several tables counts at each of them; an answer "
    "that cannot be read, or an undefined figure, can leave a cell empty."
)
"""What stands below the tables that a run fills."""

ENDS = ", which ends the run earlier"
"""End of the line on a limit that the run would reach."""


def print_plan(
    config: pytest.Config,
    plan: Plan,
    unplanned: Mapping[str, str],
    settings: Settings,
    tests: Sequence[PlannedTest] = (),
) -> None:
    """Write the plan to the terminal.

    Args:
        config: The configuration of the pytest run.
        plan: The plan.
        unplanned: By a test's id, why its calls are not all known, or why it is
            skipped.
        settings: The settings of the run.
        tests: The tests, which say what the run fills of the tables of papers.
    """
    reporter = Safe(config.pluginmanager.get_plugin("terminalreporter"))
    reporter.write_line("")
    _write_models(reporter, plan, settings)
    for judge, number in plan.questions.items():
        reporter.write_sep("=", f"recsys-mt: the plan for {one_line(judge)}")
        reporter.write_line(f"at most {number:,} questions to this judge")
    _write_dearest(reporter, plan)
    _write_tests(reporter, "may ask less, or otherwise", plan.bounded)
    not_planned = _write_skipped(reporter, unplanned)
    _write_tests(reporter, "not planned", not_planned)
    for suite, texts in papers_of(tests, plan.by_test):
        title = f"recsys-mt: what this run fills of the paper of {one_line(suite)}"
        reporter.write_sep("=", title)
        for text in texts:
            _write(reporter, text, indent=8)
        _write(reporter, MEANING)
    reporter.write_sep("=", "recsys-mt: the plan, nothing was asked")
    _write_bound(reporter, plan, len(not_planned), settings)


def _write_models(reporter: Any, plan: Plan, settings: Settings) -> None:
    """Write a table for each model, and one line for all
    recommenders that cost nothing.
    """
    counts_by_model: dict[str, dict[str, Count]] = {}
    for (suite, model), count in plan.counts.items():
        if suite not in ADDITIONAL:
            counts_by_model.setdefault(model, {})[suite] = count
    free = []
    for model, count_of_suite in counts_by_model.items():
        counts = list(count_of_suite.values())
        is_free = all(count.usd == 0 for count in counts)
        if is_free and model not in settings.models:
            calls = sum(count.calls for count in counts)
            free.append(f"{one_line(model)} {calls:,}")
            continue
        reporter.write_sep("=", f"recsys-mt: the plan for {one_line(model)}")
        for line in table_of(count_of_suite):
            reporter.write_line(line)
        notes = [*_notes(counts), *_lasting(model, counts, plan)]
        for note in notes:
            _write(reporter, note)
    if free:
        _write(
            reporter,
            f"Calls that cost nothing, to other recommenders: {', '.join(free)}.",
        )


def _write_skipped(reporter: Any, unplanned: Mapping[str, str]) -> dict[str, str]:
    """Write how many tests are skipped for which reasons; returns
    the tests that are not planned for others.
    """
    skipped: Counter[str] = Counter()
    left = {}
    for nodeid, reason in unplanned.items():
        why_skipped = ""
        if reason.startswith(SKIPPED):
            why_skipped = reason.removeprefix(SKIPPED)
        if why_skipped:
            skipped[why_skipped] += 1
        else:
            left[nodeid] = reason
    if skipped:
        tests = "1 test is" if skipped.total() == 1 else f"{skipped.total()} tests are"
        reporter.write_sep("=", f"recsys-mt: {tests} skipped")
    for reason, number in skipped.most_common():
        _write(reporter, f"{number:3}  {one_line(reason)}", indent=5)
    return left


def _write_bound(
    reporter: Any,
    plan: Plan,
    not_planned: int,
    settings: Settings,
) -> None:
    """Write how many calls the run makes at most, of which kinds, and their cost.

    Args:
        reporter: Writes to the terminal.
        plan: The plan.
        not_planned: The number of tests whose calls are not known.
        settings: The settings of the run.
    """
    planned = [
        count for (suite, _), count in plan.counts.items() if suite not in ADDITIONAL
    ]
    confirming = [
        count for (suite, _), count in plan.counts.items() if suite == CONFIRMING
    ]
    controls = [
        count for (suite, _), count in plan.counts.items() if suite == CONTROLLING
    ]
    everything = [*planned, *confirming, *controls]
    most = _to_make(everything)
    without = ""
    if not_planned:
        tests = "test that is" if not_planned == 1 else f"{not_planned} tests that are"
        without = f", without the {tests} not planned"
    _write(
        reporter,
        f"at most {most:,} calls, {_at_most(everything)}{without}",
        indent=4,
    )
    for part in _parts(planned, confirming, controls, settings):
        _write(reporter, f"  {part}", indent=4)
    if _to_make(planned):
        _write(reporter, "A verdict that is clear early asks fewer users.")
    usd = sum(count.usd or 0.0 for count in everything)
    _write_limits(reporter, settings, most, usd)
    for line in left_today(settings, most, usd):
        _write(reporter, line, indent=4)


def _parts(
    planned: Sequence[Count],
    confirming: Sequence[Count],
    controls: Sequence[Count],
    settings: Settings,
) -> list[str]:
    """The calls of each kind, in words: those of the
    tests, and those in addition to them.
    """
    calls = sum(count.calls for count in planned)
    to_make = _to_make(planned)
    cached = calls - to_make
    parts = [
        f"{calls:,} calls planned, {cached:,} cached, {to_make:,} to make; {_at_most(planned)}",
    ]
    if _to_make(confirming):
        shrinking = (
            f"; --recsys-shrink={settings.shrink} each" if settings.shrink else ""
        )
        parts.append(
            f"{_to_make(confirming):,} more if every relation is violated; {_at_most(confirming)}: both sides of a "
            f"difference are asked once more, and some users at the end, to see whether answers changed{shrinking}",
        )
    if _to_make(controls):
        parts.append(
            f"{_to_make(controls):,} controls; {_at_most(controls)}: they show whether promises that hold are kept "
            f"vacuously (-o recsys_controls=0 asks none)",
        )
    return parts


def left_today(settings: Settings, calls: int, usd: float) -> list[str]:
    """The rest of today's limits, a line for each, and
    whether that is less than `calls` or `usd`.
    """
    if not settings.daily:
        return []
    daily = settings.daily
    account = DayAccount(daily, settings.cache, settings.command)
    account.open()
    left = account.left()
    lines = []
    if left.calls is not None:
        line = f"recsys_calls_a_day={daily.calls} leaves {left.calls:,} calls of today"
        lines.append(f"{line}{ENDS}" if calls > left.calls else line)
    if left.usd is not None:
        line = f"recsys_usd_a_day={daily.usd:g} leaves ${left.usd:.2f} of today"
        lines.append(f"{line}{ENDS}" if usd > left.usd else line)
    if left.tokens is not None:
        line = (
            f"recsys_tokens_a_day={daily.tokens} leaves {left.tokens:,} tokens of today"
        )
        lines.append(line)
    return lines


def _write_limits(reporter: Any, settings: Settings, calls: int, usd: float) -> None:
    """Write which limits would end a run of so many calls, which cost so much."""
    limits = settings.limits
    reached = []
    if limits.calls and calls > limits.calls:
        reached.append(f"--recsys-max-calls={limits.calls}")
    if limits.usd and usd > limits.usd:
        reached.append(f"--recsys-max-usd={limits.usd:g}")
    if reached:
        verb = "end" if len(reached) > 1 else "ends"
        _write(reporter, f"{' and '.join(reached)} {verb} the run earlier.")


def _to_make(counts: Sequence[Count]) -> int:
    return sum(count.to_make for count in counts)


def _is_of_text(counts: Sequence[Count]) -> bool:
    """Whether any of the calls to make has a prompt, so goes to a text model."""
    return any(count.prompt_tokens for count in counts)


def _lasting(model: str, counts: Sequence[Count], plan: Plan) -> list[str]:
    """How long the calls to a text model take, if any are to make."""
    calls = _to_make(counts)
    pace = plan.pace(model)
    if not calls or not _is_of_text(counts):
        return []
    if pace is None:
        return ["How long it takes is not known yet: no answers in the cache tell."]
    duration = lasting(calls / pace)
    return [
        f"At the {pace:.3g} calls a second of the answers in the cache, it takes {duration}.",
    ]


def _notes(counts: Sequence[Count]) -> list[str]:
    """How the tokens in the table of one model are
    counted, and its price as far as it is known.
    """
    notes = []
    if _is_of_text(counts):
        notes.append(_note_on_tokens(counts))
    price = counts[0].price if counts else None  # they are of one model
    if price is None:
        whose = "this model" if _is_of_text(counts) else "its calls"
        notes.append(
            f"The price of {whose} is not known; name it with --recsys-prices=FILE.",
        )
    elif not price.is_free:
        date = f", {price.date}" if price.date else ""
        notes.append(
            f"Price: ${price.input:g} and ${price.output:g} per million tokens{date}.",
        )
    return notes


def _note_on_tokens(counts: Sequence[Count]) -> str:
    if all(count.counted for count in counts):
        how = "are counted by the model's tokenizer"
    elif any(count.calibrated for count in counts):
        how = "are estimated, in proportion to the answers in the cache"
    else:
        how = f"are estimated, {CHARACTERS} characters per token, outside ASCII a byte"
    if any(count.output_tokens is None for count in counts):
        most = "have no limit that is known"
    else:
        most = "are as long as the model allows"
    return f"Tokens of prompts {how}; those of answers {most}."


def _write_dearest(reporter: Any, plan: Plan) -> None:
    """Write which test functions cost most, then make most calls, if
    several make any.
    """
    usd: defaultdict[str, float] = defaultdict(float)
    calls: Counter[str] = Counter()
    for (nodeid, _), count in plan.by_test.items():
        if nodeid and count.to_make:
            function = function_of(nodeid)
            usd[function] += count.usd or 0.0
            calls[function] += count.to_make
    if len(calls) <= 1:
        return
    reporter.write_sep("=", "recsys-mt: the tests that ask most")
    dearest = sorted(
        calls,
        key=lambda function: (usd[function], calls[function]),
        reverse=True,
    )
    for function in dearest[:MOST]:
        cost = f", {dollars(usd[function])}" if usd[function] else ""
        reporter.write_line(f"{calls[function]:,} calls{cost}")
        reporter.write_line(f"    {one_line(function)}")


def _write_tests(reporter: Any, title: str, reasons: Mapping[str, str]) -> None:
    """Write each reason with the test functions that have it, and how many of their
    tests do.

    Args:
        reporter: Writes to the terminal.
        title: The heading.
        reasons: The reasons by the ids of the tests.
    """
    if not reasons:
        return
    reporter.write_sep("=", f"recsys-mt: {title}")
    functions_by_reason: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for nodeid, reason in reasons.items():
        functions_by_reason[reason][function_of(nodeid)] += 1
    for reason, functions in sorted(functions_by_reason.items()):
        _write(reporter, one_line(reason))
        for function, tests in functions.items():
            number = f" ({tests} tests)" if tests > 1 else ""
            reporter.write_line(f"    {one_line(function)}{number}")


def _at_most(counts: Sequence[Count]) -> str:
    """The most that some calls may cost, in words."""
    costs = [count.usd for count in counts]
    known = sum(cost for cost in costs if cost is not None)
    if None not in costs:
        return f"at most {dollars(known)}"
    if known:
        return f"at most {dollars(known)} and what is unknown"
    return "cost unknown"


def _write(reporter: Any, text: str, indent: int = 0) -> None:
    """Write a text in lines that fit; from the second on they are indented."""
    lines = textwrap.wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
    for line in lines:
        reporter.write_line(line)
