"""What a verdict says of groups of items.

A slicing of items is named ``items:`` and what divides them. A verdict on lists is then
also one on the part of each list that lies in a group, a verdict on held-out items also
one on those in a group. The groups are made from the catalogue and the training data
alone, before any user is asked.

Of lists, a user counts in a group if any answer, of either side, has an item of it.
Answers decide that, but both sides alike: if they answer from one distribution, the
mean effect of the users who count is 0, as that of all users is.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.oracles.judging.effect import Effects, places_of
from pytest_recsys_mt.oracles.judging.item_groups import ItemGroup, divided
from pytest_recsys_mt.oracles.judging.slices import (
    SWITCH,
    Group,
    Slices,
    items_divided_by,
)
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs

TAKEN_BY = (
    "same_ranking, same_set, within_noise, low_churn, unmoved, served_as_trained, different_ranking and few_items_lost "
    "(their lists), same_hits and not_worse (their held-out items)"
)
"""The oracles that judge groups of items."""


NAMED = 3
"""Groups without some users that a sentence names."""

ByItems = Callable[[Asked, Asked, Collection[str]], tuple[Asked, Asked] | None]
"""Returns both sides of a user as if there were only the given items; None if no number
of the user is about any of them.
"""


def listed(
    source: Asked,
    followup: Asked,
    items: Collection[str],
    *,
    whole: bool = False,
) -> tuple[Asked, Asked] | None:
    """The part of each list that lies in a group, in its order and without gaps.

    The lists are as long as the most items of the group that any answer of the user
    has. None if no answer has any.

    Args:
        source: The answers of the source.
        followup: Those of the follow-up.
        items: The group.
        whole: Whether all of the follow-up's lists counts, and not as much as was asked
            for.
    """
    due = _due(source) if whole else min(_due(source), _due(followup))
    due_of_followup = None if whole else due
    of_source = [_part(answer, items, due) for answer in source.answers]
    of_followup = [_part(answer, items, due_of_followup) for answer in followup.answers]
    longest = max(len(answer.items) for answer in (*of_source, *of_followup))
    if not longest:
        return None
    return (
        dataclasses.replace(
            source,
            request=source.request.replace(k=longest),
            answers=tuple(of_source),
        ),
        dataclasses.replace(
            followup,
            request=followup.request.replace(k=longest),
            answers=tuple(of_followup),
        ),
    )


def _due(asked: Asked) -> int:
    """How many places of an answer count."""
    request = asked.request
    if request.candidates is None:
        return request.k
    return min(request.k, len({item.id for item in request.candidates}))


def _part(
    answer: Recommendation,
    items: Collection[str],
    due: int | None,
) -> Recommendation:
    """The items of a group in the first places of an answer, each once."""
    named = list(dict.fromkeys(answer.items))[:due]
    return dataclasses.replace(
        answer,
        items=tuple(item for item in named if item in items),
    )


def held_out(
    source: Asked,
    followup: Asked,
    items: Collection[str],
) -> tuple[Asked, Asked] | None:
    """Whole lists, against the held-out items of a group; None if there are none."""
    relevant = source.relevant.intersection(items)
    if not relevant:
        return None
    return (
        dataclasses.replace(source, relevant=relevant),
        dataclasses.replace(followup, relevant=relevant),
    )


@dataclass(frozen=True)
class OfItems:
    """The effects of one group of items.

    Attributes:
        group: Its names; it has no users of its own.
        effects: Those of the users who count.
        absent: How many users have no number, since nothing of theirs is in the group.
    """

    group: Group
    effects: Effects
    absent: int

    def with_unknown(
        self,
        unknown: Collection[str],
        users: Sequence[str],
        order: Sequence[str],
    ) -> Effects:
        """The effects, with the users of unknown effect at both ends.

        Args:
            unknown: The users of whom nothing is known, and so whether they count.
            users: The users that the rows are indices into.
            order: All users, in the order drawn.
        """
        scored = [users[row] for row in self.effects.rows]
        of_group = [
            users[row] for rows in self.effects.undefined.values() for row in rows
        ]
        missing = {*unknown, *of_group}.difference(scored)
        return dataclasses.replace(
            self.effects,
            unknown=tuple(places_of(missing, scored, order)),
            unknown_users=tuple(user for user in order if user in missing),
        )


def effects_of_items(
    groups: Sequence[ItemGroup],
    by_items: ByItems | None,
    pairs: Pairs,
    context: Context,
    measure: Callable[[Pairs, Context], Effects],
) -> list[OfItems]:
    """The effects of each group, measured as those of all users."""
    if by_items is None:
        return []
    found = []
    for group in groups:
        rows = []
        both = []
        for row, sides in enumerate(zip(pairs.source, pairs.followup, strict=True)):
            part = by_items(*sides, group.items)
            if part is not None:
                rows.append(row)
                both.append(part)
        part_of = dataclasses.replace(
            pairs,
            source=tuple(source for source, _ in both),
            followup=tuple(followup for _, followup in both),
        )
        if rows:
            effects = _in_rows(measure(part_of, context), rows)
        else:
            effects = Effects(np.array([], np.intp), np.array([]), (0.0, 1.0))
        name = Group(group.slicing, group.value, frozenset())
        found.append(OfItems(name, effects, len(pairs.source) - len(rows)))
    return found


def _in_rows(effects: Effects, rows: Sequence[int]) -> Effects:
    """Effects of some users, with indices into all of them. Where an obstacle forbids
    any claim about the group, nobody is scored.
    """
    if effects.obstacle:
        effects = effects.of(np.zeros(len(effects.rows), bool), ())
    places = np.array(rows, np.intp)
    return dataclasses.replace(
        effects,
        rows=places[effects.rows] if len(effects.rows) else effects.rows,
        undefined={
            reason: [rows[row] for row in own]
            for reason, own in effects.undefined.items()
        },
    )


def item_groups_of(
    slices: Slices | None,
    oracle: str,
    by_items: ByItems | None,
    context: Context,
) -> tuple[ItemGroup, ...]:
    """The groups of each slicing of items, in order of their names.

    Args:
        slices: The slicings of a test; None takes those of the run.
        oracle: The oracle that was given them.
        by_items: How the oracle judges a group; None if it cannot.
        context: The facts of the run.

    Raises:
        OracleError: If a test divides items and the oracle cannot judge that, or the
            catalogue cannot be divided so.
    """
    names = item_slicings(slices, context)
    if names and by_items is None:
        if slices is None:
            return ()  # the verdict says so: see `unjudged`
        raise OracleError(
            f"{oracle}: slices={names!r} divide the items, and this oracle has no number of a group of items; oracles "
            f"that have one: {TAKEN_BY}; take one of these, or leave {', '.join(names)} out",
        )
    where = SWITCH if slices is None else oracle
    groups: list[ItemGroup] = []
    for name in names:
        by_value = divided(name, where, context)
        for value, items in by_value.items():
            groups.append(ItemGroup(name, value, frozenset(items)))
    return tuple(groups)


def item_slicings(slices: Slices | None, context: Context) -> tuple[str, ...]:
    """The names of the slicings that divide items."""
    slicings: Slices = context.slices if slices is None else slices
    return tuple(dict.fromkeys(filter(None, map(items_divided_by, slicings))))


def unjudged(
    slices: Slices | None,
    oracle: str,
    by_items: ByItems | None,
    context: Context,
) -> str:
    """Which slicings of the run an oracle cannot judge, in words; empty if it can."""
    names = item_slicings(slices, context)
    if by_items is not None or not names:
        return ""
    return (
        f"not judged by {', '.join(names)}: {oracle} has no number of a group of items"
    )


def in_words(
    found: Sequence[OfItems],
    groups: Sequence[ItemGroup],
    users: int,
    items: Collection[str],
) -> str:
    """How many items are in no group, and how many users have nothing in a group; empty
    if none.
    """
    notes = []
    grouped: dict[str, set[str]] = defaultdict(set)
    for group in groups:
        grouped[group.slicing] |= group.items
    for slicing, known in grouped.items():
        left = len(set(items) - known)
        if left:
            notes.append(f"{left} of {len(items)} items are in no group of {slicing}")
    for slicing in grouped:
        without = [
            each for each in found if each.group.slicing == slicing and each.absent
        ]
        without.sort(key=lambda each: -each.absent)
        counts = [f"{each.group.value} {each.absent}" for each in without[:NAMED]]
        if len(without) > NAMED:
            counts.append(f"{len(without) - NAMED} groups fewer")
        if counts:
            notes.append(
                f"of {users} users without any of {slicing}: {', '.join(counts)}"
            )
    return "; ".join(notes)
