"""Data that a user's code gives: ``orders.py:load`` and ``package.module:name``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_recsys_mt.datasets.catalogue import items_in, named_by_ids
from pytest_recsys_mt.datasets.content import Content
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.description import Part
from pytest_recsys_mt.datasets.frames import frame_of, rows_of
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.reading import users_in
from pytest_recsys_mt.datasets.rows import Rows, normal
from pytest_recsys_mt.datasets.table import Table, interactions_of
from pytest_recsys_mt.datasets.table_files import CATALOGUE, PEOPLE, part_by_header
from pytest_recsys_mt.datasets.table_options import (
    INTERACTIONS,
    options_of,
    require_options,
)
from pytest_recsys_mt.requests import own_code, specs
from pytest_recsys_mt.safety.errors import DataError, RecommenderError

if TYPE_CHECKING:
    import pandas as pd

NO_CATALOGUE = "a second table, as in return orders, items, with the columns id and title gives it titles"
PARTS = ("interactions", "items", "users")
"""The tables that code may give, by name or in this order."""


def given(
    place: tuple[str, str],
    options: Mapping[str, str],
    source: str,
) -> tuple[Dataset | Mapping[str, pd.DataFrame], dict[str, str]]:
    """What the user's code gives, and the options that are not arguments of it.

    Args:
        place: The file or module, and the name in it; see `own_code.split`.
        options: Those behind the question mark.
        source: The whole text, for errors.

    Returns:
        A dataset, or tables by the names in `PARTS`.

    Raises:
        DataError: If there is no such code, an option is unknown, or the code raises or
            gives something else.
    """
    name = ":".join(place)
    try:
        found = own_code.find(*place, source, inspect.isfunction)
        if not callable(found):
            require_options(options, name, ())
            return _tables(found, source), dict(options)
        parameters = specs.names(found)
        arguments = {key: text for key, text in options.items() if key in parameters}
        others = {key: text for key, text in options.items() if key not in arguments}
        require_options(others, name, parameters)  # before the code runs
        made = specs.build(found, arguments, source)
    except RecommenderError as problem:
        raise DataError(str(problem)) from problem
    if isinstance(made, Dataset):
        if others:
            raise DataError(
                f"{source!r} gives a Dataset, which is read as it is, so {next(iter(others))!r} has no meaning; the "
                f"arguments of {place[1]!r} are {', '.join(parameters) or 'none'}",
            )
        return made, {}
    return _tables(made, source), others


def _tables(made: object, source: str) -> dict[str, pd.DataFrame]:
    tables: Mapping[str, object]
    if isinstance(made, Mapping):
        tables = made
    elif isinstance(made, tuple) and 0 < len(made) <= len(PARTS):
        tables = dict(zip(PARTS, made, strict=False))
    else:
        tables = {"interactions": made}
    unknown = [name for name in tables if name not in PARTS]
    if unknown or "interactions" not in tables:
        raise DataError(
            f"{source!r} gives tables by the names {', '.join(map(repr, tables)) or 'none'}; they may be {', '.join(PARTS)}, "
            f"and interactions must be one",
        )
    return {
        name: frame_of(table, f"{source!r}" + f", {name}" * (len(tables) > 1))
        for name, table in tables.items()
        if table is not None or name == "interactions"
    }


def content(
    tables: Mapping[str, pd.DataFrame],
    options: Mapping[str, str],
    name: str,
    report: Report,
    *,
    by_sessions: bool = False,
) -> Content:
    """The content of tables by their headers and options.

    Args:
        tables: By the names in `PARTS`.
        options: Those that a path takes, see `table.load`.
        name: Stands for the file in errors.
        report: Called with each note on changes to the rows.
        by_sessions: Whether a column of sessions is read.

    Raises:
        DataError: If an option or a row is wrong; the text names the row.
    """
    read_options = options_of(options, name, by_sessions=by_sessions)
    table = _table(tables["interactions"], name)
    rows, _, scale = interactions_of(table, read_options, options, report)
    headers = set(map(normal, table.header(Part())))
    if "time" not in options and headers.isdisjoint(INTERACTIONS["time"]):
        report(
            f"no column of {name} is the time, so the order of its rows counts; a query of a database needs ORDER BY",
        )
    if "items" in tables:
        catalogue = _table(tables["items"], f"{name} (items)")
        part = part_by_header(catalogue.header(Part()), CATALOGUE)
        items = items_in(catalogue.rows(part), part, Path(), report, rows)
    else:
        items = named_by_ids(rows, report, NO_CATALOGUE)
    users = {}
    if "users" in tables:
        people = _table(tables["users"], f"{name} (users)")
        part = part_by_header(people.header(Part()), PEOPLE)
        users = users_in(people.rows(part), part)
    return Content(rows, items, scale, users=users, thing=read_options.thing)


def _table(frame: pd.DataFrame, name: str) -> Table:
    header = list(map(str, frame.columns))
    cells = frame.set_axis(header, axis="columns")

    def rows(part: Part) -> Rows:
        return rows_of(Path(name), header, part.layout, lambda names: cells[names])

    return Table(Path(name), lambda _: header, rows)
