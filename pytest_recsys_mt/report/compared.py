"""The comparison with a baseline on the terminal: one line per changed verdict."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_recsys_mt.gate.document import Changed, Comparison, Row, grouped
from pytest_recsys_mt.report.short_names import named, shorten
from pytest_recsys_mt.report.table import columns_of, write_cells
from pytest_recsys_mt.sanitize import one_line

APPLIES_NOT = re.compile(r"^not-applicable (in this run|in the baseline): .*", re.DOTALL)
CHANGES = ("regressed", "suspicious", "inconclusive", "improved", "unchanged", "ungated")
LOUD = ("regressed", "suspicious")
"""The changes that are written in capitals."""
COLOURS: dict[str, dict[str, bool]] = {
    "regressed": {"red": True, "bold": True},
    "suspicious": {"red": True},
    "inconclusive": {"yellow": True},
    "improved": {"green": True},
}
ONE_RUN = (
    "this compares models within one run: it does not gate unless a policy (recsys.toml) applies; "
    "a comparison with a baseline gates"
)
COLUMNS = columns_of("name", "change", "worse by [bounds]", "margin", "users")


def tell_comparison(reporter: Any, comparison: Comparison, rows: Sequence[Row]) -> None:
    """Write every changed verdict, and the number of unchanged ones."""
    where = comparison["baseline"] or "this run"
    title = f"recsys-mt: {comparison['model']} against {comparison['against']} of {where}"
    reporter.write_sep("=", shorten(one_line(title), 74))
    if not comparison["baseline"]:
        say(reporter, ONE_RUN, "  ")
    for reason in comparison["refused"]:
        say(reporter, f"refused: {reason}", "  ")
    if comparison["refused"]:
        return
    told = list(changed(comparison, rows))
    if told:
        cells = [
            [
                name,
                each["change"].upper() if each["change"] in LOUD else each["change"],
                f"{each['worse']:.3f} [{low:.3f}, {high:.3f}]",
                f"{each['margin']:.3g}",
                str(each["users"]),
            ]
            for name, each, (low, high) in told
        ]
        write_cells(reporter, COLUMNS, cells, [COLOURS[each["change"]] for _, each, _ in told])
        say(reporter, comparison["bounds"], "  ")
    counts = comparison["counts"]
    reporter.write_line(
        ", ".join(f"{counts[change]} {change}" for change in CHANGES if counts.get(change))
        or "nothing to compare"
    )
    # Why tests do not apply stands elsewhere.
    reasons = Counter(
        APPLIES_NOT.sub(r"not applicable \1", each["reason"])
        for each in comparison["results"]
        if each["change"] == "ungated"
    )
    for reason, count in reasons.items():
        say(reporter, f"ungated ({count}): {reason}", "  ")


def changed(
    comparison: Comparison, rows: Sequence[Row]
) -> Iterator[tuple[str, Changed, Sequence[float]]]:
    """The changes that are told one by one, each with the name of its row and its bounds."""
    names = {
        (row["nodeid"], row["oracle"]): name
        for own in grouped(rows, lambda row: row["model"]).values()
        for row, name in named(own)
    }
    for each in comparison["results"]:
        if each["change"] in COLOURS and each["interval"] is not None:
            yield names[each["nodeid"], each["oracle"]], each, each["interval"]


def say(reporter: Any, text: str, first: str = "") -> None:
    """Write a text on the terminal, in lines that fit."""
    for line in textwrap.wrap(text, 79, initial_indent=first, subsequent_indent="    "):
        reporter.write_line(line)
