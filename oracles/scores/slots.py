"""The slots of an answer and their kinds: an offered item or something else.

Text answers and lists of ids are read in the same way for the shares `hallucination`,
`out_of_candidate`, `history_repeats` and `duplicates`. A slot names something. Prose
before, between or after slots is not a slot and only counts against `compliance`. A
slot that repeats an earlier one keeps the kind of its item.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_recsys_mt.oracles.scores.metrics import depth_of
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Entry, EntryKind, Recommendation
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context

__all__ = ["Slot", "slots_of"]

ABOUT_SEEN = frozenset(
    (
        "history_repeats",
        "already_seen",
        "only_candidates",
        "out_of_candidate",
        "invalid",
    ),
)
"""Oracles and scores for which an item that the user has is a fault."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of an answer.

    Example:
        >>> slots = [Slot("candidate", repeated=False), Slot("unknown", repeated=False)]
        >>> hallucination(slots, depth=2)
        0.5

    Attributes:
        kind: Kind of its item; never ``duplicate`` or ``unparsed``.
        repeated: Whether an earlier slot names the same item.
    """

    kind: EntryKind
    repeated: bool


def slots_of(answer: Recommendation, asked: Asked, context: Context) -> list[Slot]:
    """The slots of an answer, from its entries, or from its items if it has no entries.

    An item in `Asked.hidden` counts as offered: the recommender could not know that the
    user has it.

    Example:
        def invented(answer, asked, context):  # the `of` of a `Score`
            return sum(slot.kind == "unknown" for slot in slots_of(answer, asked, context)), 0

    Args:
        answer: The answer to read.
        asked: The request, with its candidates and its history.
        context: Holds the catalogue.
    """
    if answer.entries:
        return [
            _slot(entry, asked, context)
            for entry in answer.entries
            if entry.kind != "unparsed"
        ]
    return [
        Slot(kind_of(item, asked, context), item in answer.items[:place])
        for place, item in enumerate(answer.items)
    ]


def _slot(entry: Entry, asked: Asked, context: Context) -> Slot:
    repeated = entry.kind == "duplicate"
    if repeated or entry.item in asked.hidden:
        return Slot(kind_of(entry.item or "", asked, context), repeated)
    return Slot(entry.kind, False)


def share_of(slots: Sequence[Slot], fits: Callable[[Slot], bool], depth: int) -> float:
    """The share of the first `depth` slots for which `fits`
    is true; missing slots do not fit.
    """
    return sum(fits(slot) for slot in slots[:depth]) / depth


def slot_depth(name: str) -> int | Literal["full"] | None:
    """How many slots of every answer count, after the @ of a name: all of them
    (``full``), or as many as requested (None).
    """
    depth = name.partition("@")[2]
    if depth == "full":
        return "full"
    try:
        return depth_of(name)
    except OracleError as error:
        raise OracleError(f"{error}; or 'full' for all slots of the answer") from None


def kind_of(item: str, asked: Asked, context: Context) -> EntryKind:
    """The kind of an item of an answer, by the request and the catalogue."""
    request = asked.request
    if item.startswith(UNKNOWN_PREFIX):
        return "unknown"
    if item in request.known and item not in asked.hidden:
        return "history"
    if request.candidates is None:
        return "candidate" if item in context.items else "outside"
    if any(candidate.id == item for candidate in request.candidates):
        return "candidate"
    return "catalogue" if item in context.items else "outside"
