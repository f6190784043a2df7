"""Numbers in an answer, such as ranks and scores, that
contradict the order of its list.
"""

import re
from collections.abc import Callable, Sequence

from pytest_recsys_mt.llm.reading.candidates_in_lines import CandidatesInLines
from pytest_recsys_mt.llm.reading.doubts_words import SAYS, YEAR, numbered
from pytest_recsys_mt.llm.reading.reader import Reader
from pytest_recsys_mt.llm.reading.wording import ORDINALS

_CARDINALS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
_NUMBER_WORDS = numbered(ORDINALS, 1) | numbered(_CARDINALS, 1)
_DIGIT = re.compile(r"\d")
_RANKS = 3  # fewest numbers that are ranks without a word that says so
_LONGEST = 3  # most digits of a rank


def why_ranks_contradict(in_lines: CandidatesInLines, rests: Sequence[str]) -> str:
    """Why numbers next to the entries may be their ranks, also in a column or field of
    another name.

    Args:
        in_lines: The items that the lines of the answer name.
        rests: The entries in lower case, without titles.

    Returns:
        The reason; empty if there is none.
    """

    def offered_numbers() -> list[int | None]:
        items = [in_lines.line(piece)[1] for piece in in_lines.entries]
        return [
            in_lines.reader.places.get(named[0]) if named else None for named in items
        ]

    if _ranks_differ(rests, offered_numbers):
        return "its ranks and its order contradict each other"
    if _end_in_another_order(in_lines, rests, offered_numbers):
        return "numbers behind its entries say another order"
    if any(piece.other_fields for piece in in_lines.entries):
        for numbers in _other_columns(in_lines):
            if _reorders(numbers, offered_numbers()):
                return "a column of numbers says another order"
    return ""


def _end_in_another_order(
    in_lines: CandidatesInLines,
    rests: Sequence[str],
    offered_numbers: Callable[[], Sequence[int | None]],
) -> bool:
    """Whether each entry has one number, and these are the ranks of another order."""
    if len(rests) < _RANKS or not all(map(_DIGIT.search, rests)):
        return False
    naming = [piece for piece in in_lines.entries if in_lines.line(piece)[1]]
    if 2 * len(naming) <= len(rests):
        return False
    numbers = _only_numbers(in_lines)
    return None not in numbers and _reorders(numbers, offered_numbers())


def _only_numbers(in_lines: CandidatesInLines) -> list[int | None]:
    """The number in each entry other than in its titles and years;
    None where there is not exactly one.
    """
    numbers = []
    for piece in in_lines.entries:
        found = re.findall(r"\d+", _without_titles(in_lines.reader, piece.text))
        numbers.append(_rank_in(found[0]) if len(found) == 1 else None)
    return numbers


def _without_titles(reader: Reader, text: str) -> str:
    for written, _ in reader.mentions(text):
        text = text.replace(written, " ")
    return YEAR.sub("", text)


def _other_columns(in_lines: CandidatesInLines) -> list[list[int | None]]:
    """The columns of numbers next to the entries that were
    read neither as ranks nor as scores.
    """
    scores = [
        None if piece.score is None else abs(piece.score) for piece in in_lines.entries
    ]
    known = [[piece.number for piece in in_lines.entries], scores]
    rows = [piece.other_fields.split(" | ") for piece in in_lines.entries]
    columns = []
    for column in zip(*rows, strict=False):
        cells = [cell.strip("*#. ") for cell in column]
        if any(cell.isalnum() and not cell.isdecimal() for cell in cells):
            continue
        numbers = [_rank_in(cell) for cell in cells]
        if numbers not in known:
            columns.append(numbers)
    return columns


def _rank_in(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= _LONGEST else None


def _reorders(numbers: Sequence[int | None], offered: Sequence[int | None]) -> bool:
    """Whether numbers are the ranks of some entries in another
    order, and not the candidates' numbers.
    """
    stated = [number for number in numbers if number is not None]
    if len(stated) < _RANKS or list(numbers) == list(offered):
        return False
    ranks = list(range(1, len(stated) + 1))
    return stated != ranks and sorted(stated) == ranks


def _ranks_differ(
    rests: Sequence[str],
    offered_numbers: Callable[[], Sequence[int | None]],
) -> bool:
    """Whether ranks behind the entries contradict their order; `offered_numbers` gives
    the candidates' numbers.
    """
    stated = [_ranks(rest) for rest in rests]
    ranks = (
        stated[0] if len(stated) == 1 else [numbers[0] for numbers in stated if numbers]
    )
    if len(ranks) < 2 or len(ranks) < len(stated) or ranks == sorted(ranks):
        return False
    # "(#18 on your list)", unless these could be ranks
    return ranks != offered_numbers() or sorted(ranks) == list(range(1, len(ranks) + 1))


def _ranks(text: str) -> list[int]:
    ranks = []
    for word in _matched(SAYS["ordinal"], text):
        ranks.append(int(word) if word.isdecimal() else _NUMBER_WORDS.get(word, 99))
    return ranks


def scores_in(text: str) -> list[float]:
    """The scores that a text states; stars are counted."""
    scores = []
    for word in _matched(SAYS["score"], text):
        scores.append(len(word) if "★" in word else float(word.replace(",", ".")))
    return scores


def _matched(pattern: re.Pattern[str], text: str) -> list[str]:
    """The text of the first group that took part, for each match."""
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]


def scores_fall_short(rests: Sequence[str]) -> bool:
    """Whether the scores behind all entries do not fall."""
    stated = [scores_in(rest) for rest in rests]
    scores = [numbers[0] for numbers in stated if numbers]
    if len(rests) == 1:  # "Heat (95%), Alien (97%)"
        scores = stated[0] if "%" in rests[0] else []
    if len(scores) < 2 or len(scores) < len(stated):
        return False
    falling = sorted(scores, reverse=True)
    places = list(range(1, len(scores) + 1))
    return scores not in (falling, places)
