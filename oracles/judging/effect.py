"""Effects: how far the answers of each user moved, beyond the recommender's own noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Asked, Context, Pairs
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import PAD, Floats
from pytest_recsys_mt.oracles.scores.slots import offered
from pytest_recsys_mt.oracles.similarities.similarity import Similarity, least_effect
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Mean

MOST_HOLES = 0.5
"""The largest share of compared places without an offered item at which a promise may hold. Lists
that agree on a share h of such places can differ by margin / (1 - h) on the others: at one half the
margin is at most twice the declared one, above it there is no telling."""

NOTHING_SHARED = "no place of the answers can be compared"
NO_ANSWER = "no recommendation in any answer"
ONE_REPLICATE = (
    "one answer a side cannot show a stochastic recommender's own noise; ask for two replicates "
    "(--recsys-replicates=2), or declare the recommender `deterministic = True`"
)


@dataclass(frozen=True)
class Effects:
    """What an oracle measured, user by user.

    Attributes:
        rows: Which of the users handed in were scored, ``(n,)``.
        effect: Their effects, in the unit of the margin, ``(n,)``.
        reach: The smallest and the largest possible effect.
        mean: What they say of all users' mean effect, where that is not for bets to say.
        wide: Whether users' effects are expected everywhere in their range; see `betting`.
        floor: Agreement of each user's replicates with each other, ``(n,)``, where that is a
            similarity.
        agreement: Agreement of each user's source and follow-up, ``(n,)``, likewise.
        not_applicable: Why further users could not be scored, with how many.
        errors: Why further users' answers were none, with how many.
        shown: Which answer of each user is the one to show, ``(n,)``; the first where None.
        obstacle: Why no verdict can be had from these answers, whatever the numbers.
        note: What a reader of the numbers should know.
        holes: The share of the compared places that name no item that was offered.
        joint: Whether the mean is a number of all users together (an aggregate), so that nothing
            bounds what a user who was not measured would add to it.
        approximate: Whether the bounds of `mean` have no proof, so that they must be called so.
        unmeasured: Why the follow-ups of further users kept failing although their source was
            answered, with how many.
        unknown: Before which of the users scored each of those stands, rising.
    """

    rows: NDArray[np.intp]
    effect: Floats
    reach: tuple[float, float]
    mean: Mean | None = None
    wide: bool = False
    floor: Floats | None = None
    agreement: Floats | None = None
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    shown: NDArray[np.intp] | None = None
    obstacle: str = ""
    note: str = ""
    holes: float = 0.0
    joint: bool = False
    approximate: bool = False
    unmeasured: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[int, ...] = ()

    @property
    def of_all(self) -> Mean:
        """What they say of all users' mean effect; of one user scored at least."""
        return self.mean or Bets(self.effect, *self.reach, self.unknown, wide=self.wide)


@dataclass(frozen=True)
class Encoded:
    """Answers as numbers, of the users with a recommendation in at least one of them.

    Every list has as many places as its request makes due. A place that the answer leaves empty is
    an item of its own, tied to the place: the number of the place, from 0 to k - 1. Items have
    higher numbers.

    Attributes:
        rows: Which of the users handed in they are, ``(users,)``.
        source: ``(users, replicates, k)``, best first, without repeats; places that are not due
            hold -1.
        followup: ``(users, replicates of the follow-up, k)``.
        holes: The share of their places that name no item that was offered: empty ones, and those
            that hold an invented item or one from elsewhere.
    """

    rows: NDArray[np.intp]
    source: NDArray[np.int32]
    followup: NDArray[np.int32]
    holes: float


@dataclass(frozen=True)
class Moved:
    """How far the answers of each user moved, all ``(n,)``.

    Attributes:
        effect: In the unit of the margin.
        floor: Agreement of the user's replicates with each other.
        agreement: Agreement of source and follow-up.
        least: The smallest possible effect; None for that of the similarity.
        obstacle: Why no verdict can be had from these answers.
    """

    effect: Floats
    floor: Floats
    agreement: Floats
    least: float | None = None
    obstacle: str = ""


Measure = Callable[[NDArray[np.int32], NDArray[np.int32], Similarity], Moved]
"""From the encoded answers of source and follow-up, ``(n, replicates, k)``, to how far they moved."""


def beyond_noise(
    source: NDArray[np.int32], followup: NDArray[np.int32], similarity: Similarity
) -> Moved:
    """The noise floor less the agreement of source and follow-up.

    With B and B' the mean similarity between replicates of the source and of the follow-up, and M
    that between source and follow-up, ``D = (B + B') / 2 - M``. Its mean is half the squared energy
    distance of the two distributions of answers (Szekely and Rizzo 2013, J. Stat. Plan. Inference
    143): 0 where they are one, and for the `similarity.METRICS` never negative; positive where what the
    similarity sees of them differs, also where one side is merely calmer. For Kendall and Fagin it may be 0 or less though they differ.

    Args:
        source: Encoded answers.
        followup: Encoded answers.
        similarity: In [0, 1].
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
    """The effect of each user: how far the lists moved.

    Lists are compared as `encode` makes them: over all places that are due, of which those that an
    answer leaves empty agree with nothing but the same place left empty.

    Args:
        pairs: The answers of both sides.
        context: Whether the recommender is deterministic; then one answer a side has floor 1.
        similarity: In [0, 1].
        shared_only: Leave out what one request offered and the other did not; see `encode`.
        measure: How far the lists of a user moved.

    Returns:
        One effect a user with any answer; users whose lists share no place are not applicable.

    Raises:
        OracleError: If users have different numbers of answers.
    """
    encoded = encode(pairs, context, shared_only=shared_only)
    sides = (encoded.source, encoded.followup)
    comparable = np.all([(side[:, :, 0] > PAD).any(axis=1) for side in sides], axis=0)
    rows = encoded.rows[comparable]
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
        not_applicable=counted(NOTHING_SHARED, len(encoded.rows) - len(rows)),
        errors=counted(NO_ANSWER, len(pairs.source) - len(encoded.rows)),
        obstacle=obstacle or moved.obstacle,
        holes=encoded.holes,
    )


def agreement_within(side: NDArray[np.int32], similarity: Similarity) -> Floats:
    """Mean agreement between the answers of one side.

    Args:
        side: Encoded answers, ``(n, replicates, k)``.
        similarity: In [0, 1].

    Returns:
        ``(n,)``; 1 where there is one answer only, which agrees with itself.
    """
    if side.shape[1] == 1:
        return np.ones(len(side))
    return _mean_over(side, side, list(combinations(range(side.shape[1]), 2)), similarity)


def agreement_between(
    source: NDArray[np.int32],
    followup: NDArray[np.int32],
    similarity: Similarity,
) -> Floats:
    """Mean agreement of all answers of one side with all of the other.

    Args:
        source: Encoded answers, ``(n, replicates, k)``.
        followup: Encoded answers, ``(n, replicates of the follow-up, k)``.
        similarity: In [0, 1].

    Returns:
        ``(n,)``.
    """
    all_pairs = list(product(range(source.shape[1]), range(followup.shape[1])))
    return _mean_over(source, followup, all_pairs, similarity)


def agreement_of(a: NDArray[np.int32], b: NDArray[np.int32], similarity: Similarity) -> Floats:
    """Similarity of answers.

    Args:
        a: Encoded answers, ``(n, k)``.
        b: The answers to compare with, ``(n, k)``, of which as many places are due.
        similarity: In [0, 1].

    Returns:
        ``(n,)``; 1 where no place is due.
    """
    values = similarity(a, b)
    return np.where(np.isnan(values), 1.0, values)


def encode(pairs: Pairs, context: Context, *, shared_only: bool = False) -> Encoded:
    """Number the items of both sides alike, and every place without one.

    Due are as many places as the request asks for and has candidates, the same of both sides: the
    fewer of the two. An item counts at its first place, and its repeats close up. Items that no
    request offered, invented ones among them, are items like any other.

    Args:
        pairs: The answers of both sides.
        context: Holds the catalogue.
        shared_only: Leave out the items that the answer's own request offered and the other side's
            did not, close the gap, and have so many places less due of that answer, and so of all
            others of that user. What neither request offered stays where it is.

    Returns:
        The answers of the users with any recommendation.

    Raises:
        OracleError: If users have different numbers of answers.
    """
    sides = (pairs.source, pairs.followup)
    answered = [
        any(answer.items for asked in both for answer in asked.answers)
        for both in zip(*sides, strict=True)
    ]
    rows = np.flatnonzero(answered)
    depths = [min(map(_due, both)) for both in zip(*sides, strict=True)]
    numbers: dict[str, int] = {}
    encoded = [
        _encode_side(ours, theirs, depths, numbers, context, shared_only)
        for ours, theirs in (sides, sides[::-1])
    ]
    (source, followup), filled = zip(
        *((codes[rows], of[rows]) for codes, of in encoded), strict=True
    )
    # Whatever of one user is compared is so deep: a floor of longer lists would be another one.
    due = np.minimum(*((side > PAD).sum(axis=2).min(axis=1) for side in (source, followup)))
    beyond = np.arange(source.shape[2]) >= due[:, None, None]
    source, followup = (np.where(beyond, PAD, side) for side in (source, followup))
    places = int((source > PAD).sum() + (followup > PAD).sum())
    named = sum(int((of & ~beyond).sum()) for of in filled)
    return Encoded(rows, source, followup, 1 - named / places if places else 0.0)


def replicates_of(asked: Sequence[Asked]) -> int:
    """How many answers each user has on this side.

    Raises:
        OracleError: If users have different numbers of answers, or none.
    """
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
    others: Sequence[Asked],
    depths: Sequence[int],
    numbers: dict[str, int],
    context: Context,
    shared_only: bool,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The answers of one side, and which of their places hold an item that was offered."""
    width = max([1, *depths])
    shape = (len(side), replicates_of(side), width)
    codes, filled = np.full(shape, PAD, np.int32), np.zeros(shape, np.bool_)
    for row, (asked, other, depth) in enumerate(zip(side, others, depths, strict=True)):
        ours, theirs = offered(asked, context), offered(other, context)
        for replicate, answer in enumerate(asked.answers):
            named = list(dict.fromkeys(answer.items))[: _due(asked)]
            items = [item for item in named if not shared_only or theirs(item) or not ours(item)]
            due = min(depth, _due(asked) - len(named) + len(items))
            items = items[:due]
            places, holes = codes[row, replicate], range(len(items), due)
            places[:due] = [*(numbers.setdefault(i, width + len(numbers)) for i in items), *holes]
            filled[row, replicate, : len(items)] = list(map(ours, items))
    return codes, filled


def _due(asked: Asked) -> int:
    """How many items a request asks for, as far as it has so many candidates."""
    request = asked.request
    if request.candidates is None:
        return request.k
    return min(request.k, len({item.id for item in request.candidates}))


def _mean_over(
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    pairs: Sequence[tuple[int, int]],
    similarity: Similarity,
) -> Floats:
    total = np.zeros(len(a))
    for left, right in pairs:
        total += agreement_of(a[:, left], b[:, right], similarity)
    return total / len(pairs)


def follow_ups_failed(count: int, users: int) -> str:
    """What the reason of a verdict says of follow-ups that kept failing."""
    which = "follow-up" if count == 1 else "follow-ups"
    return (
        f"{count} {which} of {users} kept failing although the source was answered; each counts against "
        f"every claim: as the worst effect against holds, as the best against violated"
    )


def mostly_holes(share: float) -> str:
    """Why lists that agree are no reason for "holds" where more than `MOST_HOLES` of them is nothing."""
    return (
        f"{share:.0%} of the compared places are empty or name what was not offered, and lists that "
        f"agree there say nothing of the others: more than {MOST_HOLES:.0%} is too much for "
        f'"holds"; ask for fewer items (--recsys-k), or see why answers are short (complete_list, '
        f"only_candidates)"
    )


def counted(reason: str, count: int) -> Mapping[str, int]:
    """A reason with how many users it is true of, or nothing."""
    return {reason: count} if count else {}
