"""The file of a map, and the place of each key in it, for messages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_recsys_mt.safety.errors import RecommenderError, meant
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

_TABLE = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_KEY = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")

MOST = 1_000_000
"""Bytes of a file that are read."""


def brief(value: object, most: int = 80) -> str:
    """A value for a message, in one line, without keys."""
    return shortened(one_line(repr(value)), most)


@dataclass(frozen=True)
class MapFile:
    """The file of a map.

    Attributes:
        name: The file as the spec names it.
        text: Its content.
        data: The same as plain data.
    """

    name: str
    text: str
    data: dict[str, Any]

    @classmethod
    def read(cls, name: str) -> MapFile:
        """Read a file.

        Raises:
            RecommenderError: If it is missing or not TOML.
        """
        path = Path(name).expanduser()
        if not name.strip():
            raise RecommenderError("map= names no file; write map=map.toml")
        try:
            with path.open("rb") as file:
                content = file.read(MOST + 1)
        except OSError as error:
            raise RecommenderError(
                f"the map {name!r} cannot be read: {error.strerror}; it is searched from {str(Path.cwd())!r}",
            ) from None
        if len(content) > MOST:
            raise RecommenderError(f"the map {name!r} has more than {MOST:,} bytes")
        try:
            text = content.decode("utf-8-sig")
            return cls(name, text, tomllib.loads(text))
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise RecommenderError(
                f"the map {name!r} is not UTF-8: line {line} has the byte 0x{content[error.start]:02x}; save it as UTF-8",
            ) from None
        except (ValueError, RecursionError) as error:
            raise RecommenderError(
                f"the map {name!r} is not TOML: {shortened(one_line(str(error)), 200)}; texts stand in quotes, such as "
                f"items = 'result.hits[].id'",
            ) from None

    def place(self, *keys: str) -> str:
        """The place of a key: ``map.toml, line 4: body.user``."""
        dotted = ".".join(keys)
        line = self._line(keys)
        return (
            f"{self.name}, line {line}: {dotted}" if line else f"{self.name}: {dotted}"
        )

    def error(self, problem: str, *keys: str) -> RecommenderError:
        """The error for what stands at a key."""
        return RecommenderError(f"{self.place(*keys)}: {problem}")

    def require_keys(
        self,
        found: Collection[str],
        known: Collection[str],
        *within: str,
    ) -> None:
        """Raise an error for the first key that is not known."""
        for key in found:
            if key not in known:
                raise self.error(
                    f"there is no such key{meant(key, known)}; valid ones: {', '.join(known)}",
                    *within,
                    key,
                )

    def _line(self, keys: tuple[str, ...]) -> int:
        """The line of a key, else of the table or the value that holds it; 0 if it is not
        found.
        """
        places = list(self._places())
        for length in range(len(keys), 0, -1):
            for number, path in places:
                if path == keys[:length]:
                    return number
        return 0

    def _places(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        table: tuple[str, ...] = ()
        for number, line in enumerate(self.text.splitlines(), 1):
            header = _TABLE.match(line)
            if header:
                table = _parts(header[1])
                yield number, table
                continue
            key = _KEY.match(line)
            if key:
                yield number, table + _parts(key[1])


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple("".join(found) for found in _PART.findall(dotted))
