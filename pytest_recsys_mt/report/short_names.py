"""The names of rows in tables: short where that can be undone, and each
row's its own.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import name_of_row, own_parameters, spoken_of
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.safety.sanitize import slug


def test_of_row(row: Row) -> str:
    """The test, without its parameters."""
    return spoken_of(row["nodeid"])


def _parameters(row: Row) -> str:
    """The parameters of the test without the relation,
    which stands in the name already.
    """
    parameters = own_parameters(row)
    if not row["relation"]:
        return parameters
    return parameters.replace(slug(row["relation"]), "", 1).strip("-")


def letters_of(name: str) -> str:
    """The letters and digits of a name, by which a
    metric is found whatever its spelling.
    """
    return re.sub(r"[^a-z0-9]+", "", name.casefold())


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."


def folded(name: str, width: int) -> list[str]:
    """`name` in lines of at most `width` characters, which together are the name; a
    line ends after a mark if it can.
    """
    lines = []
    line = ""
    longest = width - 2  # further lines are indented by two
    for part in re.findall(r"[^\s,_(]*[\s,_(]*", name):
        for start in range(0, len(part), longest):
            piece = part[start : start + longest]
            if len((line + piece).rstrip()) > width:
                lines.append(line.rstrip())
                line = "  "
            line += piece
    return [*lines, line.rstrip()]


def distinct_names(rows: Sequence[Row]) -> list[str]:
    """The name of each row of one suite and one recommender, with
    a mark that distinguishes it from rows of the same name.
    """
    names = [name_of_row(row) for row in rows]
    places_by_name = grouped(range(len(names)), names.__getitem__)
    for name, places in places_by_name.items():
        if len(places) == 1:
            continue
        marks = _marks([rows[place] for place in places])
        for place, mark in zip(places, marks, strict=True):
            names[place] = f"{name}, {mark}"
    return names


def named(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Rows of one recommender with their names; see `distinct_names`."""
    for rows_of_suite in grouped(rows, lambda row: row["suite"]).values():
        yield from zip(rows_of_suite, distinct_names(rows_of_suite), strict=True)


def _marks(rows: Sequence[Row]) -> list[str]:
    """The marks that distinguish rows of one name: the first
    of their facts that differs, else a number.
    """
    functions = {row["oracle"].partition(":")[0] for row in rows}
    if len(functions) == 1:
        oracle = lambda row: row["oracle"].partition(":")[2]
    else:
        oracle = lambda row: row["oracle"].partition(":")[0]
    facts: list[Callable[[Row], str]] = [
        oracle,
        lambda row: row["oracle"],
        test_of_row,
        _parameters,
        lambda row: f"{test_of_row(row)} {_parameters(row)}",
        lambda row: f"against {row['against'] or 'unchanged'}",
        lambda row: f"{test_of_row(row)} {row['oracle']}",
    ]
    marks: list[str] = []
    for fact in facts:
        marks = [fact(row) for row in rows]
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [f"{mark} #{number}" for number, mark in enumerate(marks, 1)]
