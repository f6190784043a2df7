"""Effects: how far the answers of each user moved beyond the recommender's own noise."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Asked, Context, Pairs
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import PAD, Floats, Lists
from pytest_recsys_mt.oracles.judging.account import NO_ANSWER
from pytest_recsys_mt.oracles.scores.slots import offered
from pytest_recsys_mt.oracles.similarities.similarity import Similarity, least_effect
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean

MOST_HOLES = 0.5
"""The largest share of compared places without an offered item at which a promise may hold. Lists
that agree on a share h of such places can differ by margin / (1 - h) on the others. At one half, this is
at most twice the declared margin; above one half, it has no useful limit."""

NOTHING_SHARED = "no place of the answers can be compared"
NO_FLOOR = (
    "this oracle does not say what the noise of a recommender adds to its effect, so a recommender that answers one request "
    "differently would be blamed for its noise; let `scored` take the effect between replicates off, or declare "
    "noise='no bias' if the mean effect is 0 where nothing changed"
)
ONE_REPLICATE = (
    "one answer per side cannot show a stochastic recommender's own noise; ask for two replicates "
    "(--recsys-replicates=2), or declare the recommender `deterministic = True`"
)


Reasons = Mapping[str, Sequence[int]]
"""Indices among the given users, by the reason why they are not scored."""


Noise = Literal["unknown", "taken off", "no bias"]
"""What the noise of a recommender adds to the mean effect between two sides.

``taken off``: the same effect between replicates was subtracted, so its mean is 0 where nothing changed. ``no bias``:
the mean is 0 there anyway, as that of a difference of two numbers. ``unknown``: it may be anything, so nothing is
claimed about a recommender that is not deterministic.
"""


@dataclass(frozen=True)
class Effects:
    """What an oracle measured of the scored users, all ``(n,)``, and why others were not scored.

    Every given user is scored, or stands under a reason in `failed`, `undefined` or `left_out`; see `account.Account`.
    `noise` says what became of the noise in an effect between two sides; see `Noise`. `unsure` says why the effects may not show that the mean is large, since the recommender's own noise is unknown. It
    may send calls, so it is asked only before such a claim. Nothing bounds what a user who was not measured would add
    to a `joint` number.
    """

    rows: NDArray[np.intp]  # indices among the given users
    effect: Floats  # in the unit of the margin
    reach: tuple[float, float]  # the smallest and the largest possible effect
    mean: Mean | None = None  # the estimate of all users' mean effect, if bets do not give it
    wide: bool = False  # whether effects are expected in the whole range; see `betting`
    floor: Floats | None = None  # agreement of each user's replicates, if a similarity is judged
    agreement: Floats | None = None  # agreement of each user's source and follow-up, likewise
    left_out: Reasons = field(default_factory=dict)  # not defined for these users
    failed: Reasons = field(default_factory=dict)  # these users got no answer
    undefined: Reasons = field(default_factory=dict)  # the answers of these users have no number
    shown: NDArray[np.intp] | None = None  # which answer of each to show; None shows the first
    obstacle: str = ""  # why these answers allow no verdict, whatever the numbers
    unsure: Callable[[], str] | None = None
    room: float | None = None  # by how much a kept promise is expected to be; None: by the limit
    note: str = ""  # for readers of the numbers
    holes: float = 0.0  # the share of the compared places without an offered item
    joint: bool = False  # whether the mean is a number of all users together (an aggregate)
    noise: Noise = "unknown"
    approximate: bool = False  # whether the bounds of `mean` are unproven, as reports must say
    unknown: tuple[int, ...] = ()  # before which scored user each of these stands, ascending
    unknown_users: tuple[str, ...] = ()  # their ids

    @property
    def of_all(self) -> Mean:
        """The estimate of all users' mean effect; needs at least one scored user."""
        return self.mean or Bets(self.effect, *self.reach, self.unknown, wide=self.wide)

    def up_to(self, cap: float | None) -> Effects:
        """The same, but no effect counts more than `cap`; None counts all of each."""
        low, high = self.reach
        if cap is None or cap >= high or self.mean is not None:
            return self
        return replace(self, effect=np.minimum(self.effect, cap), reach=(low, cap))

    def of(self, inside: NDArray[np.bool_], unknown: Collection[str]) -> Effects:
        """The effects of the scored users who are `inside`, ``(n,)``, and of those of `unknown_users` in `unknown`."""
        places = np.concatenate([[0], np.cumsum(inside)])
        left = [
            (int(places[place]), user)
            for place, user in zip(self.unknown, self.unknown_users, strict=True)
            if user in unknown
        ]
        arrays = {name: getattr(self, name) for name in _OF_EACH}
        return replace(
            self,
            unknown=tuple(place for place, _ in left),
            unknown_users=tuple(user for _, user in left),
            **{name: each[inside] for name, each in arrays.items() if each is not None},
        )


_OF_EACH = ("rows", "effect", "floor", "agreement", "shown")


@dataclass(frozen=True)
class Encoded:
    """Answers as numbers, for the users with a recommendation in at least one answer.

    Lists are ``(users, replicates, k)``, best first, without repeats; places that are not due are -1. An empty place
    counts as an item of its own, with the number of the place, from 0 to k - 1. Items have higher numbers.
    """

    rows: NDArray[np.intp]  # indices of these users among the given ones
    source: Lists
    followup: Lists
    holes: float  # the share of places that are empty or have an item that was not offered


@dataclass(frozen=True)
class Moved:
    """How far the answers of each user moved, all ``(n,)``; see `Effects`."""

    effect: Floats
    floor: Floats
    agreement: Floats
    least: float | None = None  # the smallest possible effect; None takes that of the similarity
    obstacle: str = ""


Measure = Callable[[Lists, Lists, Similarity], Moved]
"""Takes the encoded answers of source and follow-up, ``(n, replicates, k)``; returns how far they moved."""


def beyond_noise(source: Lists, followup: Lists, similarity: Similarity) -> Moved:
    """The noise floor minus the agreement of source and follow-up.

    ``D = (B + B') / 2 - M``. B and B' are the mean similarities between replicates of the source and of the follow-up,
    and M is the mean similarity between source and follow-up. The mean of D is half the squared energy distance of the
    two distributions of answers (Szekely and Rizzo 2013, J. Stat. Plan. Inference 143). It is 0 if the distributions
    are equal. For the `similarity.METRICS` it is never negative, and positive if the similarity can see a difference,
    even if one side only varies less. For Kendall and Fagin it may be 0 or less although the distributions differ.
    """
    floor = agreement_within(source, similarity) / 2 + agreement_within(followup, similarity) / 2
    agreement = agreement_between(source, followup, similarity)
    return Moved(floor - agreement, floor, agreement)


def similarity_effects(
    pairs: Pairs,
    context: Context,
    similarity: Similarity,
    *,
    shared_only: bool = False,
    measure: Measure = beyond_noise,
) -> Effects:
    """How far the lists of each user moved, as `encode` returns them."""
    encoded = encode(pairs, context, shared_only=shared_only)
    sides = (encoded.source, encoded.followup)
    comparable = np.all([(side[:, :, 0] > PAD).any(axis=1) for side in sides], axis=0)
    rows = encoded.rows[comparable]
    unshared = under(NOTHING_SHARED, encoded.rows[~comparable].tolist())
    # Where answers decide whether there is a place to compare, they must not decide who counts.
    depends_on_answers = shared_only and len(rows) > 0
    source, followup = (side[comparable] for side in sides)
    replicates = (source.shape[1], followup.shape[1])
    obstacle = ONE_REPLICATE if 1 in replicates and not context.deterministic else ""

    moved = measure(source, followup, similarity)
    least = moved.least
    if least is None:
        least = -1.0 if shared_only else least_effect(similarity)
    reach = (0.0 if replicates == (1, 1) else least, 1.0)
    return Effects(
        rows=rows,
        effect=moved.effect,
        reach=reach,
        floor=moved.floor,
        agreement=moved.agreement,
        failed=under(NO_ANSWER, others(len(pairs.source), encoded.rows)),
        left_out={} if depends_on_answers else unshared,
        undefined=unshared if depends_on_answers else {},
        obstacle=obstacle or moved.obstacle,
        unsure=unsure(moved.floor, replicates, context),
        holes=encoded.holes,
        noise="taken off",
    )


def unsure(
    floor: Floats, replicates: tuple[int, ...], context: Context
) -> Callable[[], str] | None:
    """Says why the noise floor may be too high; None if an answer to one request differs from another."""
    equal = 1 not in replicates and len(floor) > 0 and bool((floor == 1).all())
    return context.unsure if equal or context.made_up else None


def agreement_within(side: Lists, similarity: Similarity) -> Floats:
    """Mean agreement between the answers of one side, ``(n,)``; a single answer agrees with itself."""
    if side.shape[1] == 1:
        return np.ones(len(side))
    return _mean_over(side, side, list(combinations(range(side.shape[1]), 2)), similarity)


def agreement_between(source: Lists, followup: Lists, similarity: Similarity) -> Floats:
    """Mean agreement of all answers of one side with all answers of the other."""
    all_pairs = list(product(range(source.shape[1]), range(followup.shape[1])))
    return _mean_over(source, followup, all_pairs, similarity)


def agreement_of(a: Lists, b: Lists, similarity: Similarity) -> Floats:
    """Similarity of answers, ``(n,)``; two without any place agree."""
    values = similarity(a, b)
    return np.where(np.isnan(values), (a[:, 0] == PAD) & (b[:, 0] == PAD), values)


def filled(side: Lists) -> Lists:
    """A side of `Encoded` whose empty places are not due: measures of papers count none as an item."""
    return np.where(side < side.shape[2], PAD, side)


def encode(pairs: Pairs, context: Context, *, shared_only: bool = False) -> Encoded:
    """Number the items of both sides in the same way, and also every empty place.

    As many places are due as the request asks for, but at most its number of candidates, and on both sides the smaller
    number. Repeats are removed. Items that no request offered, including invented ones, count like any other.

    With `shared_only`, items that only the answer's own request offered are left out, and the gap is closed. As many
    fewer places are due, for all answers of the user.
    """
    sides = (pairs.source, pairs.followup)
    rows = np.flatnonzero([is_answered(*both) for both in zip(*sides, strict=True)])
    offers = [[_offer(asked, context) for asked in side] for side in sides]
    depths = [min(ours.due, theirs.due) for ours, theirs in zip(*offers, strict=True)]
    numbers: dict[str, int] = {}
    encoded = [
        _encode_side(
            sides[at], offers[at], offers[1 - at] if shared_only else None, depths, numbers
        )
        for at in (0, 1)
    ]
    (source, followup), filled = zip(
        *((codes[rows], of[rows]) for codes, of in encoded), strict=True
    )
    # All answers of a user are compared to the same depth: the floor depends on the depth.
    due = np.minimum(*((side > PAD).sum(axis=2).min(axis=1) for side in (source, followup)))
    beyond = np.arange(source.shape[2]) >= due[:, None, None]
    source, followup = (np.where(beyond, PAD, side) for side in (source, followup))
    places = int((source > PAD).sum() + (followup > PAD).sum())
    named = sum(int((of & ~beyond).sum()) for of in filled)
    return Encoded(rows, source, followup, 1 - named / places if places else 0.0)


def places_of(unknown: Collection[str], scored: Sequence[str], order: Sequence[str]) -> list[int]:
    """For each user whose value is unknown, in the order drawn, before which scored user they stand."""
    place = {user: at for at, user in enumerate(order)}
    known = [place[user] for user in scored]
    return [bisect(known, at) for at in sorted(place[user] for user in unknown)]


def is_answered(*sides: Asked) -> bool:
    """Whether any answer of a user recommends anything."""
    return any(answer.items for asked in sides for answer in asked.answers)


def replicates_of(asked: Sequence[Asked]) -> int:
    """The number of answers per user on this side, which must be the same for all, and at least one."""
    counts = {len(one.answers): one.user for one in asked}
    if len(counts) > 1 or 0 in counts:
        told = ", ".join(f"{count} for user {user!r}" for count, user in sorted(counts.items()))
        raise OracleError(
            f"every user needs the same number of answers, at least one, got {told}; count users "
            f"with failed calls as errors instead of shortening their answers"
        )
    return next(iter(counts), 1)


def _encode_side(
    side: Sequence[Asked],
    offers: Sequence[_Offer],
    others: Sequence[_Offer] | None,
    depths: Sequence[int],
    numbers: dict[str, int],
) -> tuple[Lists, NDArray[np.bool_]]:
    width = max([1, *depths])
    shape = (len(side), replicates_of(side), width)
    codes, filled = np.full(shape, PAD, np.int32), np.zeros(shape, np.bool_)
    for row, (asked, offer, depth) in enumerate(zip(side, offers, depths, strict=True)):
        ours, theirs = offer.has, others[row].has if others else None
        for replicate, answer in enumerate(asked.answers):
            named = list(dict.fromkeys(answer.items))[: offer.due]
            items = [item for item in named if not theirs or theirs(item) or not ours(item)]
            due = min(depth, offer.due - len(named) + len(items))
            items = items[:due]
            places, holes = codes[row, replicate], range(len(items), due)
            places[:due] = [*(numbers.setdefault(i, width + len(numbers)) for i in items), *holes]
            filled[row, replicate, : len(items)] = list(map(ours, items))
    return codes, filled


class _Offer(NamedTuple):
    """What a request offers: whether it has an item, and how many items are due, at most its candidates."""

    has: Callable[[str], bool]
    due: int


def _offer(asked: Asked, context: Context) -> _Offer:
    candidates, k = asked.request.candidates, asked.request.k
    due = k if candidates is None else min(k, len({item.id for item in candidates}))
    return _Offer(offered(asked, context), due)


def _mean_over(
    a: Lists, b: Lists, pairs: Sequence[tuple[int, int]], similarity: Similarity
) -> Floats:
    agreements = (agreement_of(a[:, left], b[:, right], similarity) for left, right in pairs)
    return sum(agreements, np.zeros(len(a))) / len(pairs)


def mostly_holes(share: float) -> str:
    """Why agreement does not show "holds" if more than `MOST_HOLES` of the places have no offered item."""
    return (
        f"{share:.0%} of the compared places are empty or name items not offered, and agreement "
        f"there says nothing about the other places: more than {MOST_HOLES:.0%} is too much for "
        f'"holds"; ask for fewer items (--recsys-k), or find out why answers are short (complete_list, '
        f"only_candidates)"
    )


def under(reason: str, users: Sequence[int]) -> Reasons:
    """Indices of users under their reason; empty if there are none."""
    return {reason: users} if users else {}


def others(users: int, rows: Collection[int]) -> list[int]:
    """The indices of so many `users` that are not in `rows`."""
    known = {int(row) for row in rows}
    return [row for row in range(users) if row not in known]
