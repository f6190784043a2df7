"""When two texts say the same, so that a reader cannot distinguish them."""

from functools import lru_cache

from pytest_recsys_mt.llm.reading.spelling import MAX_LENGTH, normalise


@lru_cache(maxsize=1 << 13)
def form(text: str) -> str:
    """The form in which texts that say the same are equal: that of titles in
    `llm.reading`, for any length.
    """
    if len(text) <= MAX_LENGTH:
        return normalise(text)
    parts = range(0, len(text), MAX_LENGTH)
    return "".join(normalise(text[start : start + MAX_LENGTH]) for start in parts)
