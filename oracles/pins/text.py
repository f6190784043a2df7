"""Writes a file of pinned lists: users sorted, one item a line with its title behind
it, so that a diff can be read.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from itertools import accumulate

from pytest_recsys_mt.oracles.pins.entries import KEYS, KINDS, ORDERED, Pin
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.sanitize import one_line

HEAD = """\
# Pinned lists: what the lists of these users must have. Review a change of this file like one of code.
# pytest --recsys-pin writes equals and begins anew; contains, excludes and comments are yours.
"""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LIST = re.compile(rf"\s*({'|'.join(ORDERED)})\s*=")

Catalogue = Mapping[str, Item]


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def rendered(pins: Mapping[str, Pin], items: Catalogue) -> str:
    """The whole file."""
    parts = [HEAD]
    for user in sorted(pins):
        pin = pins[user]
        lines = [f"[users.{user if _BARE.fullmatch(user) else quoted(user)}]"]
        for key in KEYS:
            value = getattr(pin, key)
            if key in KINDS and value:
                ordered = value if key in ORDERED else tuple(sorted(value))
                lines.append(_listed(key, ordered, items))
            elif key not in KINDS and value not in (None, False):
                lines.append(f"{key} = {'true' if value is True else value}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _listed(key: str, ids: tuple[str, ...], items: Catalogue) -> str:
    lines = []
    for item in ids:
        title = f"  # {one_line(items[item].label)}" if item in items else ""
        lines.append(f"    {quoted(item)},{title}")
    return "\n".join([f"{key} = [", *lines, "]"])


def rewritten(text: str, pins: Mapping[str, Pin], items: Catalogue) -> str | None:
    """`text` with the lists of `ORDERED` as `pins` have them, all else as it was; None
    if its form does not allow that.
    """
    lines = text.splitlines()
    out: list[str] = []
    user = ""
    place = 0
    while place < len(lines):
        line = lines[place]
        key = _LIST.match(line)
        user = _user_of(line) or user
        if key is None or user not in pins:
            out.append(line)
            place += 1
            continue
        taken = _lines_of_value(lines[place:])
        out.append(_listed(key[1], getattr(pins[user], key[1]), items))
        place += taken
    made = "\n".join(out) + "\n"
    return made if _says(made, pins) else None


def _user_of(line: str) -> str:
    """The user whose table a line begins; empty if it begins none."""
    if not line.lstrip().startswith("["):
        return ""
    try:
        (user,) = tomllib.loads(line)["users"]
    except (tomllib.TOMLDecodeError, KeyError, ValueError, TypeError):
        return ""
    return str(user)


def _lines_of_value(lines: list[str]) -> int:
    """How many lines the value takes that begins in the first one."""
    for count, part in enumerate(accumulate(lines, "{}\n{}".format), 1):
        try:
            tomllib.loads(part)
        except tomllib.TOMLDecodeError:
            continue
        return count
    return 1


def _says(text: str, pins: Mapping[str, Pin]) -> bool:
    """Whether a text has exactly these entries."""
    try:
        users = tomllib.loads(text)["users"]
    except (tomllib.TOMLDecodeError, KeyError):
        return False
    for user, pin in pins.items():
        table = users.get(user, {})
        if any(tuple(table.get(kind, ())) != getattr(pin, kind) for kind in KINDS):
            return False
    return bool(users.keys() == pins.keys())
