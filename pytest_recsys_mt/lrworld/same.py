"""When two texts say the same, so that a reader cannot tell one from the other."""

from pytest_recsys_mt.llm.reading.spelling import MAX_LENGTH, normalise


def form(text: str) -> str:
    """The form in which texts that say the same are equal.

    It is that of titles in `llm.reading`: case, spaces, punctuation, accents of Latin letters and
    the place of an article do not count. A text of any length counts as a whole.
    """
    if len(text) <= MAX_LENGTH:
        return normalise(text)
    parts = range(0, len(text), MAX_LENGTH)
    return "".join(normalise(text[start : start + MAX_LENGTH]) for start in parts)
