"""The words in which models announce an answer, in twenty languages;
``answer_words.toml`` lists them.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_PARTED = ("zh", "ja", "ko", "th")
"""Languages whose words do not stand between spaces, or have endings."""

_SCRIPTS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
"""The scripts of these languages: kana, Han, Hangul, Thai."""

_SIGNS = "\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0957"
"""Signs that belong to the letter before them: accents,
and the vowels of Arabic and Devanagari.
"""

_WORD = re.compile(rf"(?:[^\W\d_{_SCRIPTS}][{_SIGNS}]*)+(?:'[^\W\d_{_SCRIPTS}]+)*")
_ELIDED = re.compile(r"(?:l|d|j|s|m|t|qu|dell|all|un)'")
_OTHER = re.compile(rf"\d+|[{_SCRIPTS}]")


@dataclass(frozen=True)
class Words:
    """The words of one group, of all languages."""

    whole: frozenset[str]  # those that stand between spaces
    parts: re.Pattern[str]  # matches those that do not

    def first(self, text: str) -> int:
        """Where the first of them begins; -1 if none occurs."""
        places = [at for at, word in _words(text) if word in self.whole]
        if (part := self.parts.search(text)) is not None:
            places.append(part.start())
        return min(places, default=-1)

    def within(self, text: str) -> bool:
        """Whether any of them occurs."""
        return self.first(text) >= 0

    def cover(self, text: str) -> bool:
        """Whether a text consists of them: it has no other
        word, no number, no other letter.
        """
        rest = self.parts.sub(" ", text)
        return not _OTHER.search(rest) and all(
            word in self.whole for word in words_of(rest)
        )


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without an elided article."""
    return [word for _, word in _words(text)]


def _words(text: str) -> Iterator[tuple[int, str]]:
    for found in _WORD.finditer(text):
        word = found[0].lower()
        yield found.start(), _ELIDED.sub("", word) if _ELIDED.match(word) else word


@lru_cache(maxsize=1)
def groups() -> dict[str, Words]:
    """The groups by name: ``announce``, ``safe`` (with
    ``plain``), ``because``, ``doubt``, ``retract``.
    """
    text = (files("pytest_recsys_mt.suites.lrworld") / "answer_words.toml").read_text(
        encoding="utf-8",
    )
    table = tomllib.loads(unicodedata.normalize("NFKC", text))  # as answers are read

    def group(*names: str) -> Words:
        whole, parts = set[str](), set[str]()
        for language, lists in table.items():
            for name in names:
                (parts if language in _PARTED else whole).update(lists[name].split())
        longest = sorted(parts, key=len, reverse=True)
        return Words(frozenset(whole), re.compile("|".join(map(re.escape, longest))))

    alone = ("announce", "because", "doubt", "retract")
    return {"safe": group("announce", "plain"), **{name: group(name) for name in alone}}
