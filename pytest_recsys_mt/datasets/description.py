"""Descriptions of formats: which files there are, and what their columns mean. ``formats/*.toml`` holds one each.

======================= ===========================================================================
key of a part           what it says
======================= ===========================================================================
``file``                names of its files, glob patterns, and alternatives of them between ``|``
``optional``            whether a folder may lack them
``first_line``          a pattern of the first line, where the names of the files say too little
``sep``                 what divides fields; without it, what divides the header
``columns``             the meanings of the columns of a file without a header; ``-`` is none
``encoding``, ``quoted``, ``escape``, ``ragged``  see `delimited.Layout`
``each``                the field of a JSON record that lists the rows
``scale``               of ratings; without it, the first usual one that holds them all
``unrated``             ratings that say that there is none: the row is left out
``keep``                by column, the values of the rows that count
``time_format``         the form of times, as in ``strptime``
``facts``               attributes of items that stand beside the interactions; the most frequent value counts
``lists``               by attribute, what divides its values
``flags``               by attribute, the values for which one column each holds 0 or 1
``codes``               by attribute, the meaning of each value
``markup``              whether texts are HTML
any other key           a meaning, and the header of its column, or several possible ones
======================= ===========================================================================

Meanings are ``user``, ``item``, ``rating``, ``time``, ``title``, ``year``, ``tag``; all others are attributes.
"""

import codecs
import contextlib
import re
import tomllib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

from pytest_recsys_mt.datasets import delimited, json_lines, parquet
from pytest_recsys_mt.datasets.archives import opened, suffix
from pytest_recsys_mt.datasets.loading import found, missing
from pytest_recsys_mt.datasets.rows import Column, Kind, Rows, joined, normal
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Scale
from pytest_recsys_mt.safety.files import content_of, toml_of

KINDS: Mapping[str, Kind] = {"user": "id", "item": "id", "rating": "number", "timestamp": "time"}
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
    time_format: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    markup: bool = False
    required: Sequence[str] = ()  # meanings whose columns must be there, beside user, item and tag
    named: Mapping[str, str | Sequence[str]] = field(default_factory=dict)  # headers by meaning

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The part that a table of TOML describes."""
        known = get_type_hints(cls)
        del known["named"]
        for key, value in table.items():
            if not _fits(value, known.get(key, str | Sequence[str])):
                raise DataError(f"{key} = {value!r:.80} has the wrong type")
        given = {key: value for key, value in table.items() if key in known}
        return cls(**given, named={key: value for key, value in table.items() if key not in known})

    @property
    def layout(self) -> tuple[Column, ...]:
        """The columns: all in their order if there is no header, else those that have a name."""
        if self.columns:
            names = [f"-{at}" if name == "-" else name for at, name in enumerate(self.columns)]
            return tuple(map(_column, [*names, *self.flag_columns]))
        needed = {"user", "item", "tag", *self.keep, *self.required}
        named = {**self.named, **{name: name for name in self.keep}, **self.facts}
        return tuple(
            _column(name, (header,) if isinstance(header, str) else header, name in needed)
            for name, header in named.items()
        )

    @property
    def flag_columns(self) -> Mapping[str, tuple[str, str]]:
        """Attribute and value by the column that flags it."""
        return {
            f"{name}: {value}": (name, value)
            for name, values in self.flags.items()
            for value in values
        }

    def paths(self, folder: Path) -> list[Path]:
        """Its files in a folder."""
        return [path for path in found(folder, self.file) if self.begins(path)]

    def read(
        self, paths: Sequence[Path], folder: Path, wanted: Container[str] | None = None
    ) -> Rows:
        """Files of a folder, as one table; of JSON only the records of `wanted` items."""
        return joined(folder, [self._read(path, wanted) for path in paths])

    def _read(self, path: Path, wanted: Container[str] | None) -> Rows:
        ending = suffix(path)
        if ending in parquet.SUFFIXES:
            return parquet.read(path, self.layout)
        if ending in json_lines.SUFFIXES:
            return json_lines.read(path, self.layout, self.each, wanted)
        return delimited.read(path, self.text_layout(path))

    def text_layout(self, path: Path) -> delimited.Layout:
        """The layout of a delimited file; DataError if its ending is none of a table."""
        if not self.file and suffix(path) not in TEXT:
            raise DataError(
                f"{str(path)!r}: a table ends in {', '.join((*TEXT, *json_lines.SUFFIXES))} or "
                f"{parquet.SUFFIXES[0]}, not in {suffix(path)!r}"
            )
        return delimited.Layout(
            self.layout,
            self.sep,
            not self.columns,
            self.encoding,
            self.quoted,
            self.escape,
            ragged=self.ragged,
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
    inner = get_args(hint)
    if get_origin(hint) is Sequence:
        return isinstance(value, list) and all(_fits(each, inner[0]) for each in value)
    if get_origin(hint) is Mapping:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if inner:
        return any(_fits(value, each) for each in inner)
    return isinstance(value, int | float if hint is float else hint)


def _column(name: str, headers: Sequence[str] = (), required: bool = True) -> Column:
    name = "timestamp" if name == "time" else name  # as in a `Dataset`
    kind = "integer" if ": " in name else KINDS.get(name, "value")
    return Column(name, kind, tuple(map(normal, headers)), required)


@dataclass(frozen=True, kw_only=True)
class Description:
    """One format.

    Attributes:
        name: In errors and in the docs.
        source: Where it is described.
        family: See `Dataset.family`.
        thing: See `Dataset.thing`.
        joins: Facts that other files of the folder add to the items, by name in `joins`.
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
        parts: dict[str, Any] = {name: Part.of(table[name]) for name in NEEDED if name in table}
        for key, hint in get_type_hints(cls).items():
            if key in table and key not in parts and not _fits(table[key], hint):
                raise DataError(f"{key} has the wrong type")
        return cls(**{**table, **parts})

    @property
    def files(self) -> tuple[str, ...]:
        """The files that must be there."""
        parts = (self.interactions, self.items, self.users, self.tags)
        return tuple(part.file for part in parts if part is not None and not part.optional)


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
        DataError: If it cannot be read, or says what no description says.
    """
    try:
        table = {"name": path.stem, **toml_of(content_of(path))}
        unknown = sorted(table.keys() - get_type_hints(Description).keys())
        if unknown or "interactions" not in table:
            raise DataError(f"{unknown!r} is unknown" if unknown else "[interactions] is missing")
        for part in table.keys() & NEEDED.keys():
            _check(part, table[part])
        form = Description.of(table)
    except (OSError, ValueError, DataError) as problem:
        raise DataError(
            f"the description {str(path)!r}: {problem}; it has the parts [interactions], [items], [users] and [tags], "
            f"and docs/how-to/bring-data.md has an example"
        ) from problem
    if lacking := missing(path.parent, form.files):
        raise DataError(
            f"the description {str(path)!r} names {lacking[0]!r}, which is not beside it"
        )
    return form


def _check(name: str, table: Any) -> None:
    if not isinstance(table, dict):
        raise DataError(f"[{name}] is {table!r:.40}, no table")
    named = [key for key, header in table.items() if key not in get_type_hints(Part)]
    unknown = sorted(set(named) - {"user", "item", "rating", "time"})
    if name == "interactions" and unknown:
        raise DataError(f"[interactions] has the unknown keys {unknown!r}")
    part = Part.of({**table, "required": named})
    lacking = set(NEEDED[name]) - {*named, *part.columns}
    if lacking:
        raise DataError(f"[{name}] names no column for {', '.join(sorted(lacking))}")
    files = part.file.split("|")
    beside = [each not in ("", ".") and ".." not in Path(each).parts for each in files]
    if not all(beside) or any(Path(each).is_absolute() for each in files):
        raise DataError(
            f"[{name}] has file = {part.file!r}, which is no name of a file beside the description"
        )
    if part.scale:
        Scale(*part.scale[:2])
    if len(part.scale) not in (0, 2):
        raise DataError(f"scale = {list(part.scale)!r} is not [LOW, HIGH]")
    if len(part.escape or "x") != 1 or (len(part.sep) > 1 and part.sep != "::"):
        raise DataError(
            f"sep = {part.sep!r} and escape = {part.escape!r} must be one character each, or sep '::'"
        )
    try:
        re.compile(part.first_line)
        codecs.lookup(part.encoding)
    except (re.error, LookupError) as problem:
        raise DataError(f"[{name}]: {problem}") from problem
    table["required"] = named


@cache
def descriptions() -> Sequence[Description]:
    """Every described format, by the names of their files."""
    paths = sorted(Path(__file__).with_name("formats").glob("*.toml"))
    return [Description.of(tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]
