"""Detects that an answer has listed all requested entries."""

from pytest_recsys_mt.llm.reading.layout import pieces
from pytest_recsys_mt.sanitize import sanitize


def is_listed(text: str, k: int) -> bool:
    """Whether the answer so far has `k` complete entries of a list.

    An entry counts once its line has ended. Entries are those of the parser: numbered lines, or
    bulleted ones if no line is numbered; bullets below a numbered entry are comments. Reasoning
    before the answer contains no entries.
    """
    done = text[: text.rfind("\n") + 1]
    places = [piece.place for piece in pieces(sanitize(done))]
    numbered = places.count("numbered")
    return numbered >= k or (not numbered and places.count("bulleted") >= k)
