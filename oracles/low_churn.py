"""Few users' answers may change."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.effect import (
    Moved,
    agreement_of,
    beyond_noise,
    similarity_effects,
)
from pytest_recsys_mt.oracles.judging.judge import Claim, judge_pair
from pytest_recsys_mt.oracles.similarities.similarity import (
    Similarity,
    least_effect,
    similarity_named,
)
from pytest_recsys_mt.verdict import Verdict

MOST = 4
"""Replicates a side that are parted anew: two a side have 3 partings, four have 35, five 126."""

_ROUNDING = 1e-9


def low_churn(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    beyond: float = 0.25,
    margin: float = 0.05,
) -> Verdict:
    """Only a small share of users may get other answers, however little the mean user does.

    A mean hides few who are hit hard: where a tenth of the users get wholly other lists, the mean user
    loses 0.1. Churn is the share whose answer changes (Milani Fard, Cormier, Canini and Gupta 2016,
    "Launch and Iterate: Reducing Prediction Churn", NeurIPS).

    A user counts whose D, the loss of agreement beyond noise (`effect.beyond_noise`), is above
    `beyond`. A stochastic recommender's D is that by chance, too. So the effect of a user is whether it
    is, less the share of the other ways to part the user's answers into two sides by which it would be.
    Where both sides answer from one distribution every parting is as likely as any other, so that the mean
    effect is 0, exactly, for every recommender and number of replicates. A user whose lists change wholly
    has the effect 1, as far as the noise leaves an agreement above `beyond`.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: ``rbo``, ``kendall``, ``fagin``, ``overlap``, ``jaccard`` or
            ``average_overlap``.
        beyond: How much agreement a user may lose and not count, in [0, 1). At 0 each list of a
            deterministic recommender counts that differs at all.
        margin: The largest share of users that may count, in (0, 1).

    Returns:
        ``holds`` if the share is below the margin, ``violated`` if it is above. Inconclusive where
        answers to the same request agree no more than `beyond`, so that no change could count.

    Raises:
        OracleError: If an argument is none of these.
    """
    oracle = f"low_churn:{similarity}"
    function = similarity_named(similarity)
    if not 0 <= beyond < 1:
        raise OracleError(f"{oracle}: beyond must lie in [0, 1), got {beyond!r}")

    def measure(
        source: NDArray[np.int32], followup: NDArray[np.int32], similarity: Similarity
    ) -> Moved:
        return _churn(source[:, :MOST], followup[:, :MOST], similarity, beyond)

    return judge_pair(
        source,
        followup,
        Claim(oracle, "at most", share(oracle, "margin", margin)),
        lambda pairs, context: similarity_effects(pairs, context, function, measure=measure),
    )


def _churn(
    source: NDArray[np.int32], followup: NDArray[np.int32], similarity: Similarity, beyond: float
) -> Moved:
    moved = beyond_noise(source, followup, similarity)
    parted = _partings(source, followup, similarity)
    counts = parted > beyond + _ROUNDING
    ways = len(parted)
    # Of all the partings, the true one among them: what is left is that of the others.
    effect = counts[0] - (counts.sum(axis=0) - counts[0]) / max(1, ways - 1)
    floor = float(moved.floor.mean()) if len(moved.floor) else 1.0
    obstacle = (
        f"answers to the same request agree only {floor:.3f}, so no user could lose more than "
        f"{beyond:g}; ask for calmer answers (a lower temperature) or take a smaller `beyond`"
        if floor <= beyond
        else ""
    )
    sizes = (source.shape[1], followup.shape[1])
    least = -1.0 if 1 in sizes else _least(ways, least_effect(similarity), beyond)
    return Moved(effect, moved.floor, moved.agreement, least, obstacle)


def _partings(
    source: NDArray[np.int32], followup: NDArray[np.int32], similarity: Similarity
) -> Floats:
    """D of every way to part a user's answers into sides of these sizes, ``(ways, n)``.

    The first is the true one. Of sides of equal size, the same parting with sides changed is left out.
    """
    answers = np.concatenate([source, followup], axis=1)
    first, all_ = source.shape[1], answers.shape[1]
    pairs = list(combinations(range(all_), 2))
    agreements = np.array(
        [agreement_of(answers[:, i], answers[:, j], similarity) for i, j in pairs]
    )
    found = []
    for chosen in combinations(range(all_), first):
        if 2 * first == all_ and 0 not in chosen:
            continue
        ours = np.array([(i in chosen) + (j in chosen) for i, j in pairs])
        within = [
            agreements[ours == side].mean(axis=0) if (ours == side).any() else 1.0
            for side in (0, 2)
        ]
        found.append((within[0] + within[1]) / 2 - agreements[ours == 1].mean(axis=0))
    return np.array(found)


def _least(ways: int, lowest: float, beyond: float) -> float:
    """The smallest effect there can be, with two answers a side or more.

    D of all partings sums to 0, for every pair of answers is as often within a side as its share. If j
    of them are above `beyond` and none is below `lowest`, then ``j beyond + (ways - j) lowest < 0``.
    """
    others = math.ceil(ways * lowest / (lowest - beyond) - _ROUNDING) - 1
    return -min(others, ways - 1) / (ways - 1)
