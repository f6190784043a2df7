"""Example users for a verdict, with titles instead of ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, EntryKind, Item, Recommendation, Request
from pytest_recsys_mt.verdict import Example

WORST = 3
BEST = 2

MOST_CHARACTERS = 100
"""Longest shown text of an entry that is not a catalogue title; a model may write anything there."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One side of an example in full.

    Attributes:
        request: The request.
        answer: The answer that the example shows.
        context: The facts of the run.
    """

    request: Request
    answer: Recommendation
    context: Context


def pick(
    effects: Effects,
    excess: Floats,
    source: Sequence[Asked],
    followup: Sequence[Asked],
    context: Context,
) -> tuple[Example, ...]:
    """Up to `WORST` users, the worst by their `excess` first, ``(n,)``, and up to `BEST` that keep the promise (at most 0)."""
    # Of users who break it equally, as by any change of their lists, those whose answers agree least are the clearest.
    agreement = np.zeros(len(excess)) if effects.agreement is None else effects.agreement
    worst = np.lexsort((agreement, -excess))[:WORST]  # stable
    # Also stable in this direction: the first of equal users are shown.
    best = [place for place in np.argsort(excess, kind="stable") if excess[place] <= 0]
    rest = [place for place in best if place not in worst][:BEST]
    found = []
    for place in (*worst, *rest):
        row = int(effects.rows[place])
        answer = 0 if effects.shown is None else int(effects.shown[place])
        before, after = (_shown(side, row, answer, context) for side in (source, followup))
        found.append(
            Example(
                user=(source or followup)[row].user,
                source=before[0],
                followup=after[0],
                score=None if effects.agreement is None else float(effects.agreement[place]),
                source_kinds=before[1],
                followup_kinds=after[1],
                keeps=bool(excess[place] <= 0),
                source_asked=before[2],
                followup_asked=after[2],
            )
        )
    return tuple(found)


def _shown(
    side: Sequence[Asked], row: int, answer: int, context: Context
) -> tuple[tuple[str, ...], tuple[EntryKind, ...], Shown | None]:
    if not side:
        return (), (), None
    asked = side[row]
    shown = asked.answers[min(answer, len(asked.answers) - 1)]
    return (
        titles_of(shown, context.items),
        kinds(shown, asked.request, context.items, asked.hidden),
        Shown(asked.request, shown, context),
    )


def titles_of(shown: Recommendation, items: Mapping[str, Item]) -> tuple[str, ...]:
    """The entries of an answer as a reader knows them: titles of `items`, else what was written."""
    written = {entry.item: entry.text for entry in reversed(shown.entries) if entry.item}
    return tuple(
        items[item].label
        if item in items
        else written.get(item, item.removeprefix(UNKNOWN_PREFIX))[:MOST_CHARACTERS]
        for item in shown.items
    )


def kinds(
    answer: Recommendation,
    request: Request,
    items: Mapping[str, Item],
    hidden: frozenset[str] = frozenset(),
) -> tuple[EntryKind, ...]:
    """The kind of each item of an answer, relative to its request; empty if all were offered. One that is
    `hidden` counts as offered.
    """
    read = {entry.item: entry.kind for entry in reversed(answer.entries)}
    known = request.known - hidden
    offered = None if request.candidates is None else {item.id for item in request.candidates}
    found: list[EntryKind] = []
    for place, item in enumerate(answer.items):
        kind: EntryKind = "candidate"
        if item in answer.items[:place]:
            kind = "duplicate"
        elif item in (known if offered is None else known - offered):
            kind = "history"
        elif item not in items and item not in (offered or ()):
            kind = "outside" if read.get(item) == "outside" else "unknown"
        elif offered is not None and item not in offered:
            kind = "catalogue"
        found.append(kind)
    return tuple(found) if set(found) - {"candidate"} else ()
