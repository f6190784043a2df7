"""Refuses keys that are written into a map: they stand in the environment alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_recsys_mt.recommenders.http_map_file import MapFile
from pytest_recsys_mt.recommenders.http_template import names_in, parts_of
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.keys import keys_of, says_key

_SENT_IN_BODY = ("body", "request", "history", "candidates")

_PLAIN_KEY = re.compile(
    r"(?!.*(?:access|api|app|auth|private|secret|user)).*keys?", re.IGNORECASE
)
"""Names such as ``key`` or ``sort_key``, whose values are names of fields as well."""


def require_no_keys(file: MapFile, headers: Mapping[str, str], query: Any) -> None:
    """Raise an error for a key in a map.

    Args:
        file: That of the map, whose templates are sound.
        headers: Those of the map.
        query: That of the map.

    Raises:
        RecommenderError: If a header, a parameter or a field of the body is named as a
            key is and has a text without a placeholder, or if a cookie is written out.
    """
    for name, text in headers.items():
        is_cookie = name.lower() == "cookie"
        if (is_cookie and _is_written_out(text)) or (says_key(name) and _is_text(text)):
            variable = "session={env.NAME}" if is_cookie else "{env.NAME}"
            raise file.error(
                f"a key stands in the environment alone: write {name} = '{variable}', and set NAME",
                "headers",
                name,
            )
    for place, text in parts_of(query, ("query",)):
        if says_key(place[-1]) and _is_text(text):
            raise _misplaced(file, place)
    for key in _SENT_IN_BODY:
        for place, text in parts_of(file.data.get(key), (key,)):
            if _is_text(text) and _is_key(place[-1], text):
                raise _misplaced(file, place)


def _misplaced(file: MapFile, place: tuple[str, ...]) -> RecommenderError:
    return file.error(
        f"a key stands in the environment alone, and is sent as a header: headers = {{{place[-1]} = '{{env.NAME}}'}}",
        *place,
    )


def _is_text(value: Any) -> bool:
    """Whether a template is a text that is sent as it stands."""
    return isinstance(value, str) and value != "" and not any(names_in(value))


def _is_written_out(cookie: str) -> bool:
    """Whether a value of a cookie stands in the map, and none in the environment."""
    if any(name.startswith("env.") for name in names_in(cookie)):
        return False
    return any(_is_text(pair.strip()) for pair in cookie.split(";"))


def _is_key(name: str, text: str) -> bool:
    if _PLAIN_KEY.fullmatch(name):
        return any(keys_of(name, text))
    return says_key(name)
