"""Reads the text of a record into little memory: equal parts once, values of users
packed, no part that is not needed.
"""

import gc
import json
from collections.abc import Collection
from typing import Any

from pytest_recsys_mt.safety.numbers import Packer

OF_ROWS = ("examples", "shrunk")
"""The keys that take the most room of a row and that no number depends on."""

OF_EXAMPLES = ("asked", "replicates")
"""The keys that take the most room of an example: both requests with their answers."""

_WIDE = 100
"""An object with more keys is no row and no part of one that is looked through; it has
a key a user, or an item.
"""


def parsed(text: str, without: Collection[str] = ()) -> Any:
    """The content of a text of JSON. Equal texts and equal lists of texts in it are one
    object, so nothing may change them.

    Python looks for cycles meanwhile, and JSON has none: without it, a large record is
    read in half the time.

    Args:
        text: Of JSON, of a record or of anything else.
        without: Those of `OF_ROWS` and `OF_EXAMPLES` that the rows of a record lose.

    Raises:
        ValueError, RecursionError: If it is not JSON.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return json.loads(text, object_hook=_Parts(without).kept)
    finally:
        if enabled:
            gc.enable()


class _Parts:
    def __init__(self, without: Collection[str]) -> None:
        self._without = without
        self._rows_alone = (
            "examples" in without
        )  # nearly all objects that are no row are parts of an example
        self._texts: dict[str, str] = {}
        self._lists: dict[tuple[str, ...], list[str]] = {}
        self._packer = Packer()

    def kept(self, found: dict[str, Any]) -> dict[str, Any]:
        """An object as it was read, after all those in it."""
        if len(found) > _WIDE:
            return found
        if "per_user" in found and "nodeid" in found:
            self._shorten(found)
        elif self._rows_alone:
            return found
        shared = self._texts.setdefault
        for name, value in found.items():
            kind = type(value)
            if kind is str:
                found[name] = shared(value, value)
            elif kind is list and value:
                found[name] = self._list(value)
        return found

    def _shorten(self, row: dict[str, Any]) -> None:
        values = row["per_user"]
        if isinstance(values, dict):
            row["per_user"] = self._packer.pack(values)
        for name in self._without:
            if name in OF_ROWS:
                row.pop(name, None)
        examples = row.get("examples")
        for example in examples if isinstance(examples, list) else ():
            for name in self._without if isinstance(example, dict) else ():
                if name in OF_EXAMPLES:
                    example.pop(name, None)

    def _list(self, value: list[Any]) -> list[Any]:
        # Of texts alone: 1 and 1.0 and true are equal, and not the same.
        if set(map(type, value)) != {str}:
            return value
        texts = tuple(value)
        known = self._lists.get(texts)
        if known is None:
            known = self._lists[texts] = [
                self._texts.setdefault(each, each) for each in value
            ]
        return known
