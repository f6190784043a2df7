"""Text of others, made safe to parse, to store and to write
where a terminal or a CI job reads it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Any

from pytest_recsys_mt.safety.numbers import Numbers

_ESCAPE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # colours, cursor movement
    "|\x1b[\\]PX^_][^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\\\|\x9c)"  # window titles, links
    "|\x1b[!-/]{0,16}[0-~]",  # no blank: the text that follows it is ours more often
)
"""Terminal escape sequences of ECMA-48: CSI, the string
controls, and the two-character ones.
"""

_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]",
)
"""Control characters except tab and line feed, invisible and bidirectional formatting
(also the tag characters, which can hide text from a reader), characters that XML
forbids, and lone surrogates, which UTF-8 cannot encode. The zero-width joiners stay:
several scripts need them.
"""

_COMMAND = re.compile(r"(?<!\w):(?=:[A-Za-z])|#(?=#\w*\[)|(?<!\S)([-+~^])(?=\1\1 )")
"""The marks by which the log of a CI job takes a line for a command: of GitHub, Azure,
TeamCity and, where a line begins or a terminal may break it, of Buildkite. Those of
GitLab and Jenkins need control characters. Test ids have a letter before their colons,
and stay.
"""


def sanitize(text: str) -> str:
    """`text` for output: `without_controls`, and the marks of commands to the readers
    of logs parted by a blank.
    """
    text = without_controls(text)
    marks = ("::", "##", "--- ", "+++ ", "~~~ ", "^^^ ")  # most texts have none
    return (
        _COMMAND.sub(r"\g<0> ", text) if any(mark in text for mark in marks) else text
    )


class Safe:
    """A stream, or pytest's reporter, that sanitizes its lines, which are
    known only here. Without one (``-p no:terminal``) nothing is written.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._writer, name, lambda *_, **__: None)
        safe = lambda *texts, **how: found(*map(sanitize, texts), **how)
        return safe if name in ("write", "write_line", "write_sep") else found


def without_controls(text: str) -> str:
    """`text` without terminal escapes, control characters, direction overrides and lone
    surrogates.

    Line breaks of every kind become line feeds; tabs stay. Time is linear in the
    length.
    """
    if text.replace("\n", "").isprintable():  # no character that the three look for is
        return text
    return _INVISIBLE.sub("", _LINE_BREAKS.sub("\n", _ESCAPE.sub("", text)))


def one_line(text: str) -> str:
    """`text` sanitized, with every run of white space as
    one space, for use inside a sentence.
    """
    return " ".join(sanitize(text).split())


def plain(value: object, lost: list[str], at: str = "") -> Any:
    """`value` as JSON data, with texts that are safe to print.

    Reasons hold exceptions of users' code, examples hold titles of users' data, and
    details are whatever a test gave. JSON has no number that is not finite: None stands
    there, and `lost` receives where.
    """
    match value:
        case str():
            return sanitize(value)
        case None | bool() | int():
            return value
        case float():
            if math.isfinite(value):
                return float(value)
            lost.append(at)
            return None
        case dict():
            inside = f"{at}." if at else ""
            return {
                key if isinstance(key, str) else str(key): plain(
                    each,
                    lost,
                    f"{inside}{key}",
                )
                for key, each in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [
                plain(each, lost, f"{at}[{place}]") for place, each in enumerate(value)
            ]
    tolist = getattr(value, "tolist", None)
    if callable(tolist):  # of an array, or of a number of NumPy
        return plain(tolist(), lost, at)
    return sanitize(repr(value))


def clean(value: object) -> Any:
    """`value` with all its texts and keys sanitized: a record is untrusted.

    A part in which nothing changes is the part itself, no copy of it: most of a large
    record.
    """
    return _Cleaned().of(value)


class _Cleaned:
    """Sanitizes a value whose texts, keys and lists come back
    again and again; it has to live until the end.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lists: dict[int, list[Any]] = {}
        self._sound: dict[tuple[Any, ...], bool] = {}

    def of(self, value: Any) -> Any:
        """`value`, sanitized."""
        if type(value) in _SCALARS:
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return self._list(value)
        if isinstance(value, Numbers) and self._are_sound(value.names):
            return value
        return self._mapping(value) if isinstance(value, Mapping) else value

    def _text(self, text: str) -> str:
        found = self._texts.get(text)
        if found is None:
            found = sanitize(text)
            self._texts[text] = found = text if found == text else found
        return found

    def _mapping(self, value: Mapping[Any, Any]) -> Mapping[str, Any]:
        of = self.of
        values = [
            each if type(each) in _SCALARS else of(each) for each in value.values()
        ]
        nodeid = value.get("nodeid")
        if isinstance(nodeid, str):
            values[list(value).index("nodeid")] = without_controls(nodeid)
        if isinstance(value, dict) and self._are_sound(tuple(value)):
            same = all(map(is_, values, value.values()))
            return value if same else dict(zip(value, values, strict=True))
        return {
            self._text(str(key)): each for key, each in zip(value, values, strict=True)
        }

    def _are_sound(self, keys: tuple[Any, ...]) -> bool:
        sound = self._sound.get(keys)
        if sound is None:
            sound = set(map(type, keys)) <= {str} and _untouched(keys)
            self._sound[keys] = sound
        return sound

    def _list(self, value: Sequence[Any]) -> list[Any]:
        # A record that was read has equal lists once, and no other object can have the
        # number of one in it.
        known = self._lists.get(id(value))
        if known is None:
            made = [self.of(each) for each in value]
            if isinstance(value, list) and all(map(is_, made, value)):
                made = value
            self._lists[id(value)] = known = made
        return known


_SCALARS = {bool, float, int, type(None)}


def _untouched(texts: Iterable[str]) -> bool:
    """Whether `sanitize` leaves all of these texts as they
    are, found out for all of them at once.
    """
    whole = "\n".join(
        texts,
    )  # no mark and no escape sequence goes across the end of a line
    return sanitize(whole) == whole


def slug(name: str) -> str:
    """`name` as a part of a test id that `-k` can select.

    ``scale_ratings(2)`` becomes ``scale_ratings-2``.
    """
    return re.sub(r"[^\w.+-]+", "-", name).strip("-") or "unnamed"
