"""Effects: how far the answers of each user moved, beyond the recommender's own noise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Asked, Context, Pairs
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.bounds import Mean, mean_of
from pytest_recsys_mt.oracles.kernel import PAD, Floats
from pytest_recsys_mt.oracles.similarities import Similarity

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
        mean: What they say of all users' mean effect; None where no user was scored.
        reach: The smallest and the largest effect there can be.
        floor: Agreement of each user's replicates with each other, ``(n,)``, where that is a
            similarity.
        agreement: Agreement of each user's source and follow-up, ``(n,)``, likewise.
        not_applicable: Why further users could not be scored, with how many.
        errors: Why further users' answers were none, with how many.
        shown: Which answer of each user is the one to show, ``(n,)``; the first where None.
        obstacle: Why no verdict can be had from these answers, whatever the numbers.
        note: What a reader of the numbers should know.
    """

    rows: NDArray[np.intp]
    effect: Floats
    mean: Mean | None
    reach: tuple[float, float]
    floor: Floats | None = None
    agreement: Floats | None = None
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    shown: NDArray[np.intp] | None = None
    obstacle: str = ""
    note: str = ""


@dataclass(frozen=True)
class Encoded:
    """Answers as numbers.

    Attributes:
        source: ``(users, replicates, k)``, best first, without repeats, padded with -1.
        followup: ``(users, replicates of the follow-up, k)``.
    """

    source: NDArray[np.int32]
    followup: NDArray[np.int32]

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Users with a recommendation in at least one answer, ``(users,)``."""
        first = [side[:, :, 0] for side in (self.source, self.followup)]
        out: NDArray[np.bool_] = np.concatenate(first, axis=1).max(axis=1) > PAD
        return out


def similarity_effects(
    pairs: Pairs, context: Context, similarity: Similarity, *, shared_only: bool = False
) -> Effects:
    """The effect of each user: noise floor minus agreement of source and follow-up.

    With B and B' the mean similarity between replicates of the source and of the follow-up, and M
    that between source and follow-up, ``D = (B + B') / 2 - M``. It is 0 on average where both
    answers come from one distribution, also where one side is calmer (the energy distance of
    Szekely and Rizzo 2013, J. Stat. Plan. Inference 143).

    An empty answer has similarity 0 with any other, and 1 with another empty one. Repeats inside an
    answer count at their first place. Lists are compared up to the smaller k of the two requests.

    Args:
        pairs: The answers of both sides.
        context: Whether the recommender is deterministic; then one answer a side has floor 1.
        similarity: In [0, 1].
        shared_only: Compare the order of the items that both requests offered, nothing else; two
            lists are then compared up to the length of the shorter.

    Returns:
        One effect a user with any answer.

    Raises:
        OracleError: If users have different numbers of answers.
    """
    encoded = encode(pairs, shared_only=shared_only)
    (rows,) = np.nonzero(encoded.answered)
    source, followup = encoded.source[rows], encoded.followup[rows]
    alone = 1 in (source.shape[1], followup.shape[1])
    obstacle = ONE_REPLICATE if alone and not context.deterministic else ""

    agreement = agreement_between(source, followup, similarity, level=shared_only)
    floor = agreement_within(source, similarity, level=shared_only) / 2
    floor += agreement_within(followup, similarity, level=shared_only) / 2
    effect = floor - agreement
    low = 0.0 if source.shape[1] == followup.shape[1] == 1 else -1.0
    return Effects(
        rows=rows,
        effect=effect,
        mean=mean_of(effect, low, 1.0, context.deterministic) if len(rows) else None,
        reach=(low, 1.0),
        floor=floor,
        agreement=agreement,
        errors=counted(NO_ANSWER, len(pairs.source) - len(rows)),
        obstacle=obstacle,
    )


def agreement_within(
    side: NDArray[np.int32], similarity: Similarity, *, level: bool = False
) -> Floats:
    """Mean agreement between the answers of one side.

    Args:
        side: Encoded answers, ``(n, replicates, k)``.
        similarity: In [0, 1].
        level: As of `agreement_of`.

    Returns:
        ``(n,)``; 1 where there is one answer only, which agrees with itself.
    """
    if side.shape[1] == 1:
        return np.ones(len(side))
    return _mean_over(side, side, list(combinations(range(side.shape[1]), 2)), similarity, level)


def agreement_between(
    source: NDArray[np.int32],
    followup: NDArray[np.int32],
    similarity: Similarity,
    *,
    level: bool = False,
) -> Floats:
    """Mean agreement of all answers of one side with all of the other.

    Args:
        source: Encoded answers, ``(n, replicates, k)``.
        followup: Encoded answers, ``(n, replicates of the follow-up, k)``.
        similarity: In [0, 1].
        level: As of `agreement_of`.

    Returns:
        ``(n,)``.
    """
    all_pairs = list(product(range(source.shape[1]), range(followup.shape[1])))
    return _mean_over(source, followup, all_pairs, similarity, level)


def agreement_of(
    a: NDArray[np.int32], b: NDArray[np.int32], similarity: Similarity, *, level: bool = False
) -> Floats:
    """Similarity of answers, defined for empty ones too.

    Args:
        a: Encoded answers, ``(n, k)``.
        b: The answers to compare with, ``(n, k)``.
        similarity: In [0, 1].
        level: Compare two lists up to the length of the shorter one.

    Returns:
        ``(n,)``: 1 for two empty answers, 0 for an empty and another one.
    """
    if level:
        beyond = (a == PAD) | (b == PAD)
        one_empty = (a[:, 0] == PAD) ^ (b[:, 0] == PAD)
        a = np.where(beyond & ~one_empty[:, None], PAD, a)
        b = np.where(beyond & ~one_empty[:, None], PAD, b)
    values = similarity(a, b)
    both_empty = (a[:, 0] == PAD) & (b[:, 0] == PAD)
    return np.where(np.isnan(values), both_empty.astype(np.float64), values)


def encode(pairs: Pairs, *, shared_only: bool = False) -> Encoded:
    """Number the items of both sides alike.

    Args:
        pairs: The answers of both sides.
        shared_only: Keep only items that both requests offered.

    Returns:
        The answers, each item once at its first place, up to the smaller k of the two requests.

    Raises:
        OracleError: If users have different numbers of answers.
    """
    depths = [
        min(a.request.k, b.request.k) for a, b in zip(pairs.source, pairs.followup, strict=True)
    ]
    offers: Sequence[Collection[str] | None] = [None] * len(depths)
    if shared_only:
        offers = [_shared(a, b) for a, b in zip(pairs.source, pairs.followup, strict=True)]
    numbers: dict[str, int] = {}
    source, followup = (
        _encode_side(side, depths, offers, numbers) for side in (pairs.source, pairs.followup)
    )
    return Encoded(source, followup)


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
    depths: Sequence[int],
    offers: Sequence[Collection[str] | None],
    numbers: dict[str, int],
) -> NDArray[np.int32]:
    shape = (len(side), replicates_of(side), max(depths, default=1))
    out = np.full(shape, PAD, np.int32)
    for asked, depth, offer, lists in zip(side, depths, offers, out, strict=True):
        for answer, places in zip(asked.answers, lists, strict=True):
            items = list(dict.fromkeys(answer.items))
            if offer is not None:
                items = [item for item in items if item in offer]
            codes = [numbers.setdefault(item, len(numbers)) for item in items[:depth]]
            places[: len(codes)] = codes
    return out


def _shared(source: Asked, followup: Asked) -> Collection[str] | None:
    """Ids of the items that both requests offered; None where both offered the catalogue."""
    offers = [
        {item.id for item in asked.request.candidates}
        for asked in (source, followup)
        if asked.request.candidates is not None
    ]
    return set.intersection(*offers) if offers else None


def _mean_over(
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    pairs: Sequence[tuple[int, int]],
    similarity: Similarity,
    level: bool,
) -> Floats:
    total = np.zeros(len(a))
    for left, right in pairs:
        total += agreement_of(a[:, left], b[:, right], similarity, level=level)
    return total / len(pairs)


def counted(reason: str, count: int) -> Mapping[str, int]:
    """A reason with how many users it is true of, or nothing."""
    return {reason: count} if count else {}
