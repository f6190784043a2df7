"""Effects: how far the answers of each user moved beyond the recommender's own noise."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arrays import PAD, Floats, Lists
from pytest_recsys_mt.oracles.judging.account import NO_ANSWER, joined
from pytest_recsys_mt.oracles.judging.encoding import encode
from pytest_recsys_mt.oracles.similarities.similarity import Similarity, least_effect
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.verdict.answers import Context, Pairs

MOST_HOLES = 0.5
"""The largest share of compared places without an offered item at which a promise may
hold. Lists that agree on a share h of such places can differ by margin / (1 - h) on the
others. At one half, this is at most twice the declared margin; above one half, it has
no useful limit.
"""

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
"""The effect of a recommender's noise on the mean effect between two sides.

``taken off``: the same effect between replicates was subtracted, so its mean is 0 where
nothing changed. ``no bias``: the mean is 0 there anyway, as that of a difference of two
numbers. ``unknown``: it may be anything, so nothing is claimed about a recommender that
is not deterministic.
"""


@dataclass(frozen=True)
class Effects:
    """The measurements of the scored users, all ``(n,)``, and why others were
    not scored.

    Every given user is scored, or stands under a reason in `failed`, `undefined` or
    `left_out`; see `account.Account`.

    Attributes:
        rows: Indices of the scored users among the given ones.
        effect: In the unit of the margin.
        reach: The smallest and the largest possible effect.
        mean: The estimate of all users' mean effect, if bets do not give it.
        wide: Whether effects are expected in the whole range; see `betting`.
        floor: Agreement of each user's replicates, if a similarity is judged.
        agreement: Agreement of each user's source and follow-up, likewise.
        left_out: The users for whom the effect is not defined.
        failed: The users who got no answer.
        undefined: The users whose answers have no number.
        shown: Which answer of each user to show; None shows the first.
        obstacle: Why these answers allow no verdict with any numbers.
        unsure: Returns why the effects may not show that the mean is large, since the
            recommender's own noise is unknown; empty if they may. It may send calls, so
            it is called only before such a claim.
        room: By how much a kept promise is expected to be kept; None: by the limit.
        note: For readers of the numbers.
        holes: The share of the compared places without an offered item.
        joint: Whether the mean is a number of all users together (an aggregate).
            Nothing bounds what a user who was not measured would add to it.
        noise: The treatment of the noise in an effect between two sides; see `Noise`.
        approximate: Whether the bounds of `mean` are unproven, as reports must say.
        unknown: For each user whose effect is unknown, before which scored user they
            stand, ascending.
        unknown_users: The ids of these users.
    """

    rows: NDArray[np.intp]
    effect: Floats
    reach: tuple[float, float]
    mean: Mean | None = None
    wide: bool = False
    floor: Floats | None = None
    agreement: Floats | None = None
    left_out: Reasons = field(default_factory=dict)
    failed: Reasons = field(default_factory=dict)
    undefined: Reasons = field(default_factory=dict)
    shown: NDArray[np.intp] | None = None
    obstacle: str = ""
    unsure: Callable[[], str] | None = None
    room: float | None = None
    note: str = ""
    holes: float = 0.0
    joint: bool = False
    noise: Noise = "unknown"
    approximate: bool = False
    unknown: tuple[int, ...] = ()
    unknown_users: tuple[str, ...] = ()

    @property
    def of_all(self) -> Mean:
        """The estimate of all users' mean effect; needs at least one scored user."""
        return self.mean or Bets(self.effect, *self.reach, self.unknown, wide=self.wide)

    def with_note(self, note: str) -> Effects:
        """The same, with a further note for readers; an empty one adds nothing."""
        return replace(self, note=joined(self.note, note))

    def up_to(self, cap: float | None) -> Effects:
        """The same, but no effect counts more than `cap`; None counts all of each."""
        low, high = self.reach
        if cap is None or cap >= high or self.mean is not None:
            return self
        return replace(self, effect=np.minimum(self.effect, cap), reach=(low, cap))

    def of(self, inside: NDArray[np.bool_], unknown: Collection[str]) -> Effects:
        """The effects of some users.

        Args:
            inside: Which of the scored users these are, ``(n,)``.
            unknown: The others; those of `unknown_users` who are not among them are
                left out.
        """
        inside_before = np.concatenate([[0], np.cumsum(inside)])
        places = []
        users = []
        for place, user in zip(self.unknown, self.unknown_users, strict=True):
            if user in unknown:
                places.append(int(inside_before[place]))
                users.append(user)
        arrays = {name: getattr(self, name) for name in _OF_EACH_USER}
        return replace(
            self,
            unknown=tuple(places),
            unknown_users=tuple(users),
            **{
                name: array[inside]
                for name, array in arrays.items()
                if array is not None
            },
        )


_OF_EACH_USER = ("rows", "effect", "floor", "agreement", "shown")
"""The fields of `Effects` with one entry for each scored user."""


@dataclass(frozen=True)
class Moved:
    """How far the answers of each user moved, all ``(n,)``.

    Attributes:
        effect: As in `Effects`.
        floor: As in `Effects`.
        agreement: As in `Effects`.
        least: The smallest possible effect; None takes that of the similarity.
        obstacle: As in `Effects`.
    """

    effect: Floats
    floor: Floats
    agreement: Floats
    least: float | None = None
    obstacle: str = ""


Measure = Callable[[Lists, Lists, Similarity], Moved]
"""Takes the encoded answers of source and follow-up, ``(n,
replicates, k)``; returns how far they moved.
"""


def beyond_noise(source: Lists, followup: Lists, similarity: Similarity) -> Moved:
    """The noise floor minus the agreement of source and follow-up.

    ``D = (B + B') / 2 - M``. B and B' are the mean similarities between replicates of
    the source and of the follow-up, and M is the mean similarity between source and
    follow-up. The mean of D is half the squared energy distance of the two
    distributions of answers (Szekely and Rizzo 2013, J. Stat. Plan. Inference 143). It
    is 0 if the distributions are equal. For the `similarity.METRICS` it is never
    negative, and positive if the similarity can see a difference, even if one side only
    varies less. For Kendall and Fagin it may be 0 or less although the distributions
    differ.
    """
    floor = (
        agreement_within(source, similarity) / 2
        + agreement_within(followup, similarity) / 2
    )
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
    """How far the lists of each user moved, as `encode` returns them.

    Args:
        pairs: The answers of both sides.
        context: The facts of the run.
        similarity: How alike two lists are.
        shared_only: Whether items that only one request offers are left out.
        measure: How far lists moved.
    """
    encoded = encode(pairs, context, shared_only=shared_only)
    comparable = _has_place(encoded.source) & _has_place(encoded.followup)
    source = encoded.source[comparable]
    followup = encoded.followup[comparable]
    rows = encoded.rows[comparable]
    unshared = under(NOTHING_SHARED, encoded.rows[~comparable].tolist())
    # Where answers decide whether there is a place to compare, they must not decide who
    # counts.
    depends_on_answers = shared_only and len(rows) > 0
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


def _has_place(side: Lists) -> NDArray[np.bool_]:
    """Which users have an answer with a place to compare, ``(n,)``."""
    has_place: NDArray[np.bool_] = np.any(side[:, :, 0] > PAD, axis=1)
    return has_place


def unsure(
    floor: Floats,
    replicates: tuple[int, ...],
    context: Context,
) -> Callable[[], str] | None:
    """Says why the noise floor may be too high; None if an answer to one request
    differs from another.

    Args:
        floor: The agreement of each user's replicates, ``(n,)``.
        replicates: The number of answers to a request of each side.
        context: The facts of the run.
    """
    all_equal = 1 not in replicates and len(floor) > 0 and bool((floor == 1).all())
    return context.unsure if all_equal or context.made_up else None


def agreement_within(side: Lists, similarity: Similarity) -> Floats:
    """Mean agreement between the answers of one side,
    ``(n,)``; a single answer agrees with itself.
    """
    if side.shape[1] == 1:
        return np.ones(len(side))
    pairs = list(combinations(range(side.shape[1]), 2))
    return _mean_over(side, side, pairs, similarity)


def agreement_between(source: Lists, followup: Lists, similarity: Similarity) -> Floats:
    """Mean agreement of all answers of one side with all answers of the other."""
    pairs = list(product(range(source.shape[1]), range(followup.shape[1])))
    return _mean_over(source, followup, pairs, similarity)


def _mean_over(
    a: Lists,
    b: Lists,
    pairs: Sequence[tuple[int, int]],
    similarity: Similarity,
) -> Floats:
    """The mean agreement over pairs of replicates of both sides, ``(n,)``."""
    total = np.zeros(len(a))
    for left, right in pairs:
        total += agreement_of(a[:, left], b[:, right], similarity)
    return total / len(pairs)


def agreement_of(a: Lists, b: Lists, similarity: Similarity) -> Floats:
    """Similarity of answers, ``(n,)``; two without any place agree."""
    values = similarity(a, b)
    are_empty = (a[:, 0] == PAD) & (b[:, 0] == PAD)
    return np.where(np.isnan(values), are_empty, values)


def places_of(
    unknown: Collection[str],
    scored: Sequence[str],
    order: Sequence[str],
) -> list[int]:
    """For each user whose value is unknown, in the order drawn, before which scored
    user they stand.

    Args:
        unknown: The users whose value is unknown.
        scored: The scored users, in the order drawn.
        order: All users, in the order drawn.

    Returns:
        Indices among the scored users, ascending; their number for who stands behind
        all of them.
    """
    place = {user: at for at, user in enumerate(order)}
    scored_places = [place[user] for user in scored]
    unknown_places = sorted(place[user] for user in unknown)
    return [bisect(scored_places, at) for at in unknown_places]


def mostly_holes(share: float) -> str:
    """Why agreement does not show "holds" if more than
    `MOST_HOLES` of the places have no offered item.
    """
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
