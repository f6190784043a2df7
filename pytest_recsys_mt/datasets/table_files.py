"""The files of tables: the usual headers and names, and what stands next to a table."""

import contextlib
import glob
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pytest_recsys_mt.datasets import json_lines, parquet
from pytest_recsys_mt.datasets.archives import stem, suffix
from pytest_recsys_mt.datasets.content import Format
from pytest_recsys_mt.datasets.delimited_text import head
from pytest_recsys_mt.datasets.description import TEXT, Description, Part, descriptions
from pytest_recsys_mt.datasets.folders import missing
from pytest_recsys_mt.datasets.rows import normal
from pytest_recsys_mt.datasets.table_options import INTERACTIONS, ITEMS
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
ENDINGS = (*TEXT, *json_lines.SUFFIXES, *parquet.SUFFIXES)


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
    if any(fits(path, form) for form in descriptions()):
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
    if parquet.is_parquet(path):
        return parquet.header(path)
    if suffix(path) in json_lines.SUFFIXES:
        names: dict[str, None] = {}
        faults: list[DataError] = []
        found = json_lines.records(path, broken=lambda _, fault: faults.append(fault))
        each = part.each if part else ""
        for _, record in islice(found, 100):
            # Records without rows are reported where they are read.
            with contextlib.suppress(DataError):
                for row in json_lines.rows_in(record, each, ""):
                    names |= dict.fromkeys(name for name in row if name != each)
        if faults and not names:
            raise faults[0]
        return list(names)
    layout = (part or Part()).text_layout(path)
    header, _, _ = head(path, layout)
    return header


def fits(path: Path, form: Description) -> bool:
    """Whether a file holds the interactions of a format."""
    part = form.interactions
    if path not in part.paths(path.parent) or missing(path.parent, form.files):
        return False
    if part.columns or suffix(path) in json_lines.SUFFIXES:
        return True
    names = set(map(normal, headers(path)))
    return all(names & set(column.aliases) for column in part.layout if column.required)


def table_next_to(
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


def part_of(
    path: Path,
    meanings: Mapping[str, Sequence[str]],
    encoding: str = "utf-8",
) -> Part:
    """The meanings of a file's columns by their headers, see `part_by_header`."""
    part = part_by_header(headers(path, Part(encoding=encoding)), meanings)
    return replace(part, file=glob.escape(path.name), encoding=encoding)


def part_by_header(
    written: Sequence[str],
    meanings: Mapping[str, Sequence[str]],
) -> Part:
    """The meanings of a table's columns by their headers; the
    first of the `meanings` must be there.
    """
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
        named={needed: meanings[needed], **others, **header_by_meaning},
        lists=lists,
    )
