"""Any table of interactions, and a catalogue next to it;
``docs/how-to/bring-data.md`` describes both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pytest_recsys_mt.datasets.archives import suffix
from pytest_recsys_mt.datasets.catalogue import catalogue_of, named_by_ids
from pytest_recsys_mt.datasets.content import Content
from pytest_recsys_mt.datasets.description import TEXT, Part, descriptions, own
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.reading import (
    interactions,
    read,
    users_of,
    usual_scale,
)
from pytest_recsys_mt.datasets.row_kinds import (
    ALL,
    keep_of,
    kinds_in,
)
from pytest_recsys_mt.datasets.rows import Rows, match, normal
from pytest_recsys_mt.datasets.sequences import SEQUENCE, header_of_lists
from pytest_recsys_mt.datasets.table_files import (
    CATALOGUE,
    INTERACTIONS,
    ITEM_TABLES,
    PEOPLE,
    USER_TABLES,
    fits,
    headers,
    part_of,
    table_next_to,
)
from pytest_recsys_mt.datasets.unread_columns import (
    report_columns_not_read,
    used_columns,
)
from pytest_recsys_mt.requests import Item, Scale, specs
from pytest_recsys_mt.safety.errors import DataError, RecommenderError

LEAST_OF_ONE = 20
"""Rows from which on a table of a single user is refused."""


class Options(NamedTuple):
    """What the options behind a path say."""

    part: Part
    scale: str
    items: str | None
    thing: str


def _options(
    *,
    user: str | None = None,
    item: str | None = None,
    sequence: str | None = None,
    each: str = "",
    rating: str | None = None,
    time: str | None = None,
    time_format: str = "",
    columns: str = "",
    sep: str = "",
    encoding: str = "utf-8",
    scale: str = "",
    unrated: float | None = None,
    items: str | None = None,
    thing: str = "",
    keep: str = "",
) -> Options:
    headers = {
        "user": user,
        "item": item,
        SEQUENCE: sequence,
        "rating": rating,
        "time": time,
    }
    given = {
        meaning: header for meaning, header in headers.items() if header is not None
    }
    part = Part(
        named={**INTERACTIONS, **given},
        required=list(given),
        columns=[each.strip() or "-" for each in columns.split(",")] if columns else (),
        sep={"tab": "\t", "\\t": "\t", "blank": " "}.get(sep, sep),
        encoding=encoding,
        each=each,
        unrated=() if unrated is None else (unrated,),
        time_format=time_format,
        keep={} if keep == ALL else keep_of(keep),
        says_what_is_kept=True,
    )
    return Options(part, scale, items, thing)


def _scale(text: str) -> Scale:
    try:
        low, high = [float(bound) for bound in text.split(",")]
        return Scale(low, high)
    except ValueError as problem:
        raise DataError(
            f"scale={text!r} is not LOW,HIGH, as in scale=1,10",
        ) from problem


@dataclass(frozen=True)
class Table:
    """A table of interactions: a file, or what a user's code gives.

    Attributes:
        path: The file, or what stands for it in errors.
        header: The names of its columns, as a description of the file shows them.
        rows: Its rows, by the meanings of its columns.
    """

    path: Path
    header: Callable[[Part], list[str]]
    rows: Callable[[Part], Rows]


def load(path: Path, given: Mapping[str, str], report: Report) -> Content:
    """The content of a table and of the catalogue next to it, by the table's format, or
    by its headers and options.

    Args:
        path: The table, or a description of tables.
        given: The options behind the path, as written.
        report: Called with each note on changes to the rows.

    Raises:
        DataError: If an option or a file is wrong; the text names the file and the line
            (for Parquet, the row).
    """
    if path.suffix.lower() == ".toml":
        if given:
            raise DataError(
                f"{str(path)!r} is a description, so write {next(iter(given))!r} into it",
            )
        return read(own(path), path.parent, report)
    if not given:
        for form in descriptions():
            if fits(path, form):
                return read(form, path.parent, report)
    options = options_of(given, str(path))
    _check(path, options.part)
    table = Table(
        path,
        partial(headers, path),
        lambda part: part.read([path], path.parent),
    )
    rows, scale = interactions_of(table, options, given, report)
    items = _items_of(path, options.items, rows, options.part.encoding, report)
    user_table = table_next_to(path, USER_TABLES, ".user")
    users = users_of(part_of(user_table, PEOPLE), path.parent) if user_table else {}
    return Content(rows, items, scale, users=users, thing=options.thing)


def options_of(given: Mapping[str, str], where: str) -> Options:
    """The options behind a path; DataError for one that is unknown or wrong."""
    try:
        options: Options = specs.build(_options, given, where)
    except RecommenderError as problem:
        raise DataError(str(problem)) from problem
    return options


def interactions_of(
    table: Table,
    options: Options,
    given: Mapping[str, str],
    report: Report,
) -> tuple[Rows, Scale]:
    """The interactions of a table and the scale of their ratings."""
    part = options.part
    if not part.columns:
        part = _with_lists(table, part)
        part = _with_kinds(table, part, given)
    rows, _ = interactions(table.rows(part), part, report)
    scale = _scale(options.scale) if options.scale else usual_scale(rows)
    header = table.header(part)
    _require_users(rows, header)
    if not part.columns:
        report(used_columns(header, part))
    report_columns_not_read(header, part, INTERACTIONS, report)
    return rows, scale


def _require_users(rows: Rows, header: Sequence[str]) -> None:
    """Refuse a column of users that names one alone beside a column of sessions."""
    users = rows.frame["user"]
    if len(users) < LEAST_OF_ONE or users.nunique() > 1:
        return
    sessions = [name for name in header if "session" in normal(name)]
    if sessions:
        raise DataError(
            f"{str(rows.path)!r}: all {len(users):,} rows are of one user, {str(users.iloc[0])!r}; ?user={sessions[0]} behind the "
            f"path takes each session as a user",
        )


def _with_lists(table: Table, part: Part) -> Part:
    """The part with RecBole's column of lists, if the table has one."""
    header = header_of_lists(table.header(part))
    if not header or SEQUENCE in part.named:
        return part
    return replace(part, named={**part.named, SEQUENCE: header})


def _with_kinds(table: Table, part: Part, given: Mapping[str, str]) -> Part:
    """The part with the columns that say what a row is, but for those by which `keep`
    says which rows count; the columns of `keep` must be there.
    """
    header = table.header(part)
    absent = [name for name in part.keep if normal(name) not in map(normal, header)]
    if absent:
        raise DataError(
            f"{str(table.path)!r}: keep names {absent[0]!r}, which is no column; it has {', '.join(map(repr, header))}",
        )
    if given.get("keep") == ALL:
        return part
    if part.keep:
        part = replace(part, keep=_by_meaning(table.path, part, header))
    taken = [header for header in part.named.values() if isinstance(header, str)]
    taken += part.keep
    return replace(part, kinds=kinds_in(header, taken))


def _by_meaning(
    path: Path, part: Part, header: Sequence[str]
) -> dict[str, Sequence[str]]:
    """The conditions of `keep`, by meaning where a column has one: the rows of a table
    name such a column by it.
    """
    columns = replace(part, keep={}).layout
    optional = tuple(replace(column, required=False) for column in columns)
    found = match(header, optional, str(path))
    meanings = {normal(header[place]): column.name for place, column in found.items()}
    return {meanings.get(normal(name), name): part.keep[name] for name in part.keep}


def _items_of(
    path: Path,
    catalogue: str | None,
    rows: Rows,
    encoding: str,
    report: Report,
) -> dict[str, Item]:
    """The items of the catalogue that an option names, else of one
    next to the table, else those of the rows.
    """
    named = None if catalogue is None else path.parent / catalogue
    table = named or table_next_to(path, ITEM_TABLES, ".item", encoding)
    if table is None:
        return named_by_ids(rows, report)
    report(f"the catalogue is {table.name}")
    part = part_of(table, CATALOGUE, encoding)
    return catalogue_of([table], part, path.parent, report, rows)


def _check(path: Path, part: Part) -> None:
    try:
        "".encode(part.encoding)
    except LookupError as problem:
        raise DataError(
            f"{str(path)!r}: encoding={part.encoding!r} is unknown to Python",
        ) from problem
    if not part.columns:
        return
    meanings = [name for name in part.columns if name != "-"]
    has_items = {"user", "item"} <= set(meanings) <= INTERACTIONS.keys()
    has_lists = part.columns[-1] == SEQUENCE and (
        {"user"} <= set(meanings[:-1]) <= INTERACTIONS.keys() - {"item"}
    )
    if len(set(meanings)) < len(meanings) or not (has_items or has_lists):
        raise DataError(
            f"{str(path)!r}: columns={','.join(part.columns)} must name user and item, and may name rating and "
            f"time, each once; write '-' for other columns. Where the rest of a line lists items, the last column is "
            f"{SEQUENCE} in place of item: columns=user,{SEQUENCE}",
        )
    if suffix(path) not in TEXT:
        raise DataError(
            f"{str(path)!r} has names for its columns, so leave columns= out",
        )
