"""The lines of the terminal on the cost of the calls of a run."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_recsys_mt.gate.call_counts import Calls
from pytest_recsys_mt.report.compared import say
from pytest_recsys_mt.report.short_names import shorten
from pytest_recsys_mt.report.spending import Sums, along, cost

NAME = 29
"""Most characters of a suite, a model or a purpose."""

SHARES = 6
"""Most suites, models or purposes whose calls are shown."""

_JOINED = "\N{NO-BREAK SPACE}"
"""Stands for a space at which a line must not be wrapped."""


def write_calls(reporter: Any, calls: Calls, *, ahead: float, by_axis: bool) -> None:
    """Write the counts of the calls, their tokens and cost, and how suites, models and
    purposes share them.

    Args:
        reporter: Pytest's terminal reporter.
        calls: The counts of the run, and the rows of its suites, models and purposes.
        ahead: Seconds in which calls were sent before the tests.
        by_axis: Write the shares for each run; else only if calls were paid and several
            suites or models share them.
    """
    line = _line_of_counts(calls)
    if ahead >= 1:
        line += f"; sent in {ahead:.0f} s before the tests"
    say(reporter, line)
    for share_line in _lines_of_shares(calls, by_axis=by_axis):
        reporter.write_line(share_line)


def _line_of_counts(calls: Calls) -> str:
    text = (
        f"calls: {calls['planned']} planned, {calls['cached']} cached, {calls['made']} made, "
        f"{calls['failed']} failed"
    )
    tokens = calls["prompt_tokens"] + calls["completion_tokens"]
    is_cost_bounded = calls["usd_at_most"] is not None
    if tokens or (calls["unknown_cost"] and is_cost_bounded):
        text += f"; {tokens} tokens{_kinds_of_tokens(calls)}, {cost(calls) or 'cost unknown'}"
        if calls["usd"] is None and is_cost_bounded:
            noun = "calls" if calls["unknown_cost"] > 1 else "call"
            text += f" ({calls['unknown_cost']} {noun} did not report usage)"
    answers = "answer" if calls["cut_off"] == 1 else "answers"
    # Earlier records lack `searched` and `controls`.
    further_counts = (
        (calls["again"], "asked again to see whether answers change with time"),
        (calls.get("searched"), "more for the smallest examples"),
        (calls.get("controls"), "more, sent or cached, to see what is read"),
        (calls["cut_off"], f"{answers} cut off at the maximum tokens or by a filter"),
        (calls["failed_at_first"], "failed at first and were sent again"),
    )
    for count, words in further_counts:
        if count:
            text += f"; {count} {words}"
    return text


def _kinds_of_tokens(calls: Calls) -> str:
    """How many of the tokens are priced differently, in parentheses; empty if none."""
    counts = {
        "thinking": calls["reasoning_tokens"],
        "the provider's cache": calls["cached_tokens"],
    }
    parts = [f"{count} of {kind}" for kind, count in counts.items() if count]
    return f" ({', '.join(parts)})" if parts else ""


def _lines_of_shares(calls: Calls, *, by_axis: bool) -> Iterator[str]:
    sums_by_axis = {axis: along(calls, axis) for axis in ("suite", "model", "purpose")}
    if not by_axis:
        was_paid = calls["prompt_tokens"] + calls["completion_tokens"] > 0
        suites = sums_by_axis["suite"].keys() - {""}
        is_shared = len(suites) > 1 or len(sums_by_axis["model"]) > 1
        if not (was_paid and is_shared):
            return
    for axis, sums_by_name in sums_by_axis.items():
        yield from _lines_of_axis(axis, sums_by_name)


def _lines_of_axis(axis: str, sums_by_name: Mapping[str, Sums]) -> Iterator[str]:
    largest_first = sorted(sums_by_name.items(), key=_by_cost_then_attempts)
    parts = [
        _share(shorten(name or "no test", NAME), sums)
        for name, sums in largest_first[:SHARES]
    ]
    if len(largest_first) > SHARES:
        parts.append(f"{len(largest_first) - SHARES} more, in the record")
    unbroken = [part.replace(" ", _JOINED) for part in parts]
    lines = textwrap.wrap(
        f"by {axis}: {'; '.join(unbroken)}",
        79,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )
    for line in lines:
        yield line.replace(_JOINED, " ")


def _by_cost_then_attempts(share: tuple[str, Sums]) -> tuple[float, int]:
    """The sort key: the most expensive share first."""
    _, sums = share
    return -(sums["usd"] or 0), -sums["attempts"]


def _share(name: str, sums: Sums) -> str:
    parts = []
    if sums["attempts"]:
        parts.append(f"{sums['attempts']} sent")
    if sums["cached"]:
        parts.append(f"{sums['cached']} cached")
    if sums["usd"] != 0 and cost(sums):
        parts.append(cost(sums))
    return f"{name} {', '.join(parts)}"
