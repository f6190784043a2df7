"""The damage of what a record, which is untrusted, holds of users' lists."""

from collections.abc import Callable, Mapping
from typing import Any

from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

LONGEST = 60
"""Most characters of a value that are shown."""


def fault_of_lists(document: Mapping[str, Any]) -> str:
    """The damage of the lists and groups of users; empty if there is none."""
    varying = document.get("varying", [])
    fault = _fault_of_users(document, "lists", _is_list_of_texts, "a list of texts")
    fault = fault or _fault_of_users(document, "groups", _is_text, "a text")
    if not fault and not _is_list_of_texts(varying):
        return f"'varying' is {_short(varying)}, not a list of texts"
    return fault


def _fault_of_users(
    document: Mapping[str, Any],
    field: str,
    is_sound: Callable[[object], bool],
    kind: str,
) -> str:
    """The first value of a user that is of another kind; empty if none is.

    Args:
        document: The record.
        field: What holds, by model or slicing, a value of each user.
        is_sound: Whether a value is of the kind that it should be.
        kind: This kind, in words.
    """
    tables = document.get(field, {})
    if not isinstance(tables, Mapping):
        return f"{field!r} is {_short(tables)}, not an object"
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            return f"{field!r} of {one_line(name)} is {_short(table)}, not an object"
        for user, value in table.items():
            if not is_sound(value):
                where = f"{one_line(name)}, {one_line(user)}"
                return f"{field!r} of {where} is {_short(value)}, not {kind}"
    return ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _short(value: object) -> str:
    text = "none" if value is None else one_line(str(value))
    return shortened(text, LONGEST)
