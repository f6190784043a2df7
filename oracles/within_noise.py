"""The answers must stay among the recommender's own: they may become calmer, and not move."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.effect import (
    Moved,
    agreement_between,
    agreement_within,
    similarity_effects,
)
from pytest_recsys_mt.oracles.judging.judge import Claim, judge_pair
from pytest_recsys_mt.oracles.similarities.similarity import Similarity, choices, similarity_named
from pytest_recsys_mt.verdict import Verdict

Noise = Literal["source", "followup"]

SIDES: tuple[Noise, ...] = ("source", "followup")


def within_noise(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    noise: Noise = "source",
) -> Verdict:
    """The follow-up must agree with the source as far as the source agrees with itself.

    For changes that may make answers calmer: a lower temperature, a longer history, a clearer prompt.
    `same_ranking` finds those too, since its effect is positive also where two distributions of answers
    differ in their spread alone. Here the effect of a user is ``B - M``: the mean agreement
    of the source's replicates with each other, less that of source and follow-up.

    Its mean is 0 where both answers come from one distribution. In the terms of the Euclidean space in
    which `similarity.METRICS` are squared distances, it is the squared distance of the two centres
    less the variance that the follow-up lost: at most 0 where the follow-up became calmer about the
    same centre, positive where it moved by more than it became calmer, or where it became noisier. So
    a calmer follow-up may move a little, unseen: by what is lost of the spread.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        similarity: ``rbo``, ``kendall``, ``fagin``, ``overlap``, ``jaccard`` or
            ``average_overlap``.
        margin: How much less the mean user's source and follow-up may agree, in (0, 1).
        noise: Whose own agreement is the measure: ``source`` allows a calmer follow-up, ``followup``
            a noisier one.

    Returns:
        ``holds`` if the mean effect is below the margin, ``violated`` if it is above. Of a
        deterministic recommender, which has no noise, as `same_ranking` has it.

    Raises:
        OracleError: If an argument is none of these.
    """
    oracle = f"within_noise:{similarity}"
    function = similarity_named(similarity)
    if noise not in SIDES:
        raise OracleError(f"{oracle}: there is no side {noise!r}; {choices(noise, SIDES)}")

    def measure(
        source: NDArray[np.int32], followup: NDArray[np.int32], similarity: Similarity
    ) -> Moved:
        floor = agreement_within(source if noise == "source" else followup, similarity)
        agreement = agreement_between(source, followup, similarity)
        return Moved(floor - agreement, floor, agreement)

    return judge_pair(
        source,
        followup,
        Claim(oracle, "at most", share(oracle, "margin", margin)),
        lambda pairs, context: similarity_effects(pairs, context, function, measure=measure),
    )
