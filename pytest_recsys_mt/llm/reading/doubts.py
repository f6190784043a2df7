"""The parts of an answer that contradict its list: then nothing is read, since a
guess may be wrong.
"""

import re
from collections.abc import Sequence

from pytest_recsys_mt.llm.reading import comments
from pytest_recsys_mt.llm.reading.candidates_in_lines import (
    CandidatesInLines,
    Line,
    is_bare_list,
)
from pytest_recsys_mt.llm.reading.doubts_of_entries import (
    GRADE_WORDS,
    some_are_marked,
    why_entries_contradict,
)
from pytest_recsys_mt.llm.reading.doubts_of_order import (
    scores_fall_short,
    why_ranks_contradict,
)
from pytest_recsys_mt.llm.reading.doubts_of_sentences import (
    chooses,
    why_corrected,
    why_neighbours_contradict,
    why_sentences_contradict,
)
from pytest_recsys_mt.llm.reading.doubts_words import (
    SAYS,
    SENTENCE,
    count_small,
    mark_of,
)
from pytest_recsys_mt.llm.reading.line import Piece
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.reader import Reader

_ALONE = 12  # fewer characters next to a title are a mark: ``🥇``, ``Winner:``
_RESTATED = 3  # fewest entries of the history, before others, that restate it
_LETTERED = re.compile(r"[A-J][.)]\s")


def of_text(text: str) -> str:
    """Why the list of an answer may not be in the order of its text."""
    return (
        "it says that the best comes last" if SAYS["upside_down"].search(text) else ""
    )


def of_answer(
    reader: Reader,
    found: Sequence[Piece],
    taken: Sequence[Piece],
    names: Sequence[str],
) -> str:
    """Why the list of an answer may not be meant as it is written.

    Args:
        reader: Has read the pieces in `taken`.
        found: The pieces that count, in their order.
        taken: Those of the list.
        names: The names of its parts.

    Returns:
        The reason; empty if nothing contradicts it.
    """
    if not reader.items() or is_bare_list(reader, found, names):
        return ""
    if any(piece.chain for piece in taken) and any(map(_is_lettered, found)):
        return "its letters are its own"
    if any(role_of(name) == "final" for name in names):
        # The thinking before it does not count.
        found = found[found.index(taken[0]) :] if taken[0] in found else found
    in_lines = CandidatesInLines(reader, found, taken)
    why = _of_parts(in_lines)
    if why or not (in_lines.entries or in_lines.chains):
        return why
    return _of_lines(in_lines) or _of_list(in_lines, names)


def _is_lettered(piece: Piece) -> bool:
    return piece.place in ("line", "note") and _LETTERED.match(piece.text) is not None


def _of_parts(in_lines: CandidatesInLines) -> str:
    """Why the list may be the history, groups without an
    order, or a chain that is corrected.
    """
    items = in_lines.reader.items()
    if (
        len(items) > in_lines.reader.wanted
        and set(items[:_RESTATED]) <= in_lines.reader.history
    ):
        return "it begins with the history"
    if any(text.strip(" *_#:：").casefold() in GRADE_WORDS for text in in_lines.texts):
        return "its parts have names that say no order"
    if any(SAYS["replaced"].search(piece.text.casefold()) for piece in in_lines.chains):
        return "it corrects its list afterwards"
    if any(" = " in piece.text for piece in in_lines.chains):
        return "it ranks some items alike"
    return ""


def _of_lines(in_lines: CandidatesInLines) -> str:
    """Why the items that lines name may not be those of the list."""
    entries = [in_lines.placed(piece) for piece in in_lines.entries]
    if in_lines.reader.names_none:
        wordy = sum(
            bool(named) and count_small(rest) > SENTENCE for rest, named in entries
        )
        if 2 * wordy > len(entries):
            return "its entries name offered items among other words"
    if in_lines.keeps_order and any(map(comments.is_refusal, in_lines.texts)):
        return "it declines to answer"
    if any(
        len(in_lines.reader.lost_numbers(piece.text)) > 1 for piece in in_lines.entries
    ):
        return "its entries name other items too"
    if entries and not in_lines.listed:
        why = why_sentences_contradict(entries)
        if why:
            return why
    if (
        in_lines.inside
        and len(in_lines.inside) < in_lines.reader.wanted
        and _others_behind(in_lines)
    ):
        return "other items stand behind the list"
    if in_lines.listed and _is_another_chosen_before(in_lines):
        return "a sentence before the list names another item"
    return ""


def _others_behind(in_lines: CandidatesInLines) -> set[str]:
    """The offered items that sentences and marked lines behind
    the list name, and the list does not.
    """
    others = set(in_lines.others)
    announced = False  # whether a line says what stands below it
    for piece in in_lines.found[in_lines.first + 1 :]:
        if piece.place != "line":
            continue
        rest, named = in_lines.line(piece)
        if not named:
            announced = True
        if count_small(rest) > 1 or (announced and mark_of(piece)):
            others.update(set(named) - in_lines.inside)
    return others


def _is_another_chosen_before(in_lines: CandidatesInLines) -> bool:
    """Whether a sentence before the list recommends an item that is not in it."""
    for piece in in_lines.found[: in_lines.first]:
        line, places = in_lines.placed(piece)
        if None in places and chooses(line):
            return True
    return False


def _of_list(in_lines: CandidatesInLines, names: Sequence[str]) -> str:
    """Why the words and numbers in the list and around it may contradict its order."""
    rests = [in_lines.line(piece)[0].casefold() for piece in in_lines.entries]
    behind = _lines_behind(in_lines)
    right_before = in_lines.found[max(0, in_lines.first - 2) : in_lines.first]
    before = [piece.text for piece in right_before if piece.place in ("line", "note")]
    before += [*names, *(piece.name for piece in in_lines.chains)]
    return (
        why_entries_contradict(in_lines, rests)
        or _of_marks(in_lines, behind)
        or why_ranks_contradict(in_lines, rests)
        or why_neighbours_contradict(rests, before, behind)
        or _of_places(behind)
        or _of_scores(in_lines, rests)
        or why_corrected(behind, in_lines.reader.offered)
    )


def _lines_behind(in_lines: CandidatesInLines) -> list[Line]:
    """The lines below the beginning of the list that are none of its entries."""
    entries = _entry_pieces(in_lines)
    behind = []
    for piece in in_lines.found[in_lines.first + 1 :]:
        if piece.place == "line" and piece in in_lines and piece not in entries:
            behind.append(in_lines.placed(piece))
    return behind


def _entry_pieces(in_lines: CandidatesInLines) -> set[Piece]:
    """The pieces that are entries; of a list without marks,
    those that name what none above them names.
    """
    if in_lines.listed:
        return set(in_lines.listed)
    entries = set(in_lines.entries[:1])
    named_above = set[str]()
    for piece in in_lines.entries:
        named = in_lines.line(piece)[1]
        if not named_above.issuperset(named):
            entries.add(piece)
            named_above.update(named)
    return entries


def _of_marks(in_lines: CandidatesInLines, behind: Sequence[Line]) -> str:
    """Why only some entries of a list that is longer than requested may be meant."""
    marked = some_are_marked(in_lines)
    if marked is None:
        return ""
    if marked:
        return "some of its entries have marks or numbers that others lack"
    if any(len(named) > 1 or (named and chooses(line)) for line, named in behind):
        return "a sentence says which of its entries are recommended"
    return ""


def _of_places(behind: Sequence[Line]) -> str:
    """Why lines with hardly more than one title behind the list may be another list."""
    alone = []
    for line, places in behind:
        if len(places) == 1 and len(line.strip(" *_#:.-")) < _ALONE:
            alone.append(places[0])
    if len(alone) < 2:
        return ""
    in_list = [place for place in alone if place is not None]
    if len(in_list) < len(alone) or in_list != sorted(in_list):
        return "another list stands behind it"
    return ""


def _of_scores(in_lines: CandidatesInLines, rests: Sequence[str]) -> str:
    """Why the scores may be the order; ranks before entries count more, unless they are
    the candidates' numbers.
    """
    ranked = any(piece.number is not None for piece in in_lines.listed)
    if ranked and not in_lines.keeps_order:
        return ""
    if scores_fall_short(rests):
        return "its scores and its order contradict each other"
    return ""
