"""Detects that an answer has listed all requested entries."""

from pytest_recsys_mt.llm.reading.layout import pieces
from pytest_recsys_mt.sanitize import sanitize


def is_listed(text: str, k: int) -> bool:
    """Whether the answer so far has `k` complete entries of a list, each with its line ended.

    They are numbered lines, or bulleted ones if no line is numbered; reasoning contains none.
    """
    done = text[: text.rfind("\n") + 1]
    places = [piece.place for piece in pieces(sanitize(done))]
    numbered = places.count("numbered")
    return numbered >= k or (not numbered and places.count("bulleted") >= k)
