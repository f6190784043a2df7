"""Tables on the terminal: verdicts, in columns by
choice with whole names; groups of users.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pytest_recsys_mt.gate.document import Row, SliceRow
from pytest_recsys_mt.gate.nodeids import address
from pytest_recsys_mt.gate.states import measured, state_of, vacuous_of
from pytest_recsys_mt.report.measures import limit_in_short
from pytest_recsys_mt.report.short_names import (
    distinct_names,
    folded,
    named,
    test_of_row,
)
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import beyond, group_in_words

WIDTH = 79
LEAST = 20
"""The smallest width of a column of names."""
WORDS = {"holds": "holds", "violated": "VIOLATED", "inconclusive": "inconclusive", "error": "ERROR",
         "not-applicable": "not applicable", "known": "known", "fixed": "FIXED"}  # fmt: skip
COLOURS: Mapping[str, Mapping[str, bool]] = {
    "holds": {"green": True},
    "violated": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "error": {"red": True},
    "fixed": {"red": True},
    "not-applicable": {"light": True},
}
APPROXIMATE = "~"
USUAL = ("name", "verdict", "measured", "limit", "users")
"""The columns with -v, if no others are given."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and its text for a row with its name."""

    heading: str
    text: Callable[[Row, str], str] = lambda row, name: ""
    words: bool = False
    marked: bool = False


def columns_of(name: str, state: str, *numbers: str) -> list[Column]:
    """Columns by their headings: a name in words, a state in its colour, numbers."""
    return [Column(name, words=True), Column(state, marked=True), *map(Column, numbers)]


def word_of(row: Row) -> str:
    """The verdict of a row in a word or two."""
    word = WORDS[state_of(row)]
    return f"{word} vacuously" if vacuous_of(row) else word


def _number(value: float | None, form: str = ".3f") -> str:
    return "" if value is None else format(value, form)


def bounds_of(found: Row | SliceRow) -> str:
    """The bounds of a row or of a group of its users; empty if it has none."""
    interval = found["interval"]
    return "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"


def _estimate(row: Row) -> str:
    value = measured(row).value
    return "" if value is None else f"{_mark(row)}{_number(value)}"


def _mark(row: Row) -> str:
    return APPROXIMATE if is_approximate(row) else ""


COLUMNS: Mapping[str, Column] = {
    "name": Column("name", lambda row, name: name, words=True),
    "test": Column("test", lambda row, _: test_of_row(row), words=True),
    "suite": Column("suite", lambda row, _: row["suite"], words=True),
    "model": Column("model", lambda row, _: row["model"], words=True),
    "oracle": Column("oracle", lambda row, _: row["oracle"], words=True),
    "verdict": Column("verdict", lambda row, _: word_of(row), marked=True),
    "measured": Column("measured [bounds]", lambda row, _: f"{_estimate(row)} {bounds_of(row)}".strip()),
    "estimate": Column("measured", lambda row, _: _estimate(row)),
    "bounds": Column("bounds", lambda row, _: f"{_mark(row)}{bounds_of(row)}"),
    "limit": Column("limit", lambda row, _: limit_in_short(row)),
    "floor": Column("floor", lambda row, _: _number(row["floor"], ".2f")),
    "agreement": Column("agreement", lambda row, _: _number(row["agreement"], ".2f")),
    "users": Column("users", lambda row, _: str(row["users"])),
    "p": Column("p", lambda row, _: _number(row["p_value"], ".2g")),
    "p_holm": Column("p (Holm)", lambda row, _: _number(row["p_holm"], ".2g")),
    "looks": Column("looks", lambda row, _: str(row["looks"])),
    "attempts": Column("attempts", lambda row, _: str(row["attempts"])),
    "reason": Column("reason", lambda row, _: one_line(row["reason"]), words=True),
}  # fmt: skip


def is_approximate(row: Row) -> bool:
    """Whether the bounds that are shown have no proven error rate."""
    return bool(row.get("approximate")) and row["interval"] is not None


def write_table(reporter: Any, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Write rows of one suite and one recommender, a line
    each, or more where words need them.
    """
    shown = [COLUMNS[name] for name in columns]
    cells = []
    for row, name in zip(rows, distinct_names(rows), strict=True):
        cells.append([column.text(row, name) for column in shown])
    colours = [COLOURS.get(state_of(row), {}) for row in rows]
    write_cells(reporter, shown, cells, colours)
    shows_bounds = not {"measured", "estimate", "bounds"}.isdisjoint(columns)
    if shows_bounds and any(is_approximate(row) for row in rows):
        reporter.write_line(
            f"{APPROXIMATE} approximate: bounds whose error rate is not proven",
        )


def write_side_by_side(
    reporter: Any, rows: Sequence[Row], models: Sequence[str]
) -> bool:
    """Write rows of one suite, each with the verdicts of all recommenders; False if
    there is no room for them.
    """
    verdicts_by_promise: dict[tuple[str, ...], dict[str, str]] = {}
    for model in models:
        rows_of_model = [row for row in rows if row["model"] == model]
        for row, name in named(rows_of_model):
            key = (name, address(row), limit_in_short(row))
            verdicts = verdicts_by_promise.setdefault(key, {})
            verdicts[model] = f"{word_of(row)} {_estimate(row)}".strip()
    shown = [COLUMNS["name"], *(Column(model) for model in models), COLUMNS["limit"]]
    cells = []
    for (name, _, limit), verdicts in verdicts_by_promise.items():
        cells.append([name, *(verdicts.get(model, "") for model in models), limit])
    without_names = [line[1:] for line in cells]
    gaps = len(shown) - 1
    room_for_names = WIDTH - sum(_widths(shown[1:], without_names)) - gaps
    if room_for_names < LEAST:
        return False
    write_cells(reporter, shown, cells)
    return True


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(len(column.heading), *(len(line[place]) for line in cells), 0)
        for place, column in enumerate(columns)
    ]


def write_cells(
    reporter: Any,
    columns: Sequence[Column],
    cells: Sequence[Sequence[str]],
    colours: Sequence[Mapping[str, bool]] = (),
) -> None:
    """Write lines of cells below their headings; columns of words share the room that
    the others leave.

    Args:
        reporter: Writes.
        columns: The columns.
        cells: The cells of each line, by column.
        colours: Of each line, the colour of its marked columns; none for all lines
            without colours.
    """
    widths = _fair_widths(columns, cells)
    headings = [column.heading for column in columns]
    _write_line(reporter, columns, widths, headings, {})
    for number, line in enumerate(cells):
        colour = colours[number] if colours else {}
        _write_line(reporter, columns, widths, line, colour)


def _fair_widths(
    columns: Sequence[Column],
    cells: Sequence[Sequence[str]],
) -> list[int]:
    """The widths of columns such that a line has room, if words are folded."""
    widths = _widths(columns, cells)
    wordy = [place for place, column in enumerate(columns) if column.words]
    gaps = len(columns) - 1
    taken = sum(width for place, width in enumerate(widths) if place not in wordy)
    room = WIDTH - gaps - taken
    # The narrowest first: the rest of its share goes to the others.
    wordy.sort(key=lambda place: widths[place])
    for done, place in enumerate(wordy):
        share = max(LEAST, room // (len(wordy) - done))
        widths[place] = min(widths[place], share)
        room -= widths[place]
    return widths


def _write_line(
    reporter: Any,
    columns: Sequence[Column],
    widths: Sequence[int],
    cells: Sequence[str],
    colour: Mapping[str, bool],
) -> None:
    """Write one line of cells, on several rows of the terminal if words are folded."""
    parts = []
    for column, text, width in zip(columns, cells, widths, strict=True):
        parts.append(folded(text, width) if column.words else [text])
    for texts in zip_longest(*parts, fillvalue=""):
        filled = [place for place, text in enumerate(texts) if text]
        last = filled[-1] if filled else 0
        for place, column in enumerate(columns[: last + 1]):
            side = "<" if column.words or column.marked else ">"
            padded = f"{texts[place]:{side}{widths[place]}}"
            padded = padded.rstrip() if place == last else f"{padded} "
            reporter.write(padded, **(colour if column.marked else {}))
        reporter.write_line("")


GROUP_WORDS = {"holds": "holds", "violated": "VIOLATED", "inconclusive": "not settled"}
GROUP_COLUMNS = columns_of("group", "verdict", "measured", "bounds", "users")


def groups_of(row: Row) -> Sequence[SliceRow]:
    """All users, then the groups: the violated ones first,
    then the others, the worst first.
    """
    groups = row.get("slices") or []

    def order(group: SliceRow) -> tuple[bool, bool, float]:
        return (
            bool(group["slicing"]),
            group["status"] != "violated",
            -_beyond(row, group),
        )

    return sorted(groups, key=order)


def kind_of_groups(groups: Sequence[SliceRow], noun: str) -> str:
    """Of what the groups of a row are, such as ``groups of users and items``."""
    of_items = [each["slicing"].startswith("items:") for each in groups[1:]]
    if all(of_items):
        return f"{noun} of items"
    return f"{noun} of users and items" if any(of_items) else f"{noun} of users"


def write_groups(reporter: Any, rows: Sequence[Row], *, every: bool) -> None:
    """Write a table of the groups of each row, of rows without a
    group beyond the limit only with `every`.
    """
    for row, name in named(rows):
        groups = groups_of(row)
        looks_broken = any(
            group["slicing"] and _beyond(row, group) > 0 for group in groups
        )
        if groups and (every or looks_broken):
            reporter.write_line(f"{name}, by {kind_of_groups(groups, 'group')}:")
            cells = [_cells_of_group(group) for group in groups]
            colours = [COLOURS[group["status"]] for group in groups]
            write_cells(reporter, GROUP_COLUMNS, cells, colours)


def _cells_of_group(group: SliceRow) -> list[str]:
    return [
        group_in_words(group),
        GROUP_WORDS[group["status"]],
        _number(group["estimate"]),
        bounds_of(group),
        str(group["users"]),
    ]


def _beyond(row: Row, group: SliceRow) -> float:
    """By how much a group is beyond the limit of its row;
    minus infinity if that is not known.
    """
    limit = measured(row).limit
    if group["estimate"] is None or limit is None:
        return float("-inf")
    return beyond(group["estimate"], row.get("allowed"), limit)
