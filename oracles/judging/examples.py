"""Example users for a verdict, with titles instead of ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.requests import (
    UNKNOWN_PREFIX,
    EntryKind,
    Item,
    Recommendation,
    Request,
)
from pytest_recsys_mt.verdict.answers import Asked, Context
from pytest_recsys_mt.verdict.verdict import Example

WORST = 3
BEST = 2

MOST_CHARACTERS = 100
"""Longest shown text of an entry that is not a catalogue
title; a model may write anything there.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """One side of an example in full.

    Attributes:
        request: The request.
        answer: The answer that the example shows.
        context: The facts of the run.
        answers: All answers to the request, `answer` among them.
        hidden: The items of the user that the history does not show.
    """

    request: Request
    answer: Recommendation
    context: Context
    answers: tuple[Recommendation, ...] = ()
    hidden: frozenset[str] = frozenset()

    def entries(self) -> list[tuple[tuple[str, ...], tuple[EntryKind, ...]]]:
        """The titles and the kinds of each of all answers."""
        items = self.context.items
        return [
            (titles_of(each, items), kinds(each, self.request, items, self.hidden))
            for each in self.answers
        ]


def pick(
    effects: Effects,
    excess: Floats,
    source: Sequence[Asked],
    followup: Sequence[Asked],
    context: Context,
) -> tuple[Example, ...]:
    """Up to `WORST` users who are the worst, the worst first, up to `BEST` others who
    keep the promise, and the users whose answers the run is told to show.

    Args:
        effects: The effects of the scored users.
        excess: By how much each exceeds the allowed range, ``(n,)``; at most 0
            where it is kept.
        source: The answers of the source, or empty.
        followup: The answers of the follow-up, or empty.
        context: The facts of the run.
    """
    # Of users who break it equally, as by any change of their lists, those whose
    # answers agree least are the clearest.
    agreement = (
        np.zeros(len(excess)) if effects.agreement is None else effects.agreement
    )
    worst = np.lexsort((agreement, -excess))[:WORST]  # stable
    # Also stable in this direction: the first of equal users are shown.
    best = [place for place in np.argsort(excess, kind="stable") if excess[place] <= 0]
    rest = [place for place in best if place not in worst][:BEST]
    of_scored = [(source or followup)[int(row)].user for row in effects.rows]
    told = [place for place, user in enumerate(of_scored) if user in context.shown]
    examples = []
    for place in dict.fromkeys([*worst.tolist(), *map(int, rest), *told]):
        row = int(effects.rows[place])
        answer = 0 if effects.shown is None else int(effects.shown[place])
        before = _side_of_example(source, row, answer, context)
        after = _side_of_example(followup, row, answer, context)
        example = Example(
            user=(source or followup)[row].user,
            source=before.titles,
            followup=after.titles,
            score=None
            if effects.agreement is None
            else float(effects.agreement[place]),
            source_kinds=before.kinds,
            followup_kinds=after.kinds,
            keeps=bool(excess[place] <= 0),
            source_asked=before.shown,
            followup_asked=after.shown,
            told=place in told,
        )
        examples.append(example)
    return tuple(examples)


class _Side(NamedTuple):
    """One side of an example; empty if there is none."""

    titles: tuple[str, ...] = ()
    kinds: tuple[EntryKind, ...] = ()
    shown: Shown | None = None


def _side_of_example(
    side: Sequence[Asked],
    row: int,
    answer: int,
    context: Context,
) -> _Side:
    if not side:
        return _Side()
    asked = side[row]
    # One side may have fewer answers than the other.
    shown = asked.answers[min(answer, len(asked.answers) - 1)]
    return _Side(
        titles=titles_of(shown, context.items),
        kinds=kinds(shown, asked.request, context.items, asked.hidden),
        shown=Shown(asked.request, shown, context, asked.answers, asked.hidden),
    )


def titles_of(shown: Recommendation, items: Mapping[str, Item]) -> tuple[str, ...]:
    """The entries of an answer as a reader knows them:
    titles of `items`, else the written text.
    """
    # Reversed, so that the first of several texts for an item is kept.
    text_by_item = {
        entry.item: entry.text for entry in reversed(shown.entries) if entry.item
    }
    titles = []
    for item in shown.items:
        if item in items:
            titles.append(items[item].label)
        else:
            text = text_by_item.get(item, item.removeprefix(UNKNOWN_PREFIX))
            titles.append(text[:MOST_CHARACTERS])
    return tuple(titles)


def kinds(
    answer: Recommendation,
    request: Request,
    items: Mapping[str, Item],
    hidden: frozenset[str] = frozenset(),
) -> tuple[EntryKind, ...]:
    """The kind of each item of an answer, relative to its request; empty if all were
    offered.

    An item that is `hidden` counts as offered.
    """
    # Reversed, so that the first of several entries for an item counts.
    kind_as_read = {entry.item: entry.kind for entry in reversed(answer.entries)}
    has_candidates = request.candidates is not None
    candidates = {item.id for item in request.candidates or ()}
    history = request.known - hidden - candidates
    found: list[EntryKind] = []
    for place, item in enumerate(answer.items):
        kind: EntryKind = "candidate"
        if item in answer.items[:place]:
            kind = "duplicate"
        elif item in history:
            kind = "history"
        elif item not in items and item not in candidates:
            kind = "outside" if kind_as_read.get(item) == "outside" else "unknown"
        elif has_candidates and item not in candidates:
            kind = "catalogue"
        found.append(kind)
    all_offered = set(found) <= {"candidate"}
    return () if all_offered else tuple(found)
