"""The order of the entries of a block: that of the ranks or scores that it states."""

from collections.abc import Callable, Sequence

from pytest_recsys_mt.llm.reading.blocks import HEADING, Block
from pytest_recsys_mt.llm.reading.line import Piece


def in_order(block: Block, place_of: Callable[[Piece], int | None]) -> Block | None:
    """The block with its entries in the order of the ranks or scores that it states.

    Args:
        block: A block of an answer.
        place_of: Gives the candidate's number of the item that a piece names, if it
            names one. It is called only where the order depends on it.

    Returns:
        The block, or None if its ranks, its scores and its order contradict each other.
    """
    starts = [at for at, piece in enumerate(block.pieces) if _is_entry(piece)]
    if len(starts) < 2:
        return block
    entries = [block.pieces[at] for at in starts]
    ranks = _ranks(entries)
    scores = _scores(entries)
    if ranks and not scores and ranks == sorted(ranks):
        return block  # it stands in its order already
    if ranks and _are_own(entries, place_of):
        ranks = []  # the candidates' own numbers, in the order of the answer
    if not ranks and not scores:
        return block
    if scores and not ranks and _may_be_ranks(scores, block):
        return None
    if scores and (ranks or "rank" in block.name.casefold()):
        by_rank = (
            sorted(range(len(scores)), key=ranks.__getitem__)
            if ranks
            else range(len(scores))
        )
        if not _fall([scores[at] for at in by_rank]):
            return None

    keys = ranks or [-score for score in scores]
    best_first = sorted(range(len(keys)), key=keys.__getitem__)
    ends = [*starts[1:], len(block.pieces)]
    ordered = list(block.pieces[: starts[0]])
    for at in best_first:
        ordered.extend(block.pieces[starts[at] : ends[at]])
    return Block(tuple(ordered), block.name)


def _is_entry(piece: Piece) -> bool:
    if piece.place == "bulleted":
        return not HEADING.search(piece.text)
    return piece.place in ("numbered", "data")


def _ranks(entries: Sequence[Piece]) -> Sequence[float]:
    """The numbers of entries if they are 1, 2, 3 and so
    on in any order; otherwise none.
    """
    numbers = [piece.number for piece in entries if piece.number is not None]
    return numbers if sorted(numbers) == _places(entries) else []


def _scores(entries: Sequence[Piece]) -> Sequence[float]:
    """The scores of entries if all have one and they differ; otherwise none."""
    scores = [piece.score for piece in entries if piece.score is not None]
    return scores if len(scores) == len(entries) and len(set(scores)) > 1 else []


def _places(entries: Sequence[object]) -> list[int]:
    return list(range(1, len(entries) + 1))


def _fall(values: Sequence[float]) -> bool:
    return [*values] == sorted(values, reverse=True)


def _may_be_ranks(scores: Sequence[float], block: Block) -> bool:
    """Whether scores are 1, 2, 3 and so on, and nothing
    says that the highest is the best.
    """
    if block.role == "scores" or _fall(scores):
        return False
    return sorted(scores) == _places(scores)


def _are_own(entries: Sequence[Piece], place_of: Callable[[Piece], int | None]) -> bool:
    """Whether the numbers of entries are those that the prompt gave to what they name."""
    named = 0
    for piece in entries:
        place = place_of(piece)
        if place is None:
            continue
        if piece.number != place:
            return False
        named += 1
    return named > 1
