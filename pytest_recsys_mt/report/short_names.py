"""The names of rows in tables: short where that can be undone, and each row's its own."""

import re
from collections.abc import Callable, Iterator, Sequence

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import name_of_row, own_parameters, spoken_of
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.metamorphic import slug


def test_of_row(row: Row) -> str:
    """The test, without its parameters."""
    return spoken_of(row["nodeid"])


def _parameters(row: Row) -> str:
    own, relation = own_parameters(row), slug(row["relation"])
    return own.replace(relation, "", 1).strip("-") if row["relation"] else own


def letters_of(name: str) -> str:
    """The letters and digits of a name, by which a metric is found whatever its spelling."""
    return re.sub(r"[^a-z0-9]+", "", name.casefold())


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."


def folded(name: str, width: int) -> list[str]:
    """`name` in lines of at most `width` characters, which together are the name; a line ends after a mark if it can."""
    lines, line = [], ""
    for part in re.findall(r"[^\s,_(]*[\s,_(]*", name):
        for piece in (part[at : at + width - 2] for at in range(0, len(part), width - 2)):
            if len((line + piece).rstrip()) > width:
                lines.append(line.rstrip())
                line = "  "
            line += piece
    return [*lines, line.rstrip()]


def distinct_names(rows: Sequence[Row]) -> list[str]:
    """The name of each row of one suite and one recommender, with what tells it from rows of the same name."""
    names = [name_of_row(row) for row in rows]
    for name, places in grouped(range(len(names)), names.__getitem__).items():
        if len(places) > 1:
            marks = _marks([rows[place] for place in places])
            for place, mark in zip(places, marks, strict=True):
                names[place] = f"{name}, {mark}"
    return names


def named(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Rows of one recommender with their names; see `distinct_names`."""
    for own in grouped(rows, lambda row: row["suite"]).values():
        yield from zip(own, distinct_names(own), strict=True)


def _marks(rows: Sequence[Row]) -> list[str]:
    one_function = len({row["oracle"].partition(":")[0] for row in rows}) == 1
    ways: list[Callable[[Row], str]] = [
        lambda row: row["oracle"].partition(":")[2 if one_function else 0],
        lambda row: row["oracle"],
        test_of_row,
        _parameters,
        lambda row: f"{test_of_row(row)} {_parameters(row)}",
        lambda row: f"against {row['against'] or 'unchanged'}",
        lambda row: f"{test_of_row(row)} {row['oracle']}",
    ]
    marks: list[str] = []
    for way in ways:
        marks = [way(row) for row in rows]
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [f"{mark} #{number}" for number, mark in enumerate(marks, 1)]
