"""What stands in an answer beside its list and contradicts it: then nothing is read, since a guess may be wrong."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from pytest_recsys_mt.llm.reading import comments
from pytest_recsys_mt.llm.reading.heard import Heard, Line, nothing_beside
from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.reader import Reader
from pytest_recsys_mt.llm.reading.wording import GRADES, ORDINALS, patterns

_SAYS = patterns(Path(__file__).with_name("doubts.toml"))


def _numbered(groups: Sequence[str], first: int) -> dict[str, int]:
    return {word: at for at, words in enumerate(groups, first) for word in words.split()}


_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = _numbered(ORDINALS, 1) | _numbered(_CARDINALS, 1)
_GRADES = _numbered(GRADES, 0)
_GRADE = re.compile(
    rf"(?:^|[|:(–—-])\s*({'|'.join(_GRADES)})(?:\s(?:fit|match|pick))?\s*(?=[|).]|$)"
)
"""A cell, or the end of an entry, that says how good it is."""
_BEGIN = re.compile(r"^(?:\d+[.)])?\W*")
_YEAR = re.compile(r"\(?\b(?:18|19|20)\d\d\b\)?")
_NO_MARK = re.compile(r"[\s:;,.!?'’\"“”&/–—\d-]")
_MARKS = 4  # more different words beside titles are comments
_FEW = 4  # fewer letters beside titles say nothing
_ALONE = 12  # fewer characters beside a title are a mark: ``🥇``, ``Winner:``
_RESTATED = 3  # fewest entries of the history, before others, that restate it
_DIGIT = re.compile(r"\d")
_RANKS = 3  # fewest numbers that are ranks without a word that says so
_LONGEST = 3  # most digits of a rank
_SENTENCE = 2  # most words in lower case beside a title, of what is no sentence
_SMALL = re.compile(r"\b[\da-z]*[a-z]\b")
_LETTERED = re.compile(r"[A-J][.)]\s")
_NUMBERS = re.compile(
    r"(?<![\w.])#?(\d{1,3})(?:(?:,|\s*>|,?\s*(?:and|then))\s*#?(\d{1,3}))+(?![\w%])"
)
_LETTERS = re.compile(r"\b[A-Z](?:(?:,|\s*[>→]|,?\s(?:and|then))\s*[A-Z]\b){2,}")


def of_text(text: str) -> str:
    """Why the list of an answer may not be in the order of its text."""
    return "it says that the best comes last" if _SAYS["upside_down"].search(text) else ""


def of_answer(
    reader: Reader, found: Sequence[Piece], taken: Sequence[Piece], names: Sequence[str]
) -> str:
    """Why the list of an answer may not be what it says; empty if nothing contradicts it.

    Args:
        reader: Has read the pieces in `taken`.
        found: The pieces that count, in their order.
        taken: Those of the list.
        names: The names of its parts.
    """
    if not reader.items() or nothing_beside(reader, found, names):
        return ""
    if any(piece.chain for piece in taken) and any(
        _LETTERED.match(piece.text) for piece in found if piece.place in ("line", "note")
    ):
        return "its letters are its own"
    if any(role_of(name) == "final" for name in names):  # whatever was thought before it
        first = next((at for at, piece in enumerate(found) if piece is taken[0]), 0)
        found = found[first:]
    heard = Heard(reader, found, taken)
    why = _of_parts(heard)
    if why or not (heard.own or heard.chains):
        return why
    return _of_lines(heard) or _of_list(heard, names)


def _of_parts(heard: Heard) -> str:
    reader = heard.reader
    if len(reader.items()) > reader.wanted and {*reader.items()[:_RESTATED]} <= reader.history:
        return "it begins with the history"
    if any(line.strip(" *_#:：").casefold() in _GRADES for line in heard.told):
        return "its parts have names that say no order"
    if any(_SAYS["replaced"].search(piece.text.casefold()) for piece in heard.chains):
        return "it corrects its list afterwards"
    if any(" = " in piece.text for piece in heard.chains):
        return "it ranks some items alike"
    return ""


def _of_lines(heard: Heard) -> str:
    own = [heard.said(piece) for piece in heard.own]
    wordy = [rest for rest, named in own if named and len(_SMALL.findall(rest)) > _SENTENCE]
    if heard.reader.names_none and 2 * len(wordy) > len(own):
        return "its entries name offered items among other words"
    if heard.begins and any(map(comments.is_refusal, heard.told)):
        return "it declines to answer"
    if any(len(heard.reader.lost_numbers(piece.text)) > 1 for piece in heard.own):
        return "its entries name other items too"
    if own and not heard.listed and (why := _of_sentences(own)):
        return why
    others, apart = set(heard.others), False  # whether a line says what stands below it
    for piece in heard.found[heard.first + 1 :]:
        rest, named = heard.line(piece)
        line = piece.place == "line"
        apart = apart or (line and not named)
        if line and (len(_SMALL.findall(rest)) > 1 or (apart and _mark(piece))):
            others.update({*named} - heard.inside)
    if others and heard.inside and len(heard.inside) < heard.reader.wanted:
        return "other items stand behind the list"
    before = [heard.said(piece) for piece in heard.found[: heard.first] if piece in heard]
    if heard.listed and any(None in places and _chooses(line) for line, places in before):
        return "a sentence before the list names another item"
    return ""


def _of_list(heard: Heard, names: Sequence[str]) -> str:
    said = [heard.line(piece)[0].casefold() for piece in heard.own]
    numbered = not heard.begins and any(piece.number is not None for piece in heard.listed)
    entries = {id(piece) for piece in heard.listed or heard.own[:1]}
    named = set[str]()
    for piece in () if heard.listed else heard.own:
        if not named.issuperset(heard.line(piece)[1]):
            entries.add(id(piece))
            named.update(heard.line(piece)[1])
    behind = [
        heard.said(piece)
        for piece in heard.found[heard.first + 1 :]
        if piece.place == "line" and piece in heard and id(piece) not in entries
    ]
    right_before = heard.found[max(0, heard.first - 2) : heard.first]
    before = [piece.text for piece in right_before if piece.place in ("line", "note")]
    before += [*names, *(piece.name for piece in heard.chains)]
    return (
        _of_entries(heard, said)
        or _of_marks(heard, behind)
        or _of_ranks(heard, said)
        or _of_neighbours(said, before, behind)
        or _of_places(behind)
        or (
            "its scores and its order contradict each other"
            if not numbered and _falls_short(said)
            else ""
        )
        or _of_corrections(behind, heard.reader.offered)
    )


def _of_entries(heard: Heard, said: Sequence[str]) -> str:
    entries = [piece.whole or piece.text for piece in heard.own]
    partly = 0 < sum(bool(_SAYS["checked"].search(each)) for each in entries) < len(entries)
    told = (f"{a} | {piece.beside.casefold()}" for a, piece in zip(said, heard.own, strict=True))
    grades = [_GRADES[found[1]] for found in map(_GRADE.search, told) if found]
    graded = len(grades) == len(said) and len(set(grades)) > 1
    graded = graded and (0 in grades or grades != sorted(grades, reverse=True))
    if (
        graded
        or partly
        or any(map(_SAYS["bad"].search, entries))
        or any(map(_SAYS["rejected"].search, said))
    ):
        return "some of its entries are marked as bad"
    columns = [
        (cell, heard.line(piece)[1]) for piece in heard.own for cell in piece.beside.split(" | ")
    ]
    others = [
        cell
        for cell, own in columns
        if (item := heard.reader.equal(cell))
        and item.id in heard.reader.titles
        and item.id not in own
    ]
    if 2 * len(others) > len(heard.own) > 1:
        return "another column names offered items too"
    begun = [_BEGIN.sub("", each).casefold() for each in entries]
    labels = [_SAYS["labels"].match(each) for each in said]  # one may stand in a comment, too
    if any(
        label and entry.startswith(_BEGIN.sub("", label[0]).rstrip(":： *_"))
        for label, entry in zip(labels, begun, strict=True)
    ) or any(map(_SAYS["below"].search, said)):
        return "its parts have names that say no order"
    if any(_names_another(heard.reader, piece.text) for piece in heard.own):
        return "its entries name another item too"
    return ""


def _names_another(reader: Reader, entry: str) -> bool:
    """Whether an entry names a second offered item in the place of the first, or as its equal."""
    if not _SAYS["replaces"].search(entry.casefold()):
        return False
    mentioned = reader.mentions(entry)
    rest = entry
    for written, _ in mentioned:
        rest = rest.replace(written, " ")
    return len(mentioned) > 1 and _SAYS["replaces"].search(rest.casefold()) is not None


def _of_marks(heard: Heard, behind: Sequence[Line]) -> str:
    rests = [
        f"{_mark(piece)} {rest}".casefold()
        for piece in heard.own
        for rest, named in [heard.line(piece)]
        if named and (piece in heard.listed or not any(map(str.isalnum, rest)))
    ]
    if len(rests) <= heard.reader.wanted:
        return ""
    if _some_are_marked(rests):
        return "some of its entries have marks or numbers that others lack"
    if any(len(named) > 1 or (named and _chooses(line)) for line, named in behind):
        return "a sentence says which of its entries are recommended"
    return ""


def _of_ranks(heard: Heard, said: Sequence[str]) -> str:
    """Why numbers beside the entries may be their ranks, also in a column or field of another name."""

    def own() -> list[int | None]:
        items = [heard.line(piece)[1] for piece in heard.own]
        return [heard.reader.places.get(each[0]) if each else None for each in items]

    if _ranks_differ(said, own):
        return "its ranks and its order contradict each other"
    digits = len(said) >= _RANKS and all(map(_DIGIT.search, said))
    if digits and 2 * sum(bool(heard.line(piece)[1]) for piece in heard.own) > len(said):
        rests = [_without_titles(heard.reader, piece.text) for piece in heard.own]
        alone = [re.findall(r"\d+", each) for each in rests]
        numbers = [_number(each[0]) if len(each) == 1 else None for each in alone]
        if None not in numbers and _reorders(numbers, own()):
            return "numbers behind its entries say another order"
    if not any(piece.beside for piece in heard.own):
        return ""
    scores = [None if piece.score is None else abs(piece.score) for piece in heard.own]
    known = [[piece.number for piece in heard.own], scores]
    for column in zip(*(piece.beside.split(" | ") for piece in heard.own), strict=False):
        cells = [cell.strip("*#. ") for cell in column]
        if any(cell and cell.isalnum() and not cell.isdecimal() for cell in cells):
            continue
        numbers = [_number(cell) for cell in cells]
        if numbers not in known and _reorders(numbers, own()):
            return "a column of numbers says another order"
    return ""


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= _LONGEST else None


def _without_titles(reader: Reader, text: str) -> str:
    for written, _ in reader.mentions(text):
        text = text.replace(written, " ")
    return _YEAR.sub("", text)


def _reorders(numbers: Sequence[int | None], own: Sequence[int | None]) -> bool:
    """Whether numbers are the ranks of some entries in another order, and not the candidates' numbers."""
    said = [each for each in numbers if each is not None]
    ranks = list(range(1, len(said) + 1))
    return len(said) >= _RANKS and said != ranks == sorted(said) and [*numbers] != [*own]


def _of_neighbours(said: Sequence[str], before: Sequence[str], behind: Sequence[Line]) -> str:
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
    return ""


def _of_places(behind: Sequence[Line]) -> str:
    alone = [
        places[0]
        for line, places in behind
        if len(places) == 1 and len(line.strip(" *_#:.-")) < _ALONE
    ]
    if len(alone) > 1 and (None in alone or alone != sorted(alone)):  # type: ignore[type-var]
        return "another list stands behind it"
    return ""


def _of_corrections(behind: Sequence[Line], numbers: int) -> str:
    for line, places in behind:
        if _corrects(line.casefold(), places):
            return "it corrects its list afterwards"
        if _says_another(line, places, numbers):
            return "a sentence behind the list says another ranking"
    return ""


def _of_sentences(lines: Sequence[Line]) -> str:
    for line, named in lines:
        asks = line.rstrip(" *_").endswith(("?", "？")) and len(_SMALL.findall(line)) > _SENTENCE
        if len(named) > 1 and asks:  # of one, the title may end so
            return "it asks a question"
    if any(named and _SAYS["negates"].search(line.casefold()) for line, named in lines):
        return "its sentences also name what they do not recommend"
    if any(named and _corrects(line.casefold().lstrip(), named) for line, named in lines):
        return "it corrects itself"
    return ""


def _chooses(line: str) -> bool:
    return bool(_SAYS["chooses"].search(line.casefold())) and not _SAYS["negates"].search(
        line.casefold()
    )


def _mark(piece: Piece) -> str:
    before = piece.whole[: -len(piece.text)] if piece.whole.endswith(piece.text) else ""
    return re.sub(r"[\w.()]", "", before)


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


def _ranks_differ(rests: Sequence[str], own: Callable[[], Sequence[int | None]]) -> bool:
    """Whether ranks behind the entries contradict their order; `own` gives the candidates' numbers."""
    stated = [_ranks(each) for each in rests]
    ranks = stated[0] if len(stated) == 1 else [each[0] for each in stated if each]
    if not 1 < len(ranks) >= len(stated) or ranks == sorted(ranks):
        return False
    # "(#18 on your list)", unless these could be ranks
    return ranks != own() or sorted(ranks) == list(range(1, len(ranks) + 1))


def _says_another(line: str, named: Sequence[int | None], numbers: int) -> bool:
    chooses = _SAYS["chooses"].search(line.casefold())
    places = [place for place in named if place is not None]
    differs = len(places) < len(named) or places != sorted(places)
    if len(named) > 1 and places and differs and (chooses or sum(map(str.isalpha, line)) < _FEW):
        return True
    found = _NUMBERS.search(line) if chooses else None
    said = [int(each) for each in re.findall(r"\d+", found[0])] if found else []
    if chooses and (letters := _LETTERS.search(line)):
        said = [ord(each) - 64 for each in re.findall(r"\b[A-Z]\b", letters[0])]
    return said != sorted(said) and max(said) <= numbers


def _falls_short(rests: Sequence[str]) -> bool:
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
