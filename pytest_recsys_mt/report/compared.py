"""The comparison with a baseline on the terminal: one line per changed verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_recsys_mt.gate.comparison import name_of_row
from pytest_recsys_mt.gate.document import Changed, Comparison, Row
from pytest_recsys_mt.report.short_names import shorten
from pytest_recsys_mt.sanitize import one_line

WORDS = {
    "regressed": "REGRESSED",
    "suspicious": "SUSPICIOUS",
    "inconclusive": "unclear",
    "improved": "improved",
    "unchanged": "unchanged",
    "ungated": "ungated",
}
COLOURS: dict[str, dict[str, bool]] = {
    "regressed": {"red": True, "bold": True},
    "suspicious": {"red": True},
    "inconclusive": {"yellow": True},
    "improved": {"green": True},
}
NAME = 29
HEADER = f"{'relation':<{NAME}} {'change':<10} {'worse by [bounds]':>22} {'margin':>6} {'users':>5}"


def tell_comparison(reporter: Any, comparison: Comparison, rows: Sequence[Row]) -> None:
    """Write every changed verdict, and the number of unchanged ones.

    Args:
        reporter: Writes to the terminal.
        comparison: The comparison from the record.
        rows: The rows of the record.
    """
    where = comparison["baseline"] or "this run"
    title = f"recsys-mt: {comparison['model']} against {comparison['against']} of {where}"
    reporter.write_sep("=", shorten(one_line(title), 74))
    for reason in comparison["refused"]:
        _wrapped(reporter, f"refused: {reason}")
    if comparison["refused"]:
        return
    told = list(changed(comparison, rows))
    if told:
        reporter.write_line(HEADER)
    for name, each, (low, high) in told:
        reporter.write(f"{shorten(name, NAME):<{NAME}} ")
        reporter.write(f"{WORDS[each['change']]:<10}", **COLOURS[each["change"]])
        effect = f"{each['worse']:.3f} [{low:.3f}, {high:.3f}]"
        effect = effect if len(effect) <= 22 else effect.replace(", ", ",")
        reporter.write_line(f" {effect:>22} {each['margin']:>6.3g} {each['users']:>5}")
    if told:
        _wrapped(reporter, comparison["bounds"])
    counts = comparison["counts"]
    reporter.write_line(
        ", ".join(f"{counts[change]} {change}" for change in WORDS if counts.get(change))
        or "nothing to compare"
    )
    reasons: dict[str, int] = {}
    for each in comparison["results"]:
        if each["change"] == "ungated":
            reasons[each["reason"]] = reasons.get(each["reason"], 0) + 1
    for reason, count in reasons.items():
        _wrapped(reporter, f"ungated ({count}): {reason}")


def changed(
    comparison: Comparison, rows: Sequence[Row]
) -> Iterator[tuple[str, Changed, Sequence[float]]]:
    """The changes that are told one by one, each with the name of its row and its bounds."""
    names = {(row["nodeid"], row["oracle"]): name_of_row(row) for row in rows}
    for each in comparison["results"]:
        if each["change"] in COLOURS and each["interval"] is not None:
            yield names[each["nodeid"], each["oracle"]], each, each["interval"]


def _wrapped(reporter: Any, text: str) -> None:
    for line in textwrap.wrap(text, 79, initial_indent="  ", subsequent_indent="    "):
        reporter.write_line(line)
