"""The kind of an object of the data in an answer: an entry, an
error, a table of scores, or the parent of a list.
"""

import re
from collections.abc import Mapping
from typing import Any

from pytest_recsys_mt.llm.reading.fields import (
    TITLE_KEYS,
    field_name,
    field_of,
    rank_of,
    score_of,
)
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.wording import word_set

ARGUMENTS = (
    "arguments", "parameters", "args", "input", "function", "tool_calls", "tool_call", "function_call",
)  # fmt: skip
"""Keys of a tool's call, below which its answer stands."""

_ENTRIES = word_set(
    "entries items list movies films books songs games products articles results recommendations "
    "ranking ranked picks titles selection suggestions top candidates options",
)
"""Keys of a list of entries; a title next to one is the list's."""

_ID = re.compile(r"(?:\w{1,20}_|[a-z]{1,9})?(?:id|idx|index|number|asin)")

_JUDGED = re.compile(r"\s*(?:(?:ir|not )?relevant|yes|no|keep|drop)\s*", re.IGNORECASE)
"""A label that judges an entry, and names none."""

_CHOSEN = word_set("recommend recommended include included select selected relevant")
"""Keys that say whether an entry belongs to the list."""

_FAILED = frozenset(("error", "errors", "detail", "exception", "traceback", "refusal"))
"""Keys of an error of a server."""

_SCHEMA = frozenset(("properties", "$defs", "$schema", "enum"))
"""Keys of a JSON schema."""

_WRAPPERS = frozenset(
    ("choices", "message", "messages", "content", "data", "response", "delta"),
)
"""Keys of a server's reply around the answer of its model."""


def fields_of(value: Mapping[Any, Any]) -> dict[str, Any]:
    """The values of an object by the names of its fields, in
    the form that `field_name` gives them.
    """
    return {field_name(key): field for key, field in value.items()}


def titled(fields: Mapping[str, Any]) -> object:
    """The title of an entry, or else its identifier; None if it has neither."""
    for key in TITLE_KEYS:
        value = fields.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int):
            continue
        if not _JUDGED.fullmatch(str(value)):
            return value
    for key, value in fields.items():
        if isinstance(value, str | int) and _ID.fullmatch(key):
            return None if isinstance(value, bool) else value
    return None


def is_entry(value: Mapping[Any, Any]) -> bool:
    """Whether an object is one entry of a list, and not
    around a list or a table of scores.
    """
    fields = fields_of(value)
    if _numbers_titles(fields):
        return False
    title = titled(fields)
    if title is None or (isinstance(title, str) and title.count("\n") > 1):
        return False
    for key, field in fields.items():
        nested = isinstance(field, list | dict) or _is_quoted(key, field)
        if nested and _may_hold_list(key):
            return False
    return True


def _may_hold_list(key: str) -> bool:
    return key in _ENTRIES or key in ARGUMENTS or key in _WRAPPERS or role_of(key) != ""


def _numbers_titles(fields: Mapping[str, Any]) -> bool:
    """Whether these are titles with their ranks or
    scores, and not the fields of one entry.
    """
    if not are_numbers(fields):
        return False
    strangers = [key for key in fields if not field_of(key) and not _ID.fullmatch(key)]
    return 2 * len(strangers) > len(fields)


def are_numbers(fields: Mapping[Any, Any]) -> bool:
    """Whether all values are numbers; True and False are none."""
    return all(type(value) in (int, float) for value in fields.values())


def _is_quoted(key: str, value: object) -> bool:
    """Whether a field is JSON as a string."""
    return key in ARGUMENTS and isinstance(value, str) and value[:1] in ("{", "[")


def is_no_answer(value: Mapping[Any, Any]) -> bool:
    """Whether data are an error of a server, or the schema that an answer was to have."""
    fields = fields_of(value)
    if "type" in fields and not _SCHEMA.isdisjoint(fields):
        return True
    failed = any(
        fields.get(key) for key in _FAILED
    )  # "error": null says that there is none
    if not failed or is_entry(value):
        return False
    for key, field in fields.items():
        if isinstance(field, list) and field and key not in _FAILED:
            return False
    return True


def is_left_out(fields: Mapping[str, Any]) -> bool:
    """Whether an entry says that it is not chosen, or
    has no rank where there are ranks.
    """
    if any(fields.get(key) is False for key in _CHOSEN):
        return True
    ranks = [value for key, value in fields.items() if field_of(key) == "rank"]
    return len(ranks) > 0 and ranks[0] is None


def measures(value: dict[Any, Any]) -> bool:
    """Whether an object has a rank or a score, and no title."""
    fields = fields_of(value)
    if _numbers_titles(fields) or titled(fields) is not None:
        return False
    return rank_of(fields) is not None or score_of(fields) is not None
