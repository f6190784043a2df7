"""Any table of interactions, and a catalogue next to it;
``docs/how-to/bring-data.md`` describes both.
"""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pytest_recsys_mt.datasets import json_lines, parquet
from pytest_recsys_mt.datasets.archives import stem, suffix
from pytest_recsys_mt.datasets.catalogue import catalogue_of, named_by_ids
from pytest_recsys_mt.datasets.content import Content, Format
from pytest_recsys_mt.datasets.delimited_text import head
from pytest_recsys_mt.datasets.description import (
    TEXT,
    Description,
    Part,
    descriptions,
    own,
)
from pytest_recsys_mt.datasets.folders import missing
from pytest_recsys_mt.datasets.held_out_file import with_test
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.reading import (
    interactions,
    read,
    users_of,
    usual_scale,
)
from pytest_recsys_mt.datasets.row_kinds import ALL, kinds_in
from pytest_recsys_mt.datasets.rows import Rows, normal
from pytest_recsys_mt.datasets.splits import Cut
from pytest_recsys_mt.datasets.table_options import (
    INTERACTIONS,
    ITEMS,
    options_of,
    scale_of,
)
from pytest_recsys_mt.datasets.unread_columns import (
    report_columns_not_read,
    used_columns,
)
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import DataError

CATALOGUE: Mapping[str, Sequence[str]] = {
    "item": (*ITEMS, "id"),
    "title": ("title", "name", "itemtitle", "itemname", "movietitle", "booktitle", "productname", "prodname", "trackname"),
    "year": (
        "year", "itemyear", "releaseyear", "publicationyear", "originalpublicationyear", "yearofpublication", "published",
    ),
    "genres": ("genres", "genre", "class"),
    "directors": ("directors", "director"),
    "categories": ("categories", "category"),
    "authors": ("authors", "author"),
    "colour": ("colour", "color"),
    "image_description": ("imagedescription",),
}  # fmt: skip
"""The same of a catalogue; every other column is an attribute of its own name."""
PEOPLE: Mapping[str, Sequence[str]] = {"user": (*INTERACTIONS["user"], "id")}
"""The same of a table of users."""
ITEM_TABLES = (
    "{stem}.items", "items", "catalogue", "catalog", "movies", "films", "books", "products", "articles", "songs",
    "tracks", "artists", "games", "news", "places",
)  # fmt: skip
"""The names of catalogues next to a table, without their endings; RecBole's is
``shop.item`` next to ``shop.inter``.
"""
USER_TABLES = ("{stem}.users", "users", "customers")
LEAST_OF_ONE = 20
"""Rows from which on a table of a single user is refused."""
ENDINGS = (*TEXT, *json_lines.SUFFIXES, *parquet.SUFFIXES)


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
            if _fits(path, form):
                return read(form, path.parent, report)
    options = options_of(given, str(path), by_sessions=by_sessions)
    part = options.part
    _check(path, part)
    if not part.columns:
        part = _with_kinds(path, part, given)
    rows, cut = _rows_of(path, part, options.test, report)
    scale = scale_of(options.scale) if options.scale else usual_scale(rows)
    header = headers(path, part)
    _require_users(rows, header)
    if not part.columns:
        report(used_columns(header, part))
    report_columns_not_read(header, part, INTERACTIONS, report)
    named_rows = replace(rows, path=path)  # not after a folder of two tables
    items = _items_of(path, options.items, named_rows, part.encoding, report)
    user_table = _table_next_to(path, USER_TABLES, ".user")
    users = users_of(_part(user_table, PEOPLE), path.parent) if user_table else {}
    return Content(rows, items, scale, users=users, thing=options.thing, cut=cut)


def _rows_of(
    path: Path,
    part: Part,
    test: str | None,
    report: Report,
) -> tuple[Rows, Cut | None]:
    """The rows of a table and of a test file, and which of them are held out."""
    if test is None:
        return interactions([path], part, path.parent, report)[0], None
    return with_test(path, test, part, lambda file: headers(file, part), report)


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


def _with_kinds(path: Path, part: Part, given: Mapping[str, str]) -> Part:
    """The part with the columns that say what a row is, but for those by which `keep`
    says which rows count; the columns of `keep` must be there.
    """
    header = headers(path, part)
    absent = [name for name in part.keep if normal(name) not in map(normal, header)]
    if absent:
        raise DataError(
            f"{str(path)!r}: keep names {absent[0]!r}, which is no column; it has {', '.join(map(repr, header))}",
        )
    if given.get("keep") == ALL:
        return part
    taken = [header for header in part.named.values() if isinstance(header, str)]
    taken += part.keep
    return replace(part, kinds=kinds_in(header, taken))


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
    table = named or _table_next_to(path, ITEM_TABLES, ".item", encoding)
    if table is None:
        return named_by_ids(rows, report)
    report(f"the catalogue is {table.name}")
    part = replace(_part(table, CATALOGUE, encoding), encoding=encoding)
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
    are_distinct = len(set(meanings)) == len(meanings)
    known = {*INTERACTIONS, "session"}
    if not are_distinct or not {"user", "item"} <= set(meanings) <= known:
        raise DataError(
            f"{str(path)!r}: columns={','.join(part.columns)} must name user and item, and may name rating, "
            f"time and session, each once; write '-' for other columns",
        )
    if suffix(path) not in TEXT:
        raise DataError(
            f"{str(path)!r} has names for its columns, so leave columns= out",
        )


def only_table(folder: Path, known_formats: Sequence[Format]) -> Path:
    """The one table of interactions in a folder.

    Raises:
        DataError: If there is none, or several; the text names the formats of folders
            that are known.
    """
    tables = [
        path
        for path in sorted(folder.iterdir())
        if not path.is_dir() and is_table(path)
    ]
    if len(tables) == 1:
        return tables[0]
    known = "; ".join(
        f"{form.name} ({', '.join(form.files)})" for form in known_formats
    )
    number = (
        f"{len(tables)} of its files are tables"
        if tables
        else "none of its files is a table"
    )
    raise DataError(
        f"folder {str(folder)!r} is in no known format, and {number} of users and items; known are: {known}. For a "
        f"table of your own, give the path of the file",
    )


def is_table(path: Path) -> bool:
    """Whether a file is a table of interactions, as far as its first lines say."""
    if any(_fits(path, form) for form in descriptions()):
        return True
    if suffix(path) not in ENDINGS:
        return False
    try:
        names = set(map(normal, headers(path)))
    except DataError:
        return False
    has_user = not names.isdisjoint(INTERACTIONS["user"])
    has_item = not names.isdisjoint(INTERACTIONS["item"])
    return has_user and has_item


def headers(path: Path, part: Part | None = None) -> list[str]:
    """The names of the columns of a table; of JSON those of its first records."""
    if suffix(path) in parquet.SUFFIXES:
        return parquet.header(path)
    if suffix(path) in json_lines.SUFFIXES:
        names: dict[str, None] = {}
        faults: list[DataError] = []
        found = json_lines.records(path, broken=lambda _, fault: faults.append(fault))
        for _, record in islice(found, 100):
            names |= dict.fromkeys(record)
        if faults and not names:
            raise faults[0]
        return list(names)
    layout = (part or Part()).text_layout(path)
    header, _, _ = head(path, layout)
    return header


def _fits(path: Path, form: Description) -> bool:
    """Whether a file holds the interactions of a format."""
    part = form.interactions
    if path not in part.paths(path.parent) or missing(path.parent, form.files):
        return False
    if part.columns or suffix(path) in json_lines.SUFFIXES:
        return True
    names = set(map(normal, headers(path)))
    return all(names & set(column.aliases) for column in part.layout if column.required)


def _table_next_to(
    path: Path,
    names: Sequence[str],
    ending: str,
    encoding: str = "utf-8",
) -> Path | None:
    """The table next to another that has RecBole's ending, or one of the names; None if
    there is none.

    A table without a column of ids is none, nor is a catalogue with a column of users:
    that is one of interactions.
    """
    ids = CATALOGUE["item"] if ending == ".item" else PEOPLE["user"]
    for table in _tables_in_same_folder(path, names, ending):
        if not table.exists() or table == path:
            continue
        header = set(map(normal, headers(table, Part(encoding=encoding))))
        has_users = not header.isdisjoint(INTERACTIONS["user"])
        if ending == ".item" and has_users:
            continue
        if not header.isdisjoint(ids):
            return table
    return None


def _tables_in_same_folder(path: Path, names: Sequence[str], ending: str) -> list[Path]:
    table_by_stem = {}
    for other in sorted(path.parent.iterdir()):
        if other != path and suffix(other) in ENDINGS and not other.is_dir():
            table_by_stem[stem(other)] = other
    tables = [path.with_suffix(ending)]
    for name in names:
        wanted = name.format(stem=stem(path))
        if wanted in table_by_stem:
            tables.append(table_by_stem[wanted])
    return tables


def _part(
    path: Path,
    meanings: Mapping[str, Sequence[str]],
    encoding: str = "utf-8",
) -> Part:
    """The meanings of a table's columns by their headers; the
    first of the `meanings` must be there.
    """
    written = headers(path, Part(encoding=encoding))
    present = list(map(normal, written))
    header_by_meaning = {}
    for meaning, headers_of_it in meanings.items():
        matching = [header for header in headers_of_it if header in present]
        if matching:
            header_by_meaning[meaning] = matching[0]
    meaning_by_header = dict(zip(present, present, strict=True))
    for meaning, header in header_by_meaning.items():
        meaning_by_header[header] = meaning
    # RecBole says in a header that a column holds lists.
    lists = {}
    for header, written_header in zip(present, written, strict=True):
        is_title = header == header_by_meaning.get("title")
        if written_header.endswith(":token_seq") and not is_title:
            lists[meaning_by_header[header]] = " "
    needed = next(iter(meanings))
    others = {
        header: header for header in present if meaning_by_header[header] == header
    }
    return Part(
        file=glob.escape(path.name),
        named={needed: meanings[needed], **others, **header_by_meaning},
        lists=lists,
    )
