"""Several titles in one line: where to split them, and the sentences that contain them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_recsys_mt.llm.reading.comments import RATING, unwrapped
from pytest_recsys_mt.llm.reading.wording import phrase

_SEPARATOR, _QUOTED, _LEADING = map(phrase, ("separator", "quoted", "leading"))
_CONJUNCTION = phrase("conjunction", re.IGNORECASE)


class Part(NamedTuple):
    """One part of an enumeration, by its position in the text."""

    start: int
    end: int
    parts_surely: bool  # whether a comma stands before it, not "and"
    # The same with a conjunction that may be its own: "そして父になる".
    outer_start: int
    outer_end: int  # "おくりびと"


def leads(text: str) -> Iterator[tuple[str, str]]:
    """An enumeration, with and without the words before
    it: ``I recommend: Heat, Casino``.
    """
    yield "", text
    for mark in (":", "："):
        lead, colon, rest = text.partition(mark)
        if colon and rest.strip() and lead.count("《") == lead.count("》"):
            yield lead + colon, rest.strip()
    verb = _LEADING.search(text)
    if verb is not None:
        yield text[: verb.end()], text[verb.end() :]


def parts(text: str) -> list[Part]:
    """The parts of an enumeration; brackets and quotes are not split."""
    text = text.strip()
    found: list[Part] = []
    start = 0
    outer_start = 0
    sure = True
    for match in _SEPARATOR.finditer(text):
        if match["shelter"]:
            continue
        end = match.start()
        if text[start:end].strip():
            found.append(Part(start, end, sure, outer_start, end))
            sure = match["sure"] is not None
            outer_start = match.end()
        elif found:
            sure = sure or match["sure"] is not None
            found[-1] = found[-1]._replace(outer_end=end)
        start = match.end()
    if text[start:].strip():
        found.append(Part(start, len(text), sure, outer_start, len(text)))
    return found


def spellings(text: str, first: Part, last: Part) -> Iterator[str]:
    """The possible titles of the parts from `first` to
    `last`, also with a conjunction at an end.
    """
    yield from plain_heads(text[first.start : last.end])
    if first.outer_start < first.start:
        yield from plain_heads(text[first.outer_start : last.end])
    if last.end < last.outer_end:
        yield from plain_heads(text[first.start : last.outer_end])


def plain_heads(text: str) -> Iterator[str]:
    """The possible titles of one part of an enumeration."""
    text = unwrapped(text.strip().strip("[]{}"))
    yield text
    conjunction = _CONJUNCTION.match(text)
    if conjunction is not None:
        text = unwrapped(text[conjunction.end() :])
        yield text
    rating = RATING.search(text)
    if rating is not None:
        text = unwrapped(text[: rating.start()])
        yield text
    if text.endswith((".", "!", "。")):
        yield unwrapped(text[:-1])
    number = re.match(r"\(?\d{1,3}[.)]\s", text)
    if number is not None:
        yield unwrapped(text[number.end() :])


_WORD = re.compile(r"\S+")


def spans(text: str, most: int) -> Iterator[tuple[int, int, bool]]:
    """Where a sentence may contain a title.

    Args:
        text: The sentence.
        most: Most words of a title.

    Yields:
        Start, end, and whether it is quoted; in order, longest first. Unquoted ones
        begin with a capital or a digit.
    """
    quoted = {}
    for match in _QUOTED.finditer(text):
        quoted[match.start()] = match.span(match.lastindex or 0)
    words = [match.span() for match in _WORD.finditer(text)]
    word_at = {start: number for number, (start, _) in enumerate(words)}
    for start in sorted(quoted.keys() | word_at.keys()):
        if start in quoted:
            yield *quoted[start], True
        first = word_at.get(start)
        if first is None or not (text[start].isupper() or text[start].isdigit()):
            continue
        for last in range(min(len(words), first + most) - 1, first - 1, -1):
            end = words[last][1]
            written = text[start:end].rstrip(".,;:!?。，")
            # A single word at the start has a capital anyway.
            if last > first or (start > 0 and len(written) > 2):
                yield start, start + len(written), False
