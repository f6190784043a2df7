"""What stands in an answer beside its list and contradicts it: then nothing is read, since a guess
may be wrong.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from pytest_recsys_mt.llm.reading.wording import GRADES, ORDINALS, patterns

_SAYS = patterns(Path(__file__).with_name("doubts.toml"))


def _numbered(groups: Sequence[str], first: int) -> dict[str, int]:
    return {word: at for at, words in enumerate(groups, first) for word in words.split()}


_WORDS, OF_GRADES = _numbered(ORDINALS, 1), _numbered(GRADES, 0)
_GRADE = re.compile(
    rf"(?:^|[|:(–—-])\s*({'|'.join(OF_GRADES)})(?:\s(?:fit|match|pick))?\s*(?=[|).]|$)"
)
"""A cell, or the end of an entry, that says how good it is."""
_BEGIN = re.compile(r"^(?:\d+[.)])?\W*")
_YEAR = re.compile(r"\(?\b(?:18|19|20)\d\d\b\)?")
_NO_MARK = re.compile(r"[\s:;,.!?'’\"“”&/–—\d-]")
_MARKS = 4  # more different words beside titles are comments
_FEW = 4  # fewer letters beside titles say nothing
_ALONE = 12  # fewer characters beside a title are a mark: ``🥇``, ``Winner:``
_NUMBERS = re.compile(
    r"(?<![\w.])#?(\d{1,3})(?:(?:,|\s*>|,?\s*(?:and|then))\s*#?(\d{1,3}))+(?![\w%])"
)


def of_text(text: str) -> str:
    """Why the list of an answer may not be in the order of its text."""
    return "it says that the best comes last" if _SAYS["upside_down"].search(text) else ""


Line = tuple[str, Sequence[int | None]]
"""A line without the titles of offered items, and the places in the list of those that it names, if they have one."""


def of_list(
    entries: Sequence[str],
    rests: Sequence[str],
    named: Sequence[int],
    beside: Sequence[str],
    before: Sequence[str],
    behind: Sequence[Line],
    numbers: int,
    longer: Sequence[str],
    *,
    numbered: bool,
) -> str:
    """Why a list may not be the answer; empty if nothing contradicts it.

    Args:
        entries: Its entries as they are written.
        rests: The same without their titles.
        named: How many titles each has.
        beside: What the data say of each elsewhere.
        before: The lines right before it, and its name.
        behind: The lines behind it.
        numbers: How many candidates have a number.
        longer: The rests of the entries again, if they are more than were asked for.
        numbered: Whether its entries have numbers, and it does not begin as the candidates do.
    """
    said = [each.casefold() for each in rests]
    partly = 0 < sum(bool(_SAYS["checked"].search(each)) for each in entries) < len(entries)
    told = (f"{a} | {b.casefold()}" for a, b in zip(said, beside, strict=True))
    grades = [OF_GRADES[found[1]] for found in map(_GRADE.search, told) if found]
    graded = len(grades) == len(said) and len(set(grades)) > 1
    graded = graded and (0 in grades or grades != sorted(grades, reverse=True))
    if (
        graded
        or partly
        or any(map(_SAYS["bad"].search, entries))
        or any(map(_SAYS["rejected"].search, said))
    ):
        return "some of its entries are marked as bad"
    begun = [_BEGIN.sub("", each).casefold() for each in entries]
    labels = [_SAYS["labels"].match(each) for each in said]  # one may stand in a comment, too
    if any(
        label and entry.startswith(_BEGIN.sub("", label[0]).rstrip(":： *_"))
        for label, entry in zip(labels, begun, strict=True)
    ) or any(map(_SAYS["below"].search, said)):
        return "its parts have names that say no order"
    if any(
        many > 1 and _SAYS["replaces"].search(each) for many, each in zip(named, said, strict=True)
    ):
        return "its entries name another item too"
    if longer and _some_are_marked([each.casefold() for each in longer]):
        return "some of its entries have marks or numbers that others lack"
    if longer and any(len(named) > 1 or (named and chooses(line)) for line, named in behind):
        return "a sentence says which of its entries are recommended"
    if _ranks_differ(said):
        return "its ranks and its order contradict each other"
    around = [line.casefold() for line in (*before, *(line for line, _ in behind))]
    around += said if len(said) == 1 else []
    lines = [line.casefold() for line, _ in behind]
    refused = any(_SAYS["declines"].search(line.casefold()) for line in before)
    if refused or any(map(_SAYS["withdraws"].search, lines)):
        return "it declines to answer"
    scored = any(map(_scores, said))
    if any(
        _SAYS["upwards"].search(line) or (not scored and _SAYS["highest"].search(line))
        for line in around
    ):
        return "it says that the best comes last"
    if any(map(_SAYS["other_order"].search, around)):
        return "it says another order than that of the best"
    if any(line.rstrip(" *_").endswith(("?", "？")) for line in before):
        return "it asks a question"
    alone = [
        places[0]
        for line, places in behind
        if len(places) == 1 and len(line.strip(" *_#:.-")) < _ALONE
    ]
    if len(alone) > 1 and (None in alone or alone != sorted(alone)):  # type: ignore[type-var]
        return "another list stands behind it"
    if not numbered and _falls_short(said):
        return "its scores and its order contradict each other"
    for line, places in behind:
        if _corrects(line.casefold(), places):
            return "it corrects its list afterwards"
        if _says_another(line, places, numbers):
            return "a sentence behind the list says another ranking"
    return ""


def of_sentences(lines: Sequence[Line]) -> str:
    """Why the titles in sentences may not be the answer."""
    if any(named and _SAYS["negates"].search(line.casefold()) for line, named in lines):
        return "its sentences also name what they do not recommend"
    if any(named and _corrects(line.casefold().lstrip(), named) for line, named in lines):
        return "it corrects itself"
    return ""


def chooses(line: str) -> bool:
    """Whether a sentence recommends what it names."""
    return bool(_SAYS["chooses"].search(line.casefold())) and not _SAYS["negates"].search(
        line.casefold()
    )


def _corrects(line: str, named: Sequence[int | None]) -> bool:
    if _SAYS["offers"].search(line):
        return False
    if named and _SAYS["rechecks"].search(line):
        return True
    changes = _SAYS["changes"].search(line) and (named or any(map(str.isdecimal, line)))
    return bool(changes or _SAYS["corrects"].search(line))


def _some_are_marked(rests: Sequence[str]) -> bool:
    """Whether entries differ in a mark, ``✓`` or "recommended", or a number, and not part by part."""
    rests = [_YEAR.sub("", each) for each in rests]
    marks = [_NO_MARK.sub("", each) for each in rests]
    numbers = [re.findall(r"\d+(?:[.,]\d+)?", each) for each in rests]
    if len({*marks}) == 1 and 0 in (sizes := {*map(len, numbers)}) and len(sizes) == 2:
        return True
    if len({*marks}) == 1 and {*map(len, numbers)} == {1}:
        values = [float(each[0].replace(",", ".")) for each in numbers]
        return len({*values}) > 1 and values not in (sorted(values), sorted(values, reverse=True))
    counts = Counter(marks)
    few = 1 < len(counts) <= _MARKS and min(counts.values()) > 1
    return few and len([*groupby(marks)]) > len(counts)


def _ranks_differ(rests: Sequence[str]) -> bool:
    """Whether every entry says a rank, or a sentence says several, and not in their order."""
    stated = [_ranks(each) for each in rests]
    ranks = stated[0] if len(stated) == 1 else [each[0] for each in stated if each]
    return 1 < len(ranks) >= len(stated) and ranks != sorted(ranks)


def _says_another(line: str, named: Sequence[int | None], numbers: int) -> bool:
    """Whether a line names items, or candidates' numbers, in another order than the list."""
    chooses = _SAYS["chooses"].search(line.casefold())
    places = [place for place in named if place is not None]
    differs = len(places) < len(named) or places != sorted(places)
    if len(named) > 1 and places and differs and (chooses or sum(map(str.isalpha, line)) < _FEW):
        return True
    found = _NUMBERS.search(line) if chooses else None
    said = [int(each) for each in re.findall(r"\d+", found[0])] if found else []
    return said != sorted(said) and max(said) <= numbers


def _falls_short(rests: Sequence[str]) -> bool:
    """Whether every entry has a score, and the best does not stand first."""
    stated = [_scores(each) for each in rests]
    scores = [each[0] for each in stated if each]
    if len(rests) == 1:  # "Heat (95%), Alien (97%)"
        scores = stated[0] if "%" in rests[0] else []
    if not 1 < len(scores) >= len(stated):
        return False
    return scores not in (sorted(scores, reverse=True), list(range(1, len(scores) + 1)))


def _scores(text: str) -> list[float]:
    said = [next(filter(None, found.groups())) for found in _SAYS["score"].finditer(text)]
    return [len(each) if "★" in each else float(each.replace(",", ".")) for each in said]


def _ranks(text: str) -> list[int]:
    said = [next(filter(None, found.groups())) for found in _SAYS["ordinal"].finditer(text)]
    return [int(each) if each.isdecimal() else _WORDS.get(each, 99) for each in said]
