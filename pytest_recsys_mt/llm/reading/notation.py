"""Data inside a text, in the notation of JSON or of Python."""

import ast
import json
import warnings
from contextlib import suppress
from typing import Any

from pytest_recsys_mt.safety.sanitize import without_controls

DEPTH = 6
"""How deep lists of entries may stand in each other."""

_QUOTED = 20_000  # most characters of data in the notation of Python


def decoded(text: str, start: int) -> tuple[Any, int] | None:
    """The data that begin in a text at `start`, and where they end; None if there are
    none.

    Those in the notation of Python must be the only data of the text, and at its end.
    """
    with suppress(ValueError, RecursionError):
        return _DECODER.raw_decode(text, start)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    if end <= start or end - start > _QUOTED:
        return None
    is_first = "[" not in text[:start] and "{" not in text[:start]
    if not is_first or any(char.isalnum() for char in text[end:]):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            value = ast.literal_eval(text[start:end])
        # A ValueError where a number in hexadecimal has more decimal digits than Python
        # writes.
        str(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return (value, end) if isinstance(value, list | dict) else None


def _with_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that it has several times holds all its values."""
    found: dict[str, Any] = {}
    repeated: set[str] = set()
    for key, value in pairs:
        if key in repeated:
            found[key].append(value)
        elif key in found:
            repeated.add(key)
            found[key] = [found[key], value]
        else:
            found[key] = value
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_with_repeated)


def clean(value: Any, depth: int = 0) -> Any:
    """Data without the control characters and lone surrogates that their escapes wrote;
    below `DEPTH` nothing is read.
    """
    if isinstance(value, str):
        return without_controls(value)
    if depth > DEPTH + 2:  # an entry and its fields may stand below the last list
        return value
    if isinstance(value, list):
        return [clean(element, depth + 1) for element in value]
    if isinstance(value, dict):
        return {clean(key): clean(element, depth + 1) for key, element in value.items()}
    return value
