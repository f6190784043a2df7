"""Entries of a list that are marked as bad, or that name more than one item."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from pytest_recsys_mt.llm.reading.candidates_in_lines import CandidatesInLines
from pytest_recsys_mt.llm.reading.doubts_words import SAYS, YEAR, mark_of, numbered
from pytest_recsys_mt.llm.reading.reader import Reader
from pytest_recsys_mt.llm.reading.wording import GRADES

GRADE_WORDS = numbered(GRADES, 0)
_GRADE = re.compile(
    rf"(?:^|[|:(–—-])\s*({'|'.join(GRADE_WORDS)})(?:\s(?:fit|match|pick))?\s*(?=[|).]|$)",
)
"""A cell, or the end of an entry, that says how good it is."""
_BEGIN = re.compile(r"^(?:\d+[.)])?\W*")
_NO_MARK = re.compile(r"[\s:;,.!?'’\"“”&/–—\d-]")
_MARKS = 4  # more different words next to titles are comments


def why_entries_contradict(in_lines: CandidatesInLines, rests: Sequence[str]) -> str:
    """Why the entries of a list may not all be recommended.

    Args:
        in_lines: The items that the lines of the answer name.
        rests: The entries in lower case, without titles.

    Returns:
        The reason; empty if there is none.
    """
    entries = [piece.whole or piece.text for piece in in_lines.entries]
    checked = sum(bool(SAYS["checked"].search(entry)) for entry in entries)
    rejects = any(map(SAYS["bad"].search, entries)) or any(
        map(SAYS["rejected"].search, rests),
    )
    if rejects or 0 < checked < len(entries) or _are_badly_graded(in_lines, rests):
        return "some of its entries are marked as bad"
    if _another_column_names_items(in_lines):
        return "another column names offered items too"
    if _have_labels(entries, rests) or any(map(SAYS["below"].search, rests)):
        return "its parts have names that say no order"
    if any(_names_another(in_lines.reader, piece.text) for piece in in_lines.entries):
        return "its entries name another item too"
    return ""


def _are_badly_graded(in_lines: CandidatesInLines, rests: Sequence[str]) -> bool:
    """Whether all entries have grades, and one has the
    worst, or the grades do not fall.
    """
    grades = []
    for rest, piece in zip(rests, in_lines.entries, strict=True):
        found = _GRADE.search(f"{rest} | {piece.other_fields.casefold()}")
        if found is None:
            return False
        grades.append(GRADE_WORDS[found[1]])
    if len(set(grades)) < 2:
        return False
    return 0 in grades or grades != sorted(grades, reverse=True)


def _another_column_names_items(in_lines: CandidatesInLines) -> bool:
    reader = in_lines.reader
    others = 0
    for piece in in_lines.entries:
        named = in_lines.line(piece)[1]
        for cell in piece.other_fields.split(" | "):
            item = reader.equal(cell)
            if item is not None and item.id in reader.titles and item.id not in named:
                others += 1
    return 2 * others > len(in_lines.entries) > 1


def _have_labels(entries: Sequence[str], rests: Sequence[str]) -> bool:
    """Whether an entry begins with the name of a part; the
    same words may stand in a comment, too.
    """
    for entry, rest in zip(entries, rests, strict=True):
        label = SAYS["labels"].match(rest)
        if label is None:
            continue
        name = _BEGIN.sub("", label[0]).rstrip(":： *_")
        if _BEGIN.sub("", entry).casefold().startswith(name):
            return True
    return False


def _names_another(reader: Reader, entry: str) -> bool:
    """Whether an entry names a second offered item in the
    place of the first, or as its equal.
    """
    if not SAYS["replaces"].search(entry.casefold()):
        return False
    mentioned = reader.mentions(entry)
    rest = entry
    for written, _ in mentioned:
        rest = rest.replace(written, " ")
    return len(mentioned) > 1 and SAYS["replaces"].search(rest.casefold()) is not None


def some_are_marked(in_lines: CandidatesInLines) -> bool | None:
    """Whether only some entries of a list that is longer than requested have a mark or
    a number.

    Returns:
        None if the list is not longer, so that nothing needs to be marked.
    """
    rests = []
    for piece in in_lines.entries:
        rest, named = in_lines.line(piece)
        bare = not any(map(str.isalnum, rest))
        if named and (bare or piece in in_lines.listed):
            rests.append(f"{mark_of(piece)} {rest}".casefold())
    if len(rests) <= in_lines.reader.wanted:
        return None
    return _marks_differ(rests)


def _marks_differ(rests: Sequence[str]) -> bool:
    """Whether entries differ in a mark, ``✓`` or
    "recommended", or a number, and not part by part.
    """
    undated = [YEAR.sub("", rest) for rest in rests]
    marks = [_NO_MARK.sub("", rest) for rest in undated]
    if len(set(marks)) == 1:
        numbers = [re.findall(r"\d+(?:[.,]\d+)?", rest) for rest in undated]
        counts = {len(found) for found in numbers}
        if len(counts) == 2 and 0 in counts:
            return True
        if counts == {1}:
            values = [float(found[0].replace(",", ".")) for found in numbers]
            rising = sorted(values)
            return len(set(values)) > 1 and values not in (rising, rising[::-1])
    entries_by_mark = Counter(marks)
    if not 1 < len(entries_by_mark) <= _MARKS or min(entries_by_mark.values()) < 2:
        return False
    parts = len(list(groupby(marks)))
    return parts > len(entries_by_mark)
