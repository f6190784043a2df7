"""The comparison with a baseline on the terminal: one line per changed verdict."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_recsys_mt.gate.changed_lists import in_words
from pytest_recsys_mt.gate.document import Comparison, Row
from pytest_recsys_mt.gate.states import OF_CALLS, grouped
from pytest_recsys_mt.report.short_names import named, shorten
from pytest_recsys_mt.report.table import columns_of, write_cells
from pytest_recsys_mt.safety.sanitize import one_line

APPLIES_NOT = re.compile(
    r"^not-applicable (in this run|in the baseline): .*",
    re.DOTALL,
)
CHANGES = (
    "regressed",
    "suspicious",
    "inconclusive",
    "improved",
    "unchanged",
    "ungated",
)
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


def write_comparison(
    reporter: Any, comparison: Comparison, rows: Sequence[Row]
) -> None:
    """Write every changed verdict, and the number of unchanged ones."""
    where = comparison["baseline"] or "this run"
    title = (
        f"recsys-mt: {comparison['model']} against {comparison['against']} of {where}"
    )
    reporter.write_sep("=", shorten(one_line(title), 74))
    if not comparison["baseline"]:
        say(reporter, ONE_RUN, "  ")
    for reason in comparison["refused"]:
        say(reporter, f"refused: {reason}", "  ")
    if comparison["refused"]:
        return
    if cells := list(changed(comparison, rows)):
        colours = [COLOURS[line[1].lower()] for line in cells]
        write_cells(reporter, COLUMNS, cells, colours)
        say(reporter, comparison["bounds"], "  ")
    counts = comparison["counts"]
    reporter.write_line(
        ", ".join(
            f"{counts[change]} {change}" for change in CHANGES if counts.get(change)
        )
        or "nothing to compare",
    )
    lists = in_words(comparison.get("lists"))
    if lists:
        say(reporter, lists)
    # Why tests do not apply stands elsewhere.
    reasons = Counter(
        APPLIES_NOT.sub(r"not applicable \1", each["reason"])
        for each in comparison["results"]
        if each["change"] == "ungated" and each.get("unit") != OF_CALLS
    )
    for reason, count in reasons.items():
        say(reporter, f"ungated ({count}): {reason}", "  ")


def changed(comparison: Comparison, rows: Sequence[Row]) -> Iterator[list[str]]:
    """The cells of the changes that are listed one by one, for `COLUMNS`."""
    names = {
        (row["nodeid"], row["oracle"]): name
        for own in grouped(rows, lambda row: row["model"]).values()
        for row, name in named(own)
    }
    for each in comparison["results"]:
        if each["change"] in COLOURS and each["interval"] is not None:
            word, (low, high) = each["change"], each["interval"]
            worse = f"{each['worse']:.3f} [{low:.3f}, {high:.3f}]"
            margin, users = f"{each['margin']:.3g}", str(each["users"])
            name = names[each["nodeid"], each["oracle"]]
            yield [name, word.upper() if word in LOUD else word, worse, margin, users]


def say(reporter: Any, text: str, first: str = "") -> None:
    """Write a text on the terminal, in lines that fit."""
    for line in textwrap.wrap(text, 79, initial_indent=first, subsequent_indent="    "):
        reporter.write_line(line)
