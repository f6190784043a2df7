"""Which variables of the environment hold keys, whatever their names are, and which
texts in them are the keys.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

SHORTEST = 8
"""Shorter keys are placeholders ("none", "ollama") that may occur in an answer."""

LONGEST = 2**14
"""No more characters of a value are read: a chain of
certificates would take seconds, and is public.
"""

_PARTED = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where the words of a name part: at ``_`` and other marks, and in camel case."""

_SAYS_KEY = re.compile(
    r"(?:keys?|tokens?|secrets?|pass|pwd|credentials?|auth|authorization"
    r"|\w*(?:password|passwd|passphrase|(?:api|access|private|secret)key|(?:auth|access)token)s?)\d*",
    re.IGNORECASE,
)
"""The words by which a name says that it is of a key."""

_OF_PLACES = frozenset(("PATH", "FILE", "DIR", "URL", "ID", "NAME", "SOCK"))
"""Last words of names that say where a key lies or how it is named. Their values count
only if they look drawn at random, as that of ``AWS_ACCESS_KEY_ID`` does: a key that a
user wrote there would be shown otherwise.
"""

_PATH = re.compile(r"~|/|\.\.?[/\\]|\\\\|[A-Za-z]:[/\\]")

_PLAIN = re.compile(
    r"(?=.{0,15}$)(?:[A-Za-z]?[a-z]*\d{0,2}|[A-Z]+|[\d.,:+-]+)|(?=.{0,19}$)[a-z]+(?:[-_.][a-z]+)+",
)
"""A word with up to two digits behind it (``changeme``, ``password1``), a number, a few
words (``client-credentials``): easy to guess, and frequent in reports. Longer ones are
passwords, as no word is that long.
"""

_FEW = 5
"""A value of fewer different characters (``xxxxxxxx``, ``********``) is
a placeholder.
"""

_DRAWN = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{12,}(?![A-Za-z0-9])",
)
"""Letters and digits in a row as only a random draw or a hash has them."""

_DRAWN_CASES = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=[a-z\d]*[A-Z])(?=[A-Z\d]*[a-z])[A-Za-z0-9]{16,}",
)
"""Likewise, of both cases: no name of a folder, so a key
in base64 that begins with a slash.
"""

_LINES = re.compile(r"""\\[nrt]|[\s"'{}\[\],;:\\]+""")
_LINE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/=_-]{16,}")
"""The separators of the parts of a text of several lines,
and a part that is one of a key.
"""


def says_key(name: str) -> bool:
    """Whether the name of a variable, a field or a
    parameter says that its value is a key.
    """
    return any(map(_SAYS_KEY.fullmatch, _PARTED.split(name)))


def keys_of(name: str, value: str) -> Iterator[str]:
    """The keys in the value of a variable; none if its name does not say so, or the
    value is obviously none.
    """
    value = value.strip()[:LONGEST]
    if len(value) < SHORTEST or not says_key(name):
        return
    if "\n" in value or "\\n" in value or value[0] in '{["':
        yield from _in_document(value)
    elif re.match(r"\w[\w+.-]*://", value):
        yield from _in_address(value)
    elif _counts(name, value):
        yield value


def _counts(name: str, value: str) -> bool:
    if len(set(value)) < _FEW or _PLAIN.fullmatch(value):
        return False
    if _PATH.match(value) and (not _DRAWN_CASES.search(value) or os.path.exists(value)):
        return False
    if name == "GPG_KEY" and re.fullmatch("[0-9A-Fa-f]{40}", value):
        return False  # whose signature the image of a Python has: public
    if _PARTED.split(name)[-1].upper() in _OF_PLACES:
        return _DRAWN.search(value) is not None
    return not os.path.exists(value)


def _in_address(value: str) -> Iterator[str]:
    """The user and the password of an address, and the
    parameters that are named as keys.
    """
    place, _, query = value.partition("?")
    user = place.partition("://")[2].rpartition("@")[0]
    parts = re.split("[:/]+", user)
    parts += [
        each.partition("=")[2]
        for each in query.split("&")
        if says_key(each.partition("=")[0])
    ]
    for part in dict.fromkeys([*parts, *map(unquote, parts)]):
        if (
            len(part) >= SHORTEST
            and len(set(part)) >= _FEW
            and not _PLAIN.fullmatch(part)
        ):
            yield part


def _in_document(value: str) -> Iterator[str]:
    """The fields of JSON that are named as keys, or else the long parts of a text that
    look random, as PEM has them.
    """
    try:
        fields = list(_fields("", json.loads(value)))
    except (ValueError, RecursionError):
        yield from filter(_LINE.fullmatch, _LINES.split(value))
        return
    for name, text in fields:
        yield from keys_of(name, text)


def _fields(name: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for key, each in value.items():
                yield from _fields(str(key), each)
        case list():
            for each in value:
                yield from _fields(name, each)
        case str():
            yield name, value
        case _:
            pass
