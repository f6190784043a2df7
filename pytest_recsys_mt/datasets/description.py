"""Descriptions of formats: the files, and the meanings of their columns.
``formats/*.toml`` holds one each.

======================= ===========================================================================
key of a part           meaning
======================= ===========================================================================
``file``                names of its files, glob patterns, and alternatives of them between ``|``
``optional``            whether a folder may lack them
``first_line``          a pattern of the first line, if the names of the files do not identify the format
``sep``                 the separator of fields; without it, the one that the header has
``columns``             the meanings of the columns of a file without a header; ``-`` is none
``encoding``, ``quoted``, ``escape``, ``ragged``  see `delimited_text.Layout`
``each``                the field of a JSON record that lists the rows
``scale``               of ratings; without it, the first usual one that holds them all
``unrated``             ratings that stand for none: the row is left out
``keep``                by column, the values of the rows that count
``time_format``         the form of times, as in ``strptime``
``facts``               attributes of items in the rows of interactions; the most frequent value counts
``lists``               by attribute, the separator of its values
``flags``               by attribute, the values for which one column each holds 0 or 1
``codes``               by attribute, the meaning of each value
``markup``              whether texts are HTML
any other key           a meaning, and the header of its column, or several possible ones
======================= ===========================================================================

Meanings are ``user``, ``item``, ``rating``, ``time``, ``session``, ``title``, ``year``,
``tag``; all others are attributes.
"""

import codecs
import contextlib
import math
import re
import tomllib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

from pytest_recsys_mt.datasets import delimited, json_lines, parquet
from pytest_recsys_mt.datasets.archives import opened, suffix
from pytest_recsys_mt.datasets.delimited_text import Layout
from pytest_recsys_mt.datasets.folders import found, missing
from pytest_recsys_mt.datasets.rows import Column, Kind, Rows, joined, normal
from pytest_recsys_mt.datasets.sequences import SEQUENCE
from pytest_recsys_mt.requests import Scale
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.files import content_of, toml_of

KINDS: Mapping[str, Kind] = {
    "user": "id",
    "item": "id",
    "rating": "number",
    "timestamp": "time",
}
"""Of the columns that are no texts."""
TEXT = (".csv", ".tsv", ".txt", ".dat", ".data", ".inter", ".item", ".user")
"""Endings of delimited files."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """The files of one kind: interactions, items, users or tags."""

    file: str = ""
    optional: bool = False
    first_line: str = ""
    sep: str = ""
    columns: Sequence[str] = ()
    encoding: str = "utf-8"
    quoted: bool = True
    escape: str | None = None
    ragged: bool = False
    each: str = ""
    scale: Sequence[float] = ()
    unrated: Sequence[float] = ()
    keep: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Headers of columns that say what a row is, by name; see `row_kinds`.
    kinds: Mapping[str, str] = field(default_factory=dict)
    # Whether the rows that `keep` leaves out are reported: those of an option are.
    says_what_is_kept: bool = False
    time_format: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    markup: bool = False
    # Meanings whose columns must be there, in addition to user, item and tag.
    required: Sequence[str] = ()
    # Headers by meaning.
    named: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The part that a table of TOML describes."""
        known = get_type_hints(cls)
        del known["named"], known["kinds"], known["says_what_is_kept"]
        for key, value in table.items():
            if not _fits(value, known.get(key, str | Sequence[str])):
                raise DataError(f"{key} = {value!r:.80} has the wrong type")
        fields = {key: value for key, value in table.items() if key in known}
        headers_by_meaning = {
            key: value for key, value in table.items() if key not in known
        }
        return cls(**fields, named=headers_by_meaning)

    @property
    def layout(self) -> tuple[Column, ...]:
        """The columns: all in their order if there is no
        header, else those that have a name.
        """
        if self.columns:
            return self._layout_without_header()
        needed = {"user", "item", "tag", *self.keep, *self.required}
        if SEQUENCE in self.named:
            needed.remove("item")
        meanings = {_column(name).name for name in self.named}
        headers_by_name = {
            **self.named,
            **{name: name for name in self.keep if name not in meanings},
            **self.kinds,
            **self.facts,
        }
        columns = []
        for name, header in headers_by_name.items():
            headers = (header,) if isinstance(header, str) else header
            column = _column(name, headers, name in needed)
            columns.append(self._as_written(column))
        return tuple(columns)

    @property
    def may_lack_ratings(self) -> bool:
        """Whether a missing rating stands for none."""
        return any(map(math.isnan, self.unrated))

    def _layout_without_header(self) -> tuple[Column, ...]:
        names = []
        for place, name in enumerate(self.columns):
            # Columns without a meaning get names of their own, as those of a table must
            # differ.
            names.append(f"-{place}" if name == "-" else name)
        columns = map(_column, [*names, *self.flag_columns])
        return tuple(map(self._as_written, columns))

    def _as_written(self, column: Column) -> Column:
        """The column, of ratings as written if a missing one is no wrong one here."""
        if column.name == "rating" and self.may_lack_ratings:
            return replace(column, kind="value")
        return column

    @property
    def flag_columns(self) -> Mapping[str, tuple[str, str]]:
        """Attribute and value by the column that flags it."""
        flags = {}
        for name, values in self.flags.items():
            for value in values:
                flags[f"{name}: {value}"] = (name, value)
        return flags

    def paths(self, folder: Path) -> list[Path]:
        """Its files in a folder."""
        return [path for path in found(folder, self.file) if self.begins(path)]

    def read(
        self,
        paths: Sequence[Path],
        folder: Path,
        wanted: Container[str] | None = None,
    ) -> Rows:
        """Read files of a folder as one table.

        Args:
            paths: The files.
            folder: Stands in errors about several files.
            wanted: The ids of the only items to read from JSON; all without it.
        """
        return joined(folder, [self._read(path, wanted) for path in paths])

    def _read(self, path: Path, wanted: Container[str] | None) -> Rows:
        ending = suffix(path)
        if parquet.is_parquet(path):
            return parquet.read(path, self.layout)
        if ending in json_lines.SUFFIXES:
            return json_lines.read(path, self.layout, self.each, wanted)
        return delimited.read(path, self.text_layout(path))

    def text_layout(self, path: Path) -> Layout:
        """The layout of a delimited file; DataError if its ending is none of a table."""
        if not self.file and suffix(path) not in TEXT:
            raise DataError(
                f"{str(path)!r}: a table ends in {', '.join((*TEXT, *json_lines.SUFFIXES))} or "
                f"{parquet.SUFFIXES[0]}, not in {suffix(path)!r}",
            )
        takes_the_rest = bool(self.columns) and self.columns[-1] == SEQUENCE
        return Layout(
            self.layout,
            separator=self.sep,
            header=not self.columns,
            encoding=self.encoding,
            quoted=self.quoted,
            escape=self.escape,
            ragged=self.ragged or takes_the_rest,
            width=len(self.columns) if takes_the_rest else 0,
            takes_the_rest=takes_the_rest,
        )

    def begins(self, path: Path) -> bool:
        """Whether a file begins as the part says."""
        if not self.first_line:
            return True
        line = ""
        # A damaged file stops those who name it, not those who name its neighbour.
        with contextlib.suppress(DataError), opened(path) as stream:
            line = stream.readline(1 << 16).decode(self.encoding, "replace")
        return re.match(self.first_line, line) is not None


def _fits(value: object, hint: Any) -> bool:
    """Whether a value of TOML has the type of a hint: a list for `Sequence`, a table
    for `Mapping`, else one class or several between ``|``.
    """
    arguments = get_args(hint)
    if get_origin(hint) is Sequence:
        element = arguments[0]
        return isinstance(value, list) and all(_fits(each, element) for each in value)
    if get_origin(hint) is Mapping:
        content = arguments[1]
        return isinstance(value, dict) and all(
            _fits(each, content) for each in value.values()
        )
    if arguments:
        return any(_fits(value, alternative) for alternative in arguments)
    if hint is float:  # TOML writes 1 for 1.0
        return isinstance(value, int | float)
    return isinstance(value, hint)


def _column(name: str, headers: Sequence[str] = (), required: bool = True) -> Column:
    name = "timestamp" if name == "time" else name  # as in a `Dataset`
    is_flag = ": " in name  # see `Part.flag_columns`
    kind = "integer" if is_flag else KINDS.get(name, "value")
    written = headers[0] if len(headers) == 1 else ""
    return Column(name, kind, tuple(map(normal, headers)), required, written)


@dataclass(frozen=True, kw_only=True)
class Description:
    """One format.

    Attributes:
        name: In errors and in the docs.
        source: Where it is described.
        family: See `Dataset.family`.
        thing: See `Dataset.thing`.
        joins: Facts that other files of the folder add to the items, by name in
            `joins`.
    """

    name: str
    interactions: Part
    source: str = ""
    family: str = ""
    thing: str = ""
    items: Part | None = None
    users: Part | None = None
    tags: Part | None = None
    joins: Sequence[str] = ()

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The format that a file of TOML describes."""
        parts: dict[str, Any] = {
            name: Part.of(table[name]) for name in NEEDED if name in table
        }
        for key, hint in get_type_hints(cls).items():
            if key in table and key not in parts and not _fits(table[key], hint):
                raise DataError(f"{key} has the wrong type")
        return cls(**{**table, **parts})

    @property
    def files(self) -> tuple[str, ...]:
        """The files that must be there."""
        parts = (self.interactions, self.items, self.users, self.tags)
        return tuple(
            part.file for part in parts if part is not None and not part.optional
        )


NEEDED = {
    "interactions": ("user", "item"),
    "items": ("item",),
    "users": ("user",),
    "tags": ("item", "tag"),
}
"""The meanings that each part must name."""


def own(path: Path) -> Description:
    """The description in a file of one's own, whose named columns must all be there.

    Raises:
        DataError: If it cannot be read, or has a key or value that no description has.
    """
    try:
        table = {"name": path.stem, **toml_of(content_of(path))}
        unknown = sorted(table.keys() - get_type_hints(Description).keys())
        if unknown:
            raise DataError(f"{unknown!r} is unknown")
        if "interactions" not in table:
            raise DataError("[interactions] is missing")
        for part in table.keys() & NEEDED.keys():
            _check(part, table[part])
        form = Description.of(table)
    except (OSError, ValueError, DataError) as problem:
        raise DataError(
            f"the description {str(path)!r}: {problem}; it has the parts [interactions], [items], [users] and [tags], "
            f"and docs/how-to/bring-data.md has an example",
        ) from problem
    lacking = missing(path.parent, form.files)
    if lacking:
        raise DataError(
            f"the description {str(path)!r} names {lacking[0]!r}, which is not beside it",
        )
    return form


def _check(name: str, table: Any) -> None:
    """Refuse a part that cannot be read, and require the columns that it names."""
    if not isinstance(table, dict):
        raise DataError(f"[{name}] is {table!r:.40}, no table")
    named = [key for key, header in table.items() if key not in get_type_hints(Part)]
    unknown = sorted(set(named) - {"user", "item", "rating", "time", "session"})
    if name == "interactions" and unknown:
        raise DataError(f"[interactions] has the unknown keys {unknown!r}")
    part = Part.of({**table, "required": named})
    lacking = set(NEEDED[name]) - {*named, *part.columns}
    if lacking:
        raise DataError(f"[{name}] names no column for {', '.join(sorted(lacking))}")
    if not all(map(_is_in_same_folder, part.file.split("|"))):
        raise DataError(
            f"[{name}] has file = {part.file!r}, which is no name of a file beside the description",
        )
    _check_form(name, part)
    table["required"] = named


def _is_in_same_folder(file: str) -> bool:
    """Whether a name of a file, or a pattern, stays in the folder of the description."""
    if file in ("", "."):
        return False
    path = Path(file)
    return ".." not in path.parts and not path.is_absolute()


def _check_form(name: str, part: Part) -> None:
    """Refuse a scale, a separator, a pattern or an encoding that cannot be used."""
    if part.scale:
        Scale(*part.scale[:2])
    if len(part.scale) not in (0, 2):
        raise DataError(f"scale = {list(part.scale)!r} is not [LOW, HIGH]")
    if len(part.escape or "x") != 1 or (len(part.sep) > 1 and part.sep != "::"):
        raise DataError(
            f"sep = {part.sep!r} and escape = {part.escape!r} must be one character each, or sep '::'",
        )
    try:
        re.compile(part.first_line)
        codecs.lookup(part.encoding)
    except (re.error, LookupError) as problem:
        raise DataError(f"[{name}]: {problem}") from problem


@cache
def descriptions() -> Sequence[Description]:
    """Every described format, by the names of their files."""
    paths = sorted(Path(__file__).with_name("formats").glob("*.toml"))
    return [
        Description.of(tomllib.loads(path.read_text(encoding="utf-8")))
        for path in paths
    ]
