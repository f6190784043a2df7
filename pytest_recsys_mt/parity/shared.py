"""The common properties of requests whose list differs between two logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import Integers
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.shared import what_is_shared
from pytest_recsys_mt.parity.compared_lists import MOST_PLACES, Lists
from pytest_recsys_mt.parity.log_rows import MAPPED, facts_at
from pytest_recsys_mt.parity.request_logs import Log, Numbered
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import SHARED

SAMPLE = 1000
"""The number of requests with changed lists that are searched
for common properties, and of as many others.
"""


def shared_by_changed(
    logs: tuple[Log, Log],
    chosen: Integers,
    lists: Lists,
    numbered: Numbered,
    context: Context,
) -> str:
    """The facts that distinguish changed lists from the others,
    in a sample of both; see `what_is_shared`.
    """
    differs = lists.differs
    places = _sample(logs[0].users[chosen], differs)
    facts = []
    for log in logs:
        rows = log.rows_of(0)[chosen[places]].tolist()
        row_at = facts_at(log.path, log.reader.paths, rows)
        facts.append([row_at[row] for row in rows])
    names = list(numbered.items.by_text)
    sides: list[list[Asked]] = [[], []]
    for at, place in enumerate(places):
        request = _request(facts[0][at], facts[1][at], context.items)
        for side, items in zip(sides, (lists.before, lists.after), strict=True):
            answer = Recommendation(
                tuple(names[item] for item in items[place] if item >= 0),
            )
            side.append(Asked(request, (answer,)))
    pairs = Pairs(tuple(sides[0]), tuple(sides[1]))
    marked = differs[places]
    effects = Effects(np.arange(len(places)), marked.astype(np.float64), (0.0, 1.0))
    details = what_is_shared(marked, effects, pairs, context)
    if SHARED not in details:
        return ""
    seen = int(marked.sum())
    text = str(details[SHARED]["text"])
    if seen == differs.sum() and len(places) == len(chosen):
        return text
    return (
        f"{text} Looked at: {seen:,} of the {int(differs.sum()):,} changed lists and {len(places) - seen:,} others, one "
        f"of each user."
    )


def _sample(user: Integers, differs: NDArray[np.bool_]) -> list[int]:
    """The places of some changed and some other lists, one of each user: two of one
    user would count as two users.
    """
    order = generator("requests that are looked through").permutation(len(user))
    _, first_of_each = np.unique(user[order], return_index=True)
    places = order[np.sort(first_of_each)]
    changed = places[differs[places]][:SAMPLE]
    others = places[~differs[places]][:SAMPLE]
    return sorted([*changed.tolist(), *others.tolist()])


def _request(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    catalogue: Mapping[str, Item],
) -> Request:
    """The request of two rows, with their further plain fields as attributes."""
    attributes = {
        name: value
        for name, value in before.items()
        if name not in MAPPED and isinstance(value, str | int | float)
    }
    for name, value in after.items():
        if name not in MAPPED and isinstance(value, str | int | float):
            if name not in attributes:
                attributes[name] = value
            elif attributes[name] != value:
                attributes[f"{name} of B"] = value
    moment = before.get("time")
    second = int(moment) if isinstance(moment, int | float) else None
    history = _items(before.get("history"), catalogue)
    candidates = before.get("candidates")
    return Request(
        user=str(before.get("user") or before.get("request") or "?"),
        history=tuple(Rating(item, 1.0, second) for item in history),
        scale=Scale(),
        candidates=_items(candidates, catalogue)
        if isinstance(candidates, list)
        else None,
        k=MOST_PLACES,
        attributes=attributes,
    )


def _items(ids: object, catalogue: Mapping[str, Item]) -> tuple[Item, ...]:
    found = []
    for each in ids if isinstance(ids, list) else ():
        name = str(each.get("id")) if isinstance(each, dict) else str(each)
        found.append(catalogue.get(name) or Item(name))
    return tuple(found)
