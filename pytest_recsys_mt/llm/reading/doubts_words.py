"""Words next to a list that may contradict it, and their
places; `doubts.toml` has the words.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.wording import patterns

SAYS = patterns(Path(__file__).with_name("doubts.toml"))

SENTENCE = 2
"""Most words in lower case next to a title, without being a sentence."""

YEAR = re.compile(r"\(?\b(?:18|19|20)\d\d\b\)?")

_SMALL = re.compile(r"\b[\da-z]*[a-z]\b")


def numbered(groups: Sequence[str], first: int) -> dict[str, int]:
    """The words of each group with its number; the groups count from `first`."""
    numbers = {}
    for number, words in enumerate(groups, first):
        for word in words.split():
            numbers[word] = number
    return numbers


def count_small(text: str) -> int:
    """How many words in lower case a text has."""
    return len(_SMALL.findall(text))


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark."""
    return text.rstrip(" *_").endswith(("?", "？"))


def mark_of(piece: Piece) -> str:
    """The characters before the text of a piece, without
    letters, digits and the marks of a list.
    """
    if not piece.whole.endswith(piece.text):
        return ""
    return re.sub(r"[\w.()]", "", piece.whole[: -len(piece.text)])
