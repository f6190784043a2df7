"""What stands in an answer beside its list and contradicts it: then nothing is read, since a guess
may be wrong.
"""

import re
from collections.abc import Sequence

_CHOOSES = re.compile(
    r"\b(?:rank\w*|order\w*|choos\w+|choice|picks?|go with|suggest\w*|recommend\w*|first|then|follow\w*|next|best|winner|top|announc\w+|"
    r"beats?|enjoy|prefer\w*|final\w*|therefore|answer|lastly|third|runner)\b|^\W*so\b|\s[>≻]\s|推荐|排名|おすすめ|順位|추천|лучш|рекоменд"
)
"""Words of a sentence that says a ranking, in lower case."""

_CORRECTS = re.compile(
    r"^\W*(?:wait|hmm+|oops|actually|correction|edit|self.?check|scrap that|on reflection|on second thought|no wait|p\.?s\.?|one change|change after|"
    r"after (?:double|re-?check|review)|(?:let me )?double.?check\w*|verification|(?:now|next),? (?:i|let me|we)\b.{0,20}\b(?:rank|re-?rank|sort|order))\b|"
    r"\b(?:other way round|i made a mistake|no wait|actually no)\b|訂正|更正|정정|исправл"
)
"""Words with which a list is changed after it was written."""
_CHANGES = re.compile(r"\b(?:swap(?:ped)?|scrap|replaces?|drop|reversed?|interchanged?|i remove|(?:should|must) come|go(?:es)? first|mov(?:e|ed|ing)\b.{0,40}"
    r"\b(?:front|top|up|down|end))\b")
_OFFERS = re.compile(r"\b(?:let me know|if you|feel free|would you|happy to|i can|want me)\b")
"""Words of a sentence that only offers to change a list."""

_UPWARDS = re.compile(
    r"\b(?:least|worst|lowest|weakest|bottom)\b[^.\n]{0,40}\bto\b[^.\n]{0,30}\b(?:most|best|highest|strongest|top)\b|\bascending\b|\bincreasing\b|\b(?:lowest|least|worst|weakest) first\b|\b\d+ ?= ?(?:the )?(?:best|highest|most)\b|at the bottom\b|\bnumber \d\d? "
    r"(?:is|being) (?:my|the) (?:best|strongest|top|favou?rite)\b|"
    r"\breversed? order\b|\bfrom the bottom\b|худш\w+ к лучш|peor a mejor|schlechtesten|du pire|peggiore al|从低到高|由低到高"
)
"""Words of a list that ends with the best."""

_NEGATES = re.compile(
    r"\b(?:not|never|exclud\w+|avoid\w*|rather than|instead|unsuitable|bad|worse|worst|left out|leave out|leaving out|except|"
    r"beats?|better than|over (?:both|all|either)|if you|unlike|skip|already seen|similar to|given that|favou?rite|close, but|out of stock|above all|preceded|behind|ahead of)\b|n't\b|\b(?:before|after)\s{2}"
)
"""Words of a sentence whose titles are not its ranking."""

_REJECTED = re.compile(
    r"\b(?:not (?:an? )?(?:good |great |strong )?(?:fit|match|recommended|suitable)|already (?:seen|watched|owned|read|played)|"
    r"poor fit|bad fit|don't recommend|would skip)\b|[:：–-]\s*(?:skip|no|avoid|reject\w*)\W*$"
)
_BAD, _CHECKED, _OPEN = (re.compile(each) for each in ("❌|👎|🚫|✖|⛔", r"\[[xX]\]", r"\[ \]"))
_ORDINAL = re.compile(
    r"\b(first|second|third|fourth|fifth|sixth|last|worst|best|middle|winner|runner-up)\b|(?:\brank(?:ed)?\s?[:#]?\s?|#|\|\s?)"
    r"\(?(\d{1,2})\b|\b(\d{1,2})(?:st|nd|rd|th)\b|第\s?(\d{1,2})|\b(\d{1,2})\s?(?:место|위|位)|([🥇🥈🥉])"
)


def _numbered(groups: Sequence[str], first: int) -> dict[str, int]:
    return {word: at for at, words in enumerate(groups, first) for word in words.split()}


_WORDS = _numbered(
    ("first best winner 🥇", "second runner-up 🥈", "third 🥉", "fourth", "fifth", "sixth"), 1
)
_GRADES = _numbered(
    (
        "no n false low weak poor bad skip rejected reject drop dropped excluded exclude irrelevant unselected ❌ ✗ ✘ 👎",
        "maybe medium moderate ok okay fair average",
        "yes y true high strong good great selected select keep kept included include relevant ✅ ✓ ✔ 👍",
    ),
    0,
)
_GRADE = re.compile(
    rf"(?:^|[|:(–—-])\s*({'|'.join(_GRADES)})(?:\s(?:fit|match|pick))?\s*(?=[|).]|$)"
)
"""A cell, or the end of an entry, that says how good it is."""
_OTHER_ORDER = re.compile(
    r"\b(?:alphabet\w*|chronolog\w*|most recent|oldest|newest|random(?:ly| order)|count(?:ing)?.?down|(?:best|favou?rite|top pick|winner)"
    r"\b.{0,12}\blast|worst first|(?:sort|order|arrang|list|group)\w*\b.{0,12}\b(?:by|of)\s(?:the\s)?(?:release|year|date|title|name|length|"
    r"duration|price|genre|age|author|artist|era|decade)|by (?:release|year|date|title|name|length|price|genre))\b"
)
"""Words of a list in an order that is not that of its merit."""
_LABELS = re.compile(
    r"^\W*(?:no|maybe|middle|low|medium|weak(?:er|est)?|skip|avoid|[b-f]|tier\s\w|\w\s?tier|(?:round|level|score|grade)\s\d|bronze|lower|poor|"
    r"(?:places?|ranks?)\s\d+\W+(?:to\W+)?\d+|v\d)(?:\s\w+)?(?:\s?\([^()]*\))?\W{0,3}[:：]"
)
_REPLACES = re.compile(
    r"\b(?:wait|scratch|actually|sorry|i mean|oops|correction|replaced?|hmm+|vs|versus|beats?)\b|->|→"
)
"""Words between two titles of one entry."""
_BELOW = re.compile(r"\s(?:<|≺|<-|←)\s")
_SCORE = re.compile(
    r"(?P<of>\d{1,3}(?:[.,]\d{1,3})?)\s?(?:%|/\s?\d{1,3}\b)|[(:–|=-]\s*(?P<alone>\d{1,3}[.,]\d{1,3})\b|[:=]\s*(?P<last>\d{1,3})\W*$|"
    r"(?:score|similarity|distance|fit|match|relevance|confidence|rating)\W{0,3}(?P<named>\d{1,3}(?:[.,]\d{1,3})?)\b|(?P<stars>★+)|"
    r"(?P<unit>\d{1,3}(?:[.,]\d{1,3})?)\s?(?:points?|pts|stars?|votes?)\b"
)
_FEW = 4  # fewer letters beside titles say nothing
_ALONE = 12  # fewer characters beside a title are a mark: ``🥇``, ``Winner:``
_UPSIDE_DOWN = re.compile(
    r'<ol\b[^<>]{0,80}\breversed|"reversed?"\s*:\s*true|"order"\s*:\s*"asc', re.IGNORECASE
)
_NUMBERS = re.compile(
    r"(?<![\w.])#?(\d{1,3})(?:(?:,|\s*>|,?\s*(?:and|then))\s*#?(\d{1,3}))+(?![\w%])"
)


def of_text(text: str) -> str:
    """Why the list of an answer may not be in the order of its text."""
    return "it says that the best comes last" if _UPSIDE_DOWN.search(text) else ""


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
        numbered: Whether its entries have numbers, and it does not begin as the candidates do.
    """
    said = [each.casefold() for each in rests]
    partly = any(map(_CHECKED.search, entries)) and any(map(_OPEN.search, entries))
    told = (f"{a} | {b.casefold()}" for a, b in zip(said, beside, strict=True))
    grades = [_GRADES[found[1]] for found in map(_GRADE.search, told) if found]
    graded = len(grades) == len(said) and len(set(grades)) > 1
    graded = graded and (0 in grades or grades != sorted(grades, reverse=True))
    if graded or partly or any(map(_BAD.search, entries)) or any(map(_REJECTED.search, said)):
        return "some of its entries are marked as bad"
    if any(_LABELS.match(each) or _BELOW.search(each) for each in said):
        return "its parts have names that say no order"
    if any(many > 1 and _REPLACES.search(each) for many, each in zip(named, said, strict=True)):
        return "its entries name another item too"
    if _ranks_differ(said):
        return "its ranks and its order contradict each other"
    around = [line.casefold() for line in (*before, *(line for line, _ in behind))]
    around += said if len(said) == 1 else []
    if any(map(_UPWARDS.search, around)):
        return "it says that the best comes last"
    if any(map(_OTHER_ORDER.search, around)):
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
    if any(named and _NEGATES.search(line.casefold()) for line, named in lines):
        return "its sentences also name what they do not recommend"
    if any(named and _corrects(line.casefold().lstrip(), named) for line, named in lines):
        return "it corrects itself"
    return ""


def chooses(line: str) -> bool:
    """Whether a sentence recommends what it names."""
    return bool(_CHOOSES.search(line.casefold())) and not _NEGATES.search(line.casefold())


def _corrects(line: str, named: Sequence[int | None]) -> bool:
    """Whether a line, in lower case, changes the list before it."""
    if _OFFERS.search(line):
        return False
    changes = _CHANGES.search(line) and (named or any(map(str.isdecimal, line)))
    return bool(changes or _CORRECTS.search(line))


def _ranks_differ(rests: Sequence[str]) -> bool:
    """Whether every entry says a rank, or a sentence says several, and not in their order."""
    stated = [_ranks(each) for each in rests]
    ranks = stated[0] if len(stated) == 1 else [each[0] for each in stated if each]
    return 1 < len(ranks) >= len(stated) and ranks != sorted(ranks)


def _says_another(line: str, named: Sequence[int | None], numbers: int) -> bool:
    """Whether a line names items, or candidates' numbers, in another order than the list."""
    chooses = _CHOOSES.search(line.casefold())
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
    said = [next(filter(None, found.groups())) for found in _SCORE.finditer(text)]
    return [len(each) if "★" in each else float(each.replace(",", ".")) for each in said]


def _ranks(text: str) -> list[int]:
    said = [next(filter(None, found.groups())) for found in _ORDINAL.finditer(text)]
    return [int(each) if each.isdecimal() else _WORDS.get(each, 99) for each in said]
