"""The tables of a suite's paper, declared in TOML files in its folder ``tables``.

A cell is made of the rows of a record that its line and its column both select.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

from pytest_recsys_mt.extensions import (
    TABLES,
    entry_points,
    owner_of,
    package_folders,
)
from pytest_recsys_mt.report.sheet import Drawn
from pytest_recsys_mt.safety.errors import DataError

PUBLISHED = "published.toml"
"""The file of a suite's published values, next to its folder
of tables; a table names a part of it.
"""

Spread = Literal["", "standard error", "standard deviation"]
"""The figure behind ±: of the values that differ in the detail `Table.over` alone."""


@dataclass(frozen=True)
class Selected:
    """Which rows of a record a column or a line of a table takes; both must agree.

    Attributes:
        name: The text at its head; in a line ``{model}`` is the model.
        test: The function of the test, ``test_table_2``; empty for any.
        metric: The metric, or of an effect the oracle, such as ``hit@10``; empty for
            any.
        relation: The relation, ``scale_ratings(2)``; empty for any.
        where: Details that the row must have, by name.
        case: Pattern of the parameters of the test without the model, ``amazon-rules``,
            ``*-rules``; empty for any.
        value: The figure: a key of the row, with ``/`` for one inside another,
            ``details/means/gini_difference``; of counts in a text the share of one,
            ``details/figures/chosen_by_place/3``.
        spread: A figure of the row that stands behind ±, found as `value` is; of
            numbers by user their standard deviation.
        run: Of a line, the command whose record fills it, if it is not that of the table.
        by_user: Where the row has the same figure by user, found as `value` is; the best
            cell of such a column has a mark if it is significantly above the best one
            of the lines whose detail ``group`` is another.
        alpha: The p-value below which it has one.
        times: Factor from the unit of the record to that of the paper.
        plus: Added after that.
        digits: Decimals.
    """

    name: str
    test: str = ""
    metric: str = ""
    relation: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""
    value: str = ""
    spread: str = ""
    run: str = ""
    by_user: str = ""
    alpha: float = 0.01
    times: float = 1
    plus: float = 0
    digits: int = 3


@dataclass(frozen=True)
class Table:
    """One table of a paper.

    Attributes:
        name: The file without its ending.
        run: The command whose record fills it.
        over: The detail of runs that are averaged, such as ``fold``; empty if a cell is
            one value.
        spread: The figure behind ±.
        kendall: Columns whose agreement over the lines is shown, as Kendall's tau-b of
            each two.
        printed: Lines as they are printed: their names, and a text for each column; in
            a file also the part of `PUBLISHED` that has them as numbers.
        drawn: How a page draws it, see `Sheet`, and with `draws` which columns; empty
            for all.
        figures: The figures of the paper that show it, such as ``figure-2``.
        asked: The unit that a cell is a mean over.
    """

    name: str
    title: str
    source: str
    run: str
    columns: Sequence[Selected]
    rows: Sequence[Selected] = (Selected("{model}"),)
    over: str = ""
    spread: Spread = ""
    kendall: Sequence[str] = ()
    printed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    drawn: Drawn = ""
    draws: Sequence[str] = ()
    figures: Sequence[str] = ()
    asked: str = "Users"
    notes: Sequence[str] = ()


def tables_of(suite: str) -> list[Table]:
    """The tables of a suite, by their names.

    Raises:
        DataError: If there is no such suite, or it has no tables. The message names
            those that have.
    """
    points = {point.name: point for point in entry_points(TABLES)}
    owners = sorted(
        {owner_of(point) for point in entry_points(TABLES) if point.name == suite},
    )
    if len(owners) > 1:
        raise DataError(
            f"the suite {suite!r} has tables in several packages, {' and '.join(owners)}; uninstall all but one",
        )
    if suite not in points:
        raise DataError(
            f"the suite {suite!r} has no tables of a paper; those that have are {', '.join(sorted(points))}",
        )
    declared = _folder(points[suite]).glob("*.toml")
    return sorted(map(read, declared), key=_place)


def _folder(point: EntryPoint) -> Path:
    """The folder of the tables in the package that an entry point names.

    Raises:
        DataError: If there is none.
    """
    folders = [folder / "tables" for folder in package_folders(point)]
    having = [folder for folder in folders if folder.is_dir()]
    if not having:
        raise DataError(
            f"the suite {point.name!r} of {owner_of(point)} has no folder 'tables' in the package {point.value!r}",
        )
    return having[0]


def _place(table: Table) -> tuple[bool, list[int], str]:
    numbers = [int(number) for number in re.findall(r"\d+", table.name)]
    return table.name[0] == "f", numbers or [1000], table.name


def read(path: Path) -> Table:
    """The table of a file.

    Raises:
        DataError: If it is no table.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        said["columns"] = [_made(Selected, each) for each in said.get("columns", [])]
        if "rows" in said:
            said["rows"] = [_made(Selected, each) for each in said["rows"]]
        if isinstance(printed := said.get("printed"), str):
            published = path.parents[1] / PUBLISHED
            said["printed"] = _published(published, printed, said["columns"])
        table: Table = _made(Table, {"name": path.stem, **said})
    except (TypeError, ValueError) as error:
        raise DataError(f"{str(path)!r} is no table of a paper: {error}") from error
    for key, names in (("kendall", table.kendall), ("draws", table.draws)):
        for name in names:
            if name not in [column.name for column in table.columns]:
                raise DataError(
                    f"{str(path)!r}: {key} names {name!r}, which is no column",
                )
    for name, cells in table.printed.items():
        if len(cells) != len(table.columns):
            raise DataError(
                f"{str(path)!r}: {name!r} has {len(cells)} cells, and there are {len(table.columns)} columns",
            )
    return table


def _published(
    path: Path,
    place: str,
    columns: Sequence[Selected],
) -> dict[str, list[str]]:
    found: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    for key in place.split("."):
        found = found[key]
    return {
        name: [
            f"{value:.{column.digits}f}"
            for value, column in zip(row, columns, strict=True)
        ]
        for name, row in found.items()
    }


def _made(kind: Any, said: Mapping[str, Any]) -> Any:
    known = [each.name for each in fields(kind)]
    unknown = sorted(said.keys() - set(known))
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; the keys are {', '.join(known)}")
    return kind(**said)
