"""The role that the words before a list give it, in the languages of the models'
answers; of several roles the first of `ROLES`.
"""

import re
from functools import lru_cache
from typing import Any, Literal

from pytest_recsys_mt.llm.reading.wording import phrase, table

Role = Literal[
    "avoid",
    "reasons",
    "draft",
    "final",
    "ranking",
    "history",
    "more",
    "scores",
    "candidates",
    "",
]
"""The role that a name gives its list; empty if it gives none.

* ``final``, ``ranking``: the answer
* ``more``: its continuation
* ``scores``: a score for each item, which orders them where there is no ranking
* ``draft``, ``candidates``, ``history``, ``reasons``, ``avoid``: not the answer
"""

ASIDE: frozenset[Role] = frozenset(("avoid", "reasons", "draft", "history"))
"""Roles of lists that are never the answer."""


_WORDS: dict[Any, Any] = table("words")
_PATTERNS: dict[Role, re.Pattern[str]] = {
    role: re.compile(rf"(?<!\w)(?:{'|'.join(said['words'])})(?!\w)|{said['parts']}")
    for role, said in _WORDS.items()
}

ROLES = tuple(_PATTERNS)

_FOLLOWS, _FILLER, _NOT_RECOMMENDED = (
    phrase(key, re.DOTALL) for key in ("follows", "filler", "not_recommended")
)

_ASIDE = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_REJECTED = re.compile(
    r"[(\[](?:not recommended|rejected|excluded|irrelevant)[)\]]",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[,;.!。，；！](?:\s|$)|[。，；！]|：|:(?=\s)")
_LABEL = 3
"""Most words of a first clause that gives the role of a list
by itself: "Excluded, since seen".
"""
_SHORT = 4  # most words of a name that is a label. A longer one is a sentence, which may say what the list is based on
_UNSPACED = 8  # the same in letters, of a script without spaces
_UNSPACED_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_OF_SENTENCES: tuple[Role, ...] = (
    "avoid",
    "draft",
    "final",
    "ranking",
    "more",
    "candidates",
)

_ADDED = re.compile(r"(?:because|since|if you|weil|parce|porque)\b")

_WORD = re.compile(r"[\w'’-]+")


@lru_cache(maxsize=4096)
def role_of(name: str) -> Role:
    """The role that a name gives the list below it."""
    if _REJECTED.search(name):
        return "avoid"
    name = _ASIDE.sub(" ", name.casefold().replace("’", "'").replace("_", " "))
    clauses = [each for each in _CLAUSES.split(name) if _WORD.search(each)]
    if len(clauses) > 1:
        last, first = role_of(clauses[-1]), clauses[0]
        is_label = len(_WORD.findall(first)) <= _LABEL and not _FOLLOWS.match(
            first.strip(),
        )
        return role_of(first) if is_label and last in ("", "more") else last
    words = _WORD.findall(name)
    plain = " ".join(words)
    if _ADDED.match(plain):
        return "more"
    if len(words) > _SHORT or (
        words and max(map(len, words)) > _UNSPACED and _UNSPACED_SCRIPT.search(plain)
    ):
        for role in _OF_SENTENCES:
            if (_NOT_RECOMMENDED if role == "avoid" else _PATTERNS[role]).search(plain):
                return role
        return ""
    for text in (_FOLLOWS.sub("", plain), plain):
        for role in ROLES:
            if _PATTERNS[role].search(text):
                return role
    return ""


def is_plain(name: str) -> bool:
    """Whether the name of a list says nothing except its role:
    "My ranking", and not "Popularity ranking".
    """
    own = _FOLLOWS.sub("", _ASIDE.sub(" ", name.casefold())).strip(" :：*#")
    return len(_WORD.findall(own)) > _SHORT or is_name(own)


@lru_cache(maxsize=4096)
def is_name(line: str) -> bool:
    """Whether a line without a colon or other marks can only
    be the name of a list: "Final ranking".
    """
    words = _WORD.findall(line.casefold())
    if not 1 <= len(words) <= 5 or line.rstrip().endswith((".", "!", "?", ",")):
        return False
    kept = [word for word in words if not _FILLER.fullmatch(word)]
    return bool(kept) and all(
        any(p.fullmatch(word) for p in _PATTERNS.values()) for word in kept
    )
