"""Only few users' answers may change."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats, Lists
from pytest_recsys_mt.oracles.judging.difference import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import (
    Moved,
    agreement_of,
    beyond_noise,
    similarity_effects,
)
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import Similarity, least_effect
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

MOST = 4
"""Most replicates per side that are split in new ways: two per
side have 3 splits, four have 35, five 126.
"""

_ROUNDING = 1e-9


def low_churn(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    beyond: float = 0.25,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """Only a small share of users may get other answers, however small the mean change
    is.

    A mean hides a few strongly affected users: if a tenth of the users get completely
    different lists, the mean user loses 0.1. Churn is the share of users whose answer
    changes (Milani Fard, Cormier, Canini and Gupta 2016, "Launch and Iterate: Reducing
    Prediction Churn", NeurIPS).

    A user counts if D, the loss of agreement beyond noise (`effect.beyond_noise`), is
    above `beyond`. With a stochastic recommender, D may exceed `beyond` by chance. So
    the effect of a user is 1 if D exceeds `beyond`, else 0, minus the share of the
    other splits of the user's answers into two sides for which D exceeds `beyond`. If
    both sides answer from one distribution, all splits are equally likely. Then the
    mean effect is exactly 0, for every recommender and number of replicates. A user
    whose lists change completely has the effect 1, if the agreement that noise leaves
    is above `beyond`.

    Arguments are those of `same_ranking`, but `margin` is the largest share of users
    that may count. `beyond` lies in [0, 1); at 0, every changed list of a deterministic
    recommender counts.

    Example:
        assert low_churn(source, followup, beyond=0.25, margin=0.05)

    Returns:
        ``holds`` if the share is below the margin, ``violated`` if it is above.
        Inconclusive if answers to the same request agree by at most `beyond`, because
        then no change could count.
    """
    if not 0 <= beyond < 1:
        raise OracleError(
            f"low_churn:{similarity}: beyond must lie in [0, 1), got {beyond!r}",
        )
    return judge_agreement(
        "low_churn",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        measures=f"share of users who lost more than {beyond:g} of agreement",
        effects=partial(similarity_effects, measure=partial(_churn, beyond=beyond)),
    )


def _churn(
    source: Lists,
    followup: Lists,
    similarity: Similarity,
    beyond: float,
) -> Moved:
    source, followup = source[:, :MOST], followup[:, :MOST]
    moved = beyond_noise(source, followup, similarity)
    parted = _partings(source, followup, similarity)
    counts = parted > beyond + _ROUNDING
    ways = len(parted)
    # `counts` includes the true split; subtracting it leaves the other splits.
    effect = counts[0] - (counts.sum(axis=0) - counts[0]) / max(1, ways - 1)
    floor = float(moved.floor.mean()) if len(moved.floor) else 1.0
    obstacle = (
        f"answers to the same request agree only {floor:.3f}, so no user could lose more than "
        f"{beyond:g}; ask for less variable answers (a lower temperature) or use a smaller `beyond`"
        if floor <= beyond
        else ""
    )
    sizes = (source.shape[1], followup.shape[1])
    least = -1.0 if 1 in sizes else _least(ways, least_effect(similarity), beyond)
    return Moved(effect, moved.floor, moved.agreement, least, obstacle)


def _partings(source: Lists, followup: Lists, similarity: Similarity) -> Floats:
    """D of every split of a user's answers into sides of these
    sizes, ``(ways, n)``, the true one first.
    """
    answers = np.concatenate([source, followup], axis=1)
    first, all_ = source.shape[1], answers.shape[1]
    pairs = list(combinations(range(all_), 2))
    agreements = np.array(
        [agreement_of(answers[:, i], answers[:, j], similarity) for i, j in pairs],
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
    """The smallest possible effect, with at least two answers per side. D sums to 0
    over all splits, because every pair of answers is equally often within a side. If D
    is above `beyond` for j splits and never below `lowest`, then ``j beyond + (ways -
    j) lowest < 0``.
    """
    others = math.ceil(ways * lowest / (lowest - beyond) - _ROUNDING) - 1
    return -min(others, ways - 1) / (ways - 1)
