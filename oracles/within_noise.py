"""The answers must stay within the recommender's own noise:
they may vary less, but must not move.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, get_args

from pytest_recsys_mt.oracles.arrays import Lists
from pytest_recsys_mt.oracles.judging.difference import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import (
    Moved,
    agreement_between,
    agreement_within,
    similarity_effects,
)
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import Similarity, choices
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

Noise = Literal["source", "followup"]

SIDES: tuple[Noise, ...] = get_args(Noise)


def within_noise(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    noise: Noise = "source",
    *,
    slices: Slices | None = None,
) -> Verdict:
    """The follow-up must agree with the source as much as the source agrees with
    itself.

    Use it for changes that may make answers vary less: a lower temperature, a longer
    history, a clearer prompt. `same_ranking` reports such changes too, because its
    effect is also positive if two distributions of answers differ only in their spread.
    Here the effect of a user is ``B - M``: the mean agreement of the source's
    replicates with each other, minus that of source and follow-up. With the `noise` of
    the ``followup``, B is the follow-up's agreement with itself, which allows a more
    variable one. The other arguments are those of `same_ranking`.

    Its mean is 0 if both answers come from one distribution. In the Euclidean space in
    which `similarity.METRICS` are squared distances, it is the squared distance of the
    two centres minus the variance that the follow-up lost. It is at most 0 if the
    follow-up varies less around the same centre. It is positive if the centre moved by
    more than the lost variance, or if the follow-up varies more. So the oracle misses a
    move whose squared distance is at most the lost variance.

    Example:
        assert within_noise(source, followup, "rbo", margin=0.05)

    Returns:
        ``holds`` if the mean effect is below the margin, ``violated`` if it is above.
        For a deterministic recommender, which has no noise, the verdict equals that of
        `same_ranking`.
    """
    if noise not in SIDES:
        raise OracleError(
            f"within_noise:{similarity}: there is no side {noise!r}; {choices(noise, SIDES)}",
        )

    def measure(source: Lists, followup: Lists, similarity: Similarity) -> Moved:
        floor = agreement_within(source if noise == "source" else followup, similarity)
        agreement = agreement_between(source, followup, similarity)
        return Moved(floor - agreement, floor, agreement)

    effects = partial(similarity_effects, measure=measure)
    side = "source" if noise == "source" else "follow-up"
    return judge_agreement(
        "within_noise",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        measures=f"loss of agreement beyond the noise of the {side}",
        effects=effects,
    )
