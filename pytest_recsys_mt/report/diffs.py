"""Diffs of the parts of two requests: of lists of entries, and of texts
line by line.
"""

import difflib
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

Mark = Literal[" ", "-", "+", "…"]
"""Like the first column of a diff: both sides have the line, only the request, only the
follow-up; "…" stands for lines that are left out, and its text says how many.
"""

Line = tuple[Mark, str]

Hunk = tuple[Line, ...]
"""The lines of one change, never parted; or one line that both sides have."""

Entry = tuple[Hashable, str]
"""An entry of a list: its identity, and its text."""

Numbered = tuple[Hashable, int]
"""The identity of an entry, and how many of the same came before it."""

MANY_WORDS = 1000
"""In a line of more words, frequent ones are not compared: that would take too long."""

LONG = 68
"""A line of text with more characters is shown only
around its changes, if it changes a little.
"""

ALIKE = 0.5
"""Two lines are one line that changed if they share at
least this proportion of their characters.
"""

WORDS = 3
"""Unchanged words shown before and after a change within a long line."""

DIFFERING = "·"
"""A blank, in two lines that differ in blanks alone, if the other line
lacks it there.
"""

_SHOWN = {"\t": "→", "\u00a0": "⍽"}
"""How differing blanks are shown, if not as `DIFFERING`."""


def list_diff(old: Sequence[Entry], new: Sequence[Entry]) -> list[Hunk]:
    """The diff of two lists, in the order of the new one.

    An entry that only changed its place has one line, marked "+", which says from where
    it moved. Entries are the same if they are equal in their first part and as often
    repeated; they may still be written in another way.
    """
    hunks: list[Hunk] = []
    if len(old) > 1 and old != new and Counter(old) == Counter(new):
        hunks.append(_one_line("…", f"the same {len(old)}, in another order"))
    old_places = _numbered(old)
    new_places = _numbered(new)
    old_keys = list(old_places)
    new_keys = list(new_places)
    old_start = new_start = 0
    # Between two entries that kept their order lie those that were removed, added or
    # moved.
    for old_end, new_end in [*_in_order(old_places, new_places), (len(old), len(new))]:
        for place in range(old_start, old_end):
            if old_keys[place] not in new_places:
                hunks.append(_one_line("-", old[place][1]))
        for place in range(new_start, new_end):
            old_place = old_places.get(new_keys[place])
            hunks.append(_added_or_moved(old, new, old_place, place))
        if old_end < len(old) and new_end < len(new):
            hunks.append(_in_place(old[old_end][1], new[new_end][1]))
        old_start = old_end + 1
        new_start = new_end + 1
    return hunks


def _added_or_moved(
    old: Sequence[Entry],
    new: Sequence[Entry],
    old_place: int | None,
    new_place: int,
) -> Hunk:
    """The lines of an entry of the new list that the old
    one lacks, or has at another place.
    """
    new_text = new[new_place][1]
    if old_place is None:
        return _one_line("+", new_text)
    old_text = old[old_place][1]
    shown = _distinct(new_text, old_text)
    moved: Line = ("+", f"{shown} (moved from {old_place + 1} to {new_place + 1})")
    if old_text == new_text:
        return (moved,)
    return (("-", _distinct(old_text, new_text)), moved)


def _in_place(old_text: str, new_text: str) -> Hunk:
    if old_text == new_text:
        return _one_line(" ", new_text)
    return (("-", _distinct(old_text, new_text)), ("+", _distinct(new_text, old_text)))


def _distinct(text: str, other: str) -> str:
    """A text as it is; with escapes for characters beyond ASCII if another text that
    differs from it looks the same.

    Composed and decomposed letters do: ``é`` may be one character or two.
    """
    looks_the_same = unicodedata.normalize("NFC", text) == unicodedata.normalize(
        "NFC",
        other,
    )
    if text != other and looks_the_same:
        return text.encode("ascii", "backslashreplace").decode()
    return text


def _one_line(mark: Mark, text: str) -> Hunk:
    return ((mark, text),)


def _numbered(entries: Sequence[Entry]) -> dict[Numbered, int]:
    """The place of each entry, in their order."""
    counts: Counter[Hashable] = Counter()
    places = {}
    for place, (key, _) in enumerate(entries):
        places[key, counts[key]] = place
        counts[key] += 1
    return places


def _in_order(
    old_places: Mapping[Numbered, int],
    new_places: Mapping[Numbered, int],
) -> list[tuple[int, int]]:
    """The old and new places of most entries that stand in the same order in both
    lists.

    This is the longest increasing subsequence of the old places, found by patience
    sorting.
    """
    common = [
        (old_places[key], new) for key, new in new_places.items() if key in old_places
    ]
    smallest_ends: list[
        int
    ] = []  # by length, the smallest old place that such a sequence ends with
    last_indices: list[int] = []  # its index in `common`
    predecessors: list[
        int | None
    ] = []  # of each pair in `common`, in the longest one that it ends
    for index, (old_place, _) in enumerate(common):
        length = bisect_left(smallest_ends, old_place)
        predecessors.append(last_indices[length - 1] if length else None)
        smallest_ends[length : length + 1] = [old_place]
        last_indices[length : length + 1] = [index]
    kept = []
    current = last_indices[-1] if last_indices else None
    while current is not None:
        kept.append(common[current])
        current = predecessors[current]
    kept.reverse()
    return kept


def text_diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """The diff of two texts, given as lines."""
    hunks: list[Hunk] = []
    matcher = difflib.SequenceMatcher(None, old, new)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        old_lines = old[old_start:old_end]
        new_lines = new[new_start:new_end]
        if tag == "equal":
            hunks += [_one_line(" ", line) for line in old_lines]
        elif len(old_lines) == len(new_lines):
            for old_line, new_line in zip(old_lines, new_lines, strict=True):
                hunks += _line_diff(old_line, new_line)
        else:
            hunks += [_one_line("-", line) for line in old_lines]
            hunks += [_one_line("+", line) for line in new_lines]
    return hunks


def _line_diff(old: str, new: str) -> list[Hunk]:
    """The diff of one line that changed; of a long one
    only the words around its changes.
    """
    old, new = _distinct(old, new), _distinct(new, old)
    if "".join(old.split()) == "".join(new.split()):
        old, new = _visible(old, new), _visible(new, old)
    whole: list[Hunk] = [(("-", old), ("+", new))]
    if max(len(old), len(new)) <= LONG:
        return whole
    if difflib.SequenceMatcher(None, old, new).quick_ratio() < ALIKE:
        return whole
    old_words = _words(old)
    new_words = _words(new)
    hunks: list[Hunk] = []
    is_very_long = len(old_words) > MANY_WORDS
    matcher = difflib.SequenceMatcher(None, old_words, new_words, autojunk=is_very_long)
    for opcodes in matcher.get_grouped_opcodes(WORDS):
        _, old_start, _, new_start, _ = opcodes[0]
        _, _, old_end, _, new_end = opcodes[-1]
        old_part = _excerpt(old_words, old_start, old_end)
        new_part = _excerpt(new_words, new_start, new_end)
        hunks.append((("-", old_part), ("+", new_part)))
    return hunks


def _words(line: str) -> list[str]:
    """The words of a line, each with the blanks around it."""
    return re.findall(r"\s*\S+\s*", line)


def _excerpt(words: Sequence[str], start: int, end: int) -> str:
    before = "… " if start else ""
    after = " …" if end < len(words) else ""
    return f"{before}{''.join(words[start:end]).strip()}{after}"


def _visible(line: str, other: str) -> str:
    """A line that differs from another one in blanks alone,
    with these blanks as visible characters.
    """
    shown = []
    # Blanks, a character, blanks, and so on: both lines have as many parts.
    parts = re.split(r"(\S)", line)
    other_parts = re.split(r"(\S)", other)
    for part, other_part in zip(parts, other_parts, strict=True):
        if part == other_part:
            shown.append(part)
        else:
            shown += [_SHOWN.get(blank, DIFFERING) for blank in part]
    return "".join(shown)


def folded(
    hunks: Sequence[Hunk],
    most: int | None,
    around: int | None,
) -> Iterator[Line]:
    """The lines of hunks, with a number in place of unchanged lines that are far from
    any change.

    Args:
        hunks: The diff.
        most: How many changes to show; None for all.
        around: How many unchanged lines to show before and after each change; None for
            all.
    """
    changed = [place for place, hunk in enumerate(hunks) if is_change(hunk)]
    end = len(hunks)
    left_out = 0
    if (
        most is not None and len(changed) > most + 1
    ):  # a line for one more change would save none
        end = changed[most - 1] + 1
        left_out = len(changed) - most
    reach = len(hunks) if around is None else around
    shown = {place for place, hunk in enumerate(hunks) if hunk[0][0] == "…"}
    for place in changed:
        if place < end:
            shown.update(range(place - reach, place + reach + 1))
    for is_shown, group in groupby(range(end), shown.__contains__):
        places = list(group)
        if is_shown or len(places) == 1:
            for place in places:
                yield from hunks[place]
        else:
            yield "…", f"{len(places)} more the same"
    if left_out:
        yield "…", f"{left_out} more changes"


def is_change(hunk: Hunk) -> bool:
    """Whether the lines of a hunk differ between both sides."""
    mark, _ = hunk[0]
    return mark in ("-", "+")
