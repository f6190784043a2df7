"""Users to show with a verdict, with titles instead of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.effect import Effects
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Item
from pytest_recsys_mt.verdict import Example

WORST = 3
BEST = 2

MOST_CHARACTERS = 100
"""Of an entry that is no title of the catalogue; a model may write anything there."""


def pick(
    effects: Effects,
    excess: Floats,
    source: Sequence[Asked],
    followup: Sequence[Asked],
    context: Context,
) -> tuple[Example, ...]:
    """The users furthest from the promise, and some that keep it.

    Args:
        effects: As measured.
        excess: How far beyond the promise each scored user is, ``(n,)``; at most 0 keeps it.
        source: All users' source answers, or nothing.
        followup: All users' follow-up answers, or nothing.
        context: Knows the titles.

    Returns:
        Up to `WORST` users, the worst first, then up to `BEST` of those that keep the promise best.
    """
    order = np.argsort(-excess, kind="stable")
    worst = order[:WORST]
    # Stable the other way round too: among equals the first users are shown.
    best = [place for place in np.argsort(excess, kind="stable") if excess[place] <= 0]
    rest = [place for place in best if place not in set(worst.tolist())][:BEST]
    return tuple(
        _example(effects, int(place), source, followup, context) for place in (*worst, *rest)
    )


def titles(
    ids: Sequence[str], items: Mapping[str, Item], written: Mapping[str, str]
) -> tuple[str, ...]:
    """What people call these items: the label of a known one, else the text of the answer.

    Args:
        ids: Of the items.
        items: The catalogue.
        written: How an answer writes them.
    """
    return tuple(
        items[item].label
        if item in items
        else written.get(item, item.removeprefix(UNKNOWN_PREFIX))[:MOST_CHARACTERS]
        for item in ids
    )


def _example(
    effects: Effects,
    place: int,
    source: Sequence[Asked],
    followup: Sequence[Asked],
    context: Context,
) -> Example:
    row = int(effects.rows[place])
    answer = 0 if effects.shown is None else int(effects.shown[place])
    side = (source or followup)[row]
    return Example(
        user=side.user,
        source=_titles_of(source, row, answer, context),
        followup=_titles_of(followup, row, answer, context),
        score=None if effects.agreement is None else float(effects.agreement[place]),
    )


def _titles_of(side: Sequence[Asked], row: int, answer: int, context: Context) -> tuple[str, ...]:
    if not side:
        return ()
    asked = side[row]
    shown = asked.answers[min(answer, len(asked.answers) - 1)]
    written = {entry.item: entry.text for entry in reversed(shown.entries) if entry.item}
    return titles(shown.items, context.items, written)
