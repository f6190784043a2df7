"""Sentences in an answer that take its list back, correct it, or say another ranking."""

import re
from collections.abc import Sequence

from pytest_recsys_mt.llm.reading.candidates_in_lines import Line
from pytest_recsys_mt.llm.reading.doubts_of_order import scores_in
from pytest_recsys_mt.llm.reading.doubts_words import (
    SAYS,
    SENTENCE,
    count_small,
    is_question,
)

_FEW = 4  # fewer letters next to titles say nothing
_NUMBERS = re.compile(
    r"(?<![\w.])#?(\d{1,3})(?:(?:,|\s*>|,?\s*(?:and|then))\s*#?(\d{1,3}))+(?![\w%])",
)
_LETTERS = re.compile(r"\b[A-Z](?:(?:,|\s*[>→]|,?\s(?:and|then))\s*[A-Z]\b){2,}")


def why_neighbours_contradict(
    rests: Sequence[str],
    before: Sequence[str],
    behind: Sequence[Line],
) -> str:
    """Why the lines around a list say that it is no list with the best first.

    Args:
        rests: The entries in lower case, without titles.
        before: The text that introduces the list.
        behind: The lines behind it.

    Returns:
        The reason; empty if there is none.
    """
    lines_before = [line.casefold() for line in before]
    lines_behind = [line.casefold() for line, _ in behind]
    around = [*lines_before, *lines_behind]
    if len(rests) == 1:
        around += rests
    refused = any(map(SAYS["declines"].search, lines_before))
    if refused or any(map(SAYS["withdraws"].search, lines_behind)):
        return "it declines to answer"
    scored = any(map(scores_in, rests))
    highest_last = not scored and any(map(SAYS["highest"].search, around))
    if highest_last or any(map(SAYS["upwards"].search, around)):
        return "it says that the best comes last"
    if any(map(SAYS["other_order"].search, around)):
        return "it says another order than that of the best"
    if any(map(is_question, before)):
        return "it asks a question"
    return ""


def why_corrected(behind: Sequence[Line], offered: int) -> str:
    """Why the lines behind a list may correct it.

    Args:
        behind: The lines behind the list.
        offered: How many candidates have a number.

    Returns:
        The reason; empty if there is none.
    """
    for line, places in behind:
        if _corrects(line.casefold(), places):
            return "it corrects its list afterwards"
        if _says_another(line, places, offered):
            return "a sentence behind the list says another ranking"
    return ""


def why_sentences_contradict(lines: Sequence[Line]) -> str:
    """Why an answer in sentences may not recommend all that
    it names; empty if there is no reason.
    """
    for line, named in lines:
        # Of a line with one title, the title may end so.
        if len(named) > 1 and is_question(line) and count_small(line) > SENTENCE:
            return "it asks a question"
    naming = [(line.casefold(), named) for line, named in lines if named]
    if any(SAYS["negates"].search(line) for line, _ in naming):
        return "its sentences also name what they do not recommend"
    if any(_corrects(line.lstrip(), named) for line, named in naming):
        return "it corrects itself"
    return ""


def chooses(line: str) -> bool:
    """Whether a sentence names the recommended items."""
    folded = line.casefold()
    return SAYS["chooses"].search(folded) is not None and not SAYS["negates"].search(
        folded,
    )


def _corrects(line: str, named: Sequence[int | None]) -> bool:
    """Whether a line in lower case, without titles, changes the list."""
    if SAYS["offers"].search(line):
        return False
    if SAYS["corrects"].search(line):
        return True
    if named and SAYS["rechecks"].search(line):
        return True
    names_entry = bool(named) or any(map(str.isdecimal, line))
    return names_entry and SAYS["changes"].search(line) is not None


def _says_another(line: str, named: Sequence[int | None], offered: int) -> bool:
    """Whether a line is another ranking, by titles, numbers or letters."""
    choosing = SAYS["chooses"].search(line.casefold()) is not None
    places = [place for place in named if place is not None]
    if len(named) > 1 and places:
        differs = len(places) < len(named) or places != sorted(places)
        if differs and (choosing or sum(map(str.isalpha, line)) < _FEW):
            return True
    if not choosing:
        return False
    numbers = _ranking_in(line)
    return numbers != sorted(numbers) and max(numbers) <= offered


def _ranking_in(line: str) -> list[int]:
    """The candidates' numbers in a ranking by letters, ``C > A >
    B``, or by numbers; empty if there is none.
    """
    letters = _LETTERS.search(line)
    if letters is not None:
        return [ord(letter) - 64 for letter in re.findall(r"\b[A-Z]\b", letters[0])]
    numbers = _NUMBERS.search(line)
    return [int(number) for number in re.findall(r"\d+", numbers[0])] if numbers else []
