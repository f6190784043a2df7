"""Any table of interactions, and a catalogue next to it;
``docs/how-to/bring-data.md`` describes both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pytest_recsys_mt.datasets import json_lines
from pytest_recsys_mt.datasets.archives import suffix
from pytest_recsys_mt.datasets.catalogue import catalogue_of, named_by_ids
from pytest_recsys_mt.datasets.content import Content
from pytest_recsys_mt.datasets.description import TEXT, Part, descriptions, own
from pytest_recsys_mt.datasets.held_out_file import with_test
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.reading import (
    interactions,
    read,
    users_of,
    usual_scale,
)
from pytest_recsys_mt.datasets.row_kinds import ALL, kinds_in
from pytest_recsys_mt.datasets.rows import Rows, match, normal
from pytest_recsys_mt.datasets.sequences import SEQUENCE, header_of_lists
from pytest_recsys_mt.datasets.splits import Cut
from pytest_recsys_mt.datasets.table_files import (
    CATALOGUE,
    ITEM_TABLES,
    PEOPLE,
    USER_TABLES,
    fits,
    headers,
    part_of,
    table_next_to,
)
from pytest_recsys_mt.datasets.table_options import (
    INTERACTIONS,
    TableOptions,
    options_of,
    scale_of,
)
from pytest_recsys_mt.datasets.unread_columns import (
    report_columns_not_read,
    used_columns,
)
from pytest_recsys_mt.requests import Item, Scale
from pytest_recsys_mt.safety.errors import DataError

LEAST_OF_ONE = 20
"""Rows from which on a table of a single user is refused."""


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


def load(
    path: Path,
    given: Mapping[str, str],
    report: Report,
    *,
    by_sessions: bool = False,
) -> Content:
    """The content of a table and of the catalogue next to it, by the table's format, or
    by its headers and options.

    Args:
        path: The table, or a description of tables.
        given: The options behind the path, as written.
        report: Called with each note on changes to the rows.
        by_sessions: Whether a column of sessions is read.

    Raises:
        DataError: If an option or a file is wrong; the text names the file and the line
            (for Parquet, the row).
    """
    if path.suffix.lower() == ".toml":
        if "test" in given:
            raise DataError(
                f"{str(path)!r} is a description, and test={given['test']!r} can stand behind a table alone; give the "
                f"table, or divide its interactions with split=",
            )
        if given:
            raise DataError(
                f"{str(path)!r} is a description, so write {next(iter(given))!r} into it",
            )
        return read(own(path), path.parent, report)
    if not given and not by_sessions:
        for form in descriptions():
            if fits(path, form):
                return read(form, path.parent, report)
    options = options_of(given, str(path), by_sessions=by_sessions)
    _check(path, options.part)
    table = Table(
        path,
        partial(headers, path),
        lambda part: part.read([path], path.parent),
    )
    rows, cut, scale = interactions_of(table, options, given, report)
    named_rows = replace(rows, path=path)  # not after a folder of two tables
    items = _items_of(path, options.items, named_rows, options.part.encoding, report)
    user_table = table_next_to(path, USER_TABLES, ".user")
    users = users_of(part_of(user_table, PEOPLE), path.parent) if user_table else {}
    return Content(rows, items, scale, users=users, thing=options.thing, cut=cut)


def interactions_of(
    table: Table,
    options: TableOptions,
    given: Mapping[str, str],
    report: Report,
) -> tuple[Rows, Cut | None, Scale]:
    """The interactions of a table and of its test file, which of them are held out, and
    the scale of their ratings.
    """
    part = options.part
    if not part.columns:
        part = _with_lists(table, part)
        part = _with_kinds(table, part, given)
    cut = None
    if options.test is None:
        rows, _ = interactions(table.rows(part), part, report)
    else:
        header_of = partial(headers, part=part)
        rows, cut = with_test(table.path, options.test, part, header_of, report)
    scale = scale_of(options.scale) if options.scale else usual_scale(rows)
    header = table.header(part)
    _require_users(rows, header)
    if not part.columns:
        report(used_columns(header, part))
    report_columns_not_read(header, part, INTERACTIONS, report)
    return rows, cut, scale


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
    if part.each and suffix(path) not in json_lines.SUFFIXES:
        raise DataError(
            f"{str(path)!r}: each={part.each!r} is for JSON lines ({', '.join(json_lines.SUFFIXES)}); leave it out",
        )
    if not part.columns:
        return
    meanings = [name for name in part.columns if name != "-"]
    known = {*INTERACTIONS, "session"}
    has_items = {"user", "item"} <= set(meanings) <= known
    has_lists = part.columns[-1] == SEQUENCE and (
        {"user"} <= set(meanings[:-1]) <= known - {"item"}
    )
    if len(set(meanings)) < len(meanings) or not (has_items or has_lists):
        raise DataError(
            f"{str(path)!r}: columns={','.join(part.columns)} must name user and item, and may name rating, "
            f"time and session, each once; write '-' for other columns. Where the rest of a line lists items, the last column is "
            f"{SEQUENCE} in place of item: columns=user,{SEQUENCE}",
        )
    if suffix(path) not in TEXT:
        raise DataError(
            f"{str(path)!r} has names for its columns, so leave columns= out",
        )
