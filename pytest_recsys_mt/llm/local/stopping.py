"""When an answer has listed what it was asked for."""

from __future__ import annotations

from pytest_recsys_mt.llm.reading.layout import pieces
from pytest_recsys_mt.sanitize import sanitize


def is_listed(text: str, k: int) -> bool:
    """Whether an answer, as far as it is written, has `k` entries of a list behind it.

    An entry counts once its line has ended. Entries are what the parser takes for such: numbered
    lines, or bulleted ones where none is numbered; bullets below a numbered entry are comments.
    Reasoning before the answer holds no entries.

    Args:
        text: The answer so far.
        k: Entries asked for.
    """
    done = text[: text.rfind("\n") + 1]
    places = [piece.place for piece in pieces(sanitize(done))]
    numbered = places.count("numbered")
    return numbered >= k or (not numbered and places.count("bulleted") >= k)
