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

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from pytest_recsys_mt.datasets.loading import found
from pytest_recsys_mt.datasets.packed import opened
from pytest_recsys_mt.datasets.rows import Column, Kind, normal
from pytest_recsys_mt.errors import DataError

KINDS: Mapping[str, Kind] = {"user": "id", "item": "id", "rating": "number", "timestamp": "time"}
"""Of the columns that are no texts."""
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "str": str,
    "str | None": str,
    "bool": bool,
    "Sequence[str]": list,
    "Sequence[float]": list,
    "Mapping[str, str]": dict,
    "Mapping[str, Sequence[str]]": dict,
    "Mapping[str, Mapping[str, str]]": dict,
}
"""What TOML gives for a field of `Part`, by its annotation."""
RENAMED = {"time": "timestamp"}
"""Meanings that have another name in a `Dataset`."""


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
        known = KNOWN
        for key, value in table.items():
            kind = _KINDS[known[key]] if key in known else (str, list)
            if not isinstance(value, kind):
                raise DataError(
                    f"{key} = {value!r} has the wrong type; docs/how-to/bring-data.md has an example"
                )
        given = {key: value for key, value in table.items() if key in known}
        return cls(**given, named={key: value for key, value in table.items() if key not in known})

    @property
    def layout(self) -> tuple[Column, ...]:
        """The columns: all in their order if there is no header, else those that have a name."""
        if self.columns:
            places = enumerate(self.columns)
            plain = [_column(f"-{at}" if name == "-" else name) for at, name in places]
            return (*plain, *(_column(flag) for flag in self.flag_columns))
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

    def begins(self, path: Path) -> bool:
        """Whether a file begins as the part says."""
        if not self.first_line:
            return True
        with opened(path) as stream:
            line = stream.readline(1 << 16).decode(self.encoding, "replace")
        return re.match(self.first_line, line) is not None


KNOWN = {each.name: str(each.type) for each in fields(Part) if each.name != "named"}
"""The keys of a part that are no meanings, with their types."""


def _column(name: str, headers: Sequence[str] = (), required: bool = True) -> Column:
    name = RENAMED.get(name, name)
    kind = "integer" if ": " in name else KINDS.get(name, "value")
    return Column(name, kind, tuple(map(normal, headers)), required)


@dataclass(frozen=True, kw_only=True)
class Description:
    """One format.

    Attributes:
        name: In errors and in the docs.
        source: Where it is described.
        family: See `Dataset.family`.
        joins: Facts that other files of the folder add to the items, by name in `joins`.
    """

    name: str
    interactions: Part
    source: str = ""
    family: str = ""
    items: Part | None = None
    users: Part | None = None
    tags: Part | None = None
    joins: Sequence[str] = ()

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The format that a file of TOML describes."""
        names = ("interactions", "items", "users", "tags")
        parts: dict[str, Any] = {name: Part.of(table[name]) for name in names if name in table}
        return cls(**{**table, **parts})

    @property
    def files(self) -> tuple[str, ...]:
        """The files that must be there."""
        parts = (self.interactions, self.items, self.users, self.tags)
        return tuple(part.file for part in parts if part is not None and not part.optional)


def own(path: Path) -> Description:
    """The description in a file of one's own, whose named columns must all be there.

    Raises:
        DataError: If it cannot be read, or says what no description says.
    """
    try:
        table = {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}
        unknown = table.keys() - {each.name for each in fields(Description)}
        if unknown or "interactions" not in table:
            raise DataError(
                f"{sorted(unknown)!r} is unknown" if unknown else "[interactions] is missing"
            )
        wrong = table["interactions"].keys() - {*KNOWN, "user", "item", "rating", "time"}
        if wrong:
            raise DataError(f"[interactions] has the unknown keys {sorted(wrong)!r}")
        for part in (value for value in table.values() if isinstance(value, dict)):
            if not part.get("file"):
                raise DataError("a part names no file")
            part.setdefault(
                "required", [key for key, header in part.items() if isinstance(header, str)]
            )
        form = Description.of(table)
    except (OSError, ValueError, DataError) as problem:
        raise DataError(
            f"the description {str(path)!r}: {problem}; it has the parts [interactions], [items], [users] and [tags]"
        ) from problem
    if missing := [file for file in form.files if not found(path.parent, file)]:
        raise DataError(
            f"the description {str(path)!r} names {missing[0]!r}, which is not beside it"
        )
    return form


@cache
def descriptions() -> Sequence[Description]:
    """Every described format, by the names of their files."""
    folder = files("pytest_recsys_mt.datasets") / "formats"
    texts = {
        each.name: each.read_text(encoding="utf-8")
        for each in folder.iterdir()
        if each.name.endswith(".toml")
    }
    return [Description.of(tomllib.loads(texts[name])) for name in sorted(texts)]
