"""Text of others, made safe to parse, to store and to write where a terminal or a CI job reads it."""

import math
import re
from collections.abc import Mapping
from typing import Any

_ESCAPE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # colours, cursor movement
    "|\x1b[\\]PX^_][^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\\\|\x9c)"  # window titles, links
    "|\x1b[!-/]{0,16}[0-~]"  # no blank: what follows it is text of ours more often
)
"""Terminal escape sequences of ECMA-48: CSI, the string controls, and the two-character ones."""

_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters except tab and line feed, invisible and bidirectional formatting (also the tag
characters, which can smuggle text past a reader), what XML forbids, and lone surrogates, which UTF-8 cannot encode.
The zero-width joiners stay: several scripts need them."""

_COMMAND = re.compile(r"(?<!\w):(?=:[A-Za-z])|#(?=#\w*\[)|(?<!\S)([-+~^])(?=\1\1 )")
"""The marks by which the log of a CI job takes a line for a command: of GitHub, Azure, TeamCity and, where a line begins
or a terminal may break it, of Buildkite. Those of GitLab and Jenkins need control characters. Test ids have a letter before their colons, and stay."""


def sanitize(text: str) -> str:
    """`text` for output: `without_controls`, and the marks of commands to the readers of logs parted by a blank."""
    text = without_controls(text)
    marks = ("::", "##", "--- ", "+++ ", "~~~ ", "^^^ ")  # most texts have none
    return _COMMAND.sub(r"\g<0> ", text) if any(mark in text for mark in marks) else text


class Safe:
    """A stream, or pytest's reporter, that sanitizes what it writes: the lines are known only here. Without one
    (``-p no:terminal``) nothing is written.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._writer, name, lambda *_, **__: None)
        safe = lambda *texts, **how: found(*map(sanitize, texts), **how)
        return safe if name in ("write", "write_line", "write_sep") else found


def without_controls(text: str) -> str:
    """`text` without terminal escapes, control characters, direction overrides and lone surrogates.

    Line breaks of every kind become line feeds; tabs stay. Time is linear in the length.
    """
    if text.replace("\n", "").isprintable():  # no character that the three look for is
        return text
    return _INVISIBLE.sub("", _LINE_BREAKS.sub("\n", _ESCAPE.sub("", text)))


def one_line(text: str) -> str:
    """`text` sanitized, with every run of white space as one space, for use inside a sentence."""
    return " ".join(sanitize(text).split())


def plain(value: object, lost: list[str], at: str = "") -> Any:
    """`value` as JSON data, with texts that are safe to print.

    Reasons hold exceptions of users' code, examples hold titles of users' data, and details are whatever a test gave.
    JSON has no number that is not finite: None stands there, and `lost` receives where.
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
                key if isinstance(key, str) else str(key): plain(each, lost, f"{inside}{key}")
                for key, each in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [plain(each, lost, f"{at}[{place}]") for place, each in enumerate(value)]
    tolist = getattr(value, "tolist", None)
    if callable(tolist):  # of an array, or of a number of NumPy
        return plain(tolist(), lost, at)
    return sanitize(repr(value))


def clean(value: object) -> Any:
    """`value` with all its texts and keys sanitized: a record is untrusted."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, Mapping):
        return {
            sanitize(str(key)): without_controls(each)
            if key == "nodeid" and isinstance(each, str)
            else clean(each)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    return value
