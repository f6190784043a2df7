"""What differs between a request and its follow-up, as `report.asked` has them: a diff of each part."""

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Literal, NamedTuple

from pytest_recsys_mt.wording import plural

Mark = Literal[" ", "-", "+", "…"]
"""Like the first column of a diff: both sides have the line, only the request, only the follow-up;
"…" stands for lines that are left out, and its text says how many."""

Line = tuple[Mark, str]

Hunk = tuple[Line, ...]
"""The lines of one change, never parted; or one line that both sides have."""

Entry = tuple[Hashable, str]
"""An entry of a list: what it is, and how it is written."""

SAME = "the same request on both sides"
"""What to say if nothing differs."""

MANY_WORDS = 1000
"""In a line of more words, frequent ones are not compared: that would take too long."""

Numbered = tuple[Hashable, int]
"""What an entry is, and how many of the same came before it."""

AROUND = 1
"""Unchanged lines shown before and after a change."""

LONG = 68
"""A line of text with more characters is shown only around its changes, if it changes a little."""

ALIKE = 0.5
"""Two lines are one line that changed if they share at least this proportion of their characters."""

WORDS = 3
"""Unchanged words shown before and after a change within a long line."""


class Change(NamedTuple):
    """The diff of one part of a request."""

    part: str
    lines: tuple[Line, ...]


def changes(
    source: Mapping[str, Any],
    followup: Mapping[str, Any],
    *,
    most: int | None = None,
    around: int | None = AROUND,
) -> list[Change]:
    """The parts of a request that differ, in the order of `report.asked`.

    An item that only changed its place has one line, marked "+", which says from where it moved.
    """
    return [
        Change(part, tuple(_folded(hunks, most, around)))
        for part, hunks in _parts(source, followup)
        if any(map(_changes, hunks))
    ]


def _parts(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, list[Hunk]]]:
    whole = one.get("candidates") is None or other.get("candidates") is None

    def plain(part: str, lines: Any) -> tuple[str, list[Hunk]]:
        old, new = ([(text, text) for text in lines(side)] for side in (one, other))
        return part, _list_diff(old, new)

    def text(part: str, lines: Any) -> tuple[str, list[Hunk]]:
        return part, _text_diff(lines(one), lines(other))

    yield plain("user", lambda side: _some(side.get("user")))
    old, new = (_rated(side, "") for side in (one, other))
    if old == new:  # times are shown if anything else of the history is the same
        old, new = (_rated(side, ", at {}") for side in (one, other))
    yield "history", _list_diff(old, new)
    yield plain("scale", lambda side: _some(_scale(side.get("scale"))))
    yield "candidates", _list_diff(_offered(one, whole), _offered(other, whole))
    yield plain("seen", lambda side: side.get("seen") or [])
    yield plain("k", lambda side: _some(side.get("k")))
    yield text("instruction", lambda side: _lines(side.get("instruction")))
    yield plain("edits", lambda side: side.get("edits") or [])
    yield plain("attributes", lambda side: _facts(side.get("attributes")))
    yield text("prompt", lambda side: _messages(side.get("prompt")))


def _some(value: object) -> list[str]:
    return [] if value in (None, "") else [str(value)]


def _lines(text: object) -> list[str]:
    return str(text).split("\n") if text else []


def _scale(scale: Sequence[float] | None) -> str:
    return f"{scale[0]:g} to {scale[1]:g}" if scale else ""


def _facts(attributes: Mapping[str, Any] | None) -> list[str]:
    return [f"{key}: {value}" for key, value in (attributes or {}).items()]


def _messages(prompt: Sequence[Mapping[str, Any]] | None) -> list[str]:
    lines = []
    for message in prompt or ():
        lines += [f"[{message['role']}]"] if len(prompt or ()) > 1 else []
        lines += [f"[image {image}]" for image in message.get("images") or ()]
        lines += str(message["content"]).split("\n")
    return lines


def _rated(side: Mapping[str, Any], when: str) -> list[Entry]:
    found = []
    for each in side.get("history") or []:
        rating = f"{_title(each)}: {float(each['rating']):.10g}"
        found.append((each["item"], rating + when.format(each.get("timestamp"))))
    return found


def _title(entry: Mapping[str, Any]) -> str:
    told = entry.get("attributes")
    beside = f" {{{', '.join(_facts(told))}}}" if told else ""
    return f"{entry.get('title') or entry['item']}{beside}"


def _offered(side: Mapping[str, Any], whole: bool) -> list[Entry]:
    offered = side.get("candidates")
    if offered is None:
        return [(None, the_catalogue(side))]
    if whole:
        return [(None, f"{len(offered)} {called(side)}")]
    return [(item["item"], _title(item)) for item in offered]


def called(side: Mapping[str, Any], count: int = 2) -> str:
    """What so many items of the data are called."""
    thing = str(side.get("thing") or "item")
    return thing if count == 1 else plural(thing)


def the_catalogue(side: Mapping[str, Any]) -> str:
    """What an open question lets a recommender choose from, except what its history shows."""
    seen = len(side.get("seen") or ())
    more = f" but {seen} more {called(side, seen)} that the user has"
    return "the whole catalogue" + (more if seen else "")


def _list_diff(old: Sequence[Entry], new: Sequence[Entry]) -> list[Hunk]:
    before, after = _numbered(old), _numbered(new)
    left, right = list(before.items()), list(after.items())
    hunks: list[Hunk] = []
    if len(old) > 1 and old != new and Counter(old) == Counter(new):
        hunks.append(_only("…", f"the same {len(old)}, in another order"))
    i = j = 0
    for a, b in [*_in_order(before, after), (len(old), len(new))]:
        hunks += [_only("-", old[place][1]) for key, place in left[i:a] if key not in after]
        for key, place in right[j:b]:
            if key not in before:
                hunks.append(_only("+", new[place][1]))
                continue
            was = before[key]
            told = f"{new[place][1]} (moved from {was + 1} to {place + 1})"
            changed = () if old[was][1] == new[place][1] else _only("-", old[was][1])
            hunks.append((*changed, ("+", told)))
        if a < len(old) and b < len(new):
            same = old[a][1] == new[b][1]
            hunks.append(_only(" ", new[b][1]) if same else (("-", old[a][1]), ("+", new[b][1])))
        i, j = a + 1, b + 1
    return hunks


def _only(mark: Mark, text: str) -> Hunk:
    return ((mark, text),)


def _numbered(entries: Sequence[Entry]) -> dict[Numbered, int]:
    count = Counter[Hashable]()
    places = {}
    for place, (key, _) in enumerate(entries):
        places[key, count[key]] = place
        count[key] += 1
    return places


def _in_order(
    before: Mapping[Numbered, int], after: Mapping[Numbered, int]
) -> list[tuple[int, int]]:
    both = [(before[key], place) for key, place in after.items() if key in before]
    ends: list[int] = []  # the smallest last place of an increasing subsequence of each length
    last: list[int] = []  # its position in `both`
    earlier: list[int | None] = []
    for at, (place, _) in enumerate(both):
        length = bisect_left(ends, place)
        earlier.append(last[length - 1] if length else None)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [at]
    kept = []
    here = last[-1] if last else None
    while here is not None:
        kept.append(both[here])
        here = earlier[here]
    return kept[::-1]


def _text_diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    hunks: list[Hunk] = []
    matcher = difflib.SequenceMatcher(None, old, new)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            hunks += [_only(" ", line) for line in old[a:b]]
        elif b - a == d - c:
            for pair in zip(old[a:b], new[c:d], strict=True):
                hunks += _line_diff(*pair)
        else:
            hunks += [_only("-", line) for line in old[a:b]]
            hunks += [_only("+", line) for line in new[c:d]]
    return hunks


def _line_diff(old: str, new: str) -> list[Hunk]:
    if "".join(old.split()) == "".join(new.split()):
        old, new = _visible(old, new), _visible(new, old)
    whole: list[Hunk] = [(("-", old), ("+", new))]
    if max(len(old), len(new)) <= LONG:
        return whole
    before, after = (re.findall(r"\s*\S+\s*", line) for line in (old, new))
    if difflib.SequenceMatcher(None, old, new).quick_ratio() < ALIKE:
        return whole
    hunks: list[Hunk] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(before) > MANY_WORDS)
    for group in matcher.get_grouped_opcodes(WORDS):
        first, last = group[0], group[-1]
        spans = ((before, first[1], last[2]), (after, first[3], last[4]))
        parts = [
            ("… " if start else "")
            + "".join(tokens[start:end]).strip()
            + (" …" if end < len(tokens) else "")
            for tokens, start, end in spans
        ]
        hunks.append((("-", parts[0]), ("+", parts[1])))
    return hunks


DIFFERING = "·"
"""A blank, in two lines that differ in blanks alone, if the other line lacks it there."""

_SHOWN = {"\t": "→", "\u00a0": "⍽"}


def _visible(line: str, other: str) -> str:
    """A line that differs from another one in blanks alone, with these blanks as visible characters."""
    told = ""
    gaps = [re.split(r"(\S)", each) for each in (line, other)]  # blanks, character, blanks, ...
    for own, there in zip(*gaps, strict=True):
        told += own if own == there else "".join(_SHOWN.get(blank, DIFFERING) for blank in own)
    return told


def _folded(hunks: Sequence[Hunk], most: int | None, around: int | None) -> Iterator[Line]:
    changed = [at for at, hunk in enumerate(hunks) if _changes(hunk)]
    end, further = len(hunks), 0
    if most is not None and len(changed) > most + 1:  # no line is saved on one
        end, further = changed[most - 1] + 1, len(changed) - most
    reach = len(hunks) if around is None else around
    shown = {near for at in changed if at < end for near in range(at - reach, at + reach + 1)} | {
        at for at, hunk in enumerate(hunks) if hunk[0][0] == "…"
    }
    for is_shown, group in groupby(range(end), shown.__contains__):
        places = list(group)
        if is_shown or len(places) == 1:
            yield from chain.from_iterable(hunks[at] for at in places)
        else:
            yield "…", f"{len(places)} more the same"
    if further:
        yield "…", f"{further} more changes"


def _changes(hunk: Hunk) -> bool:
    return hunk[0][0] in ("-", "+")
