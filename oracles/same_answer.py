"""The same request with the same seed must get the same answer."""

import dataclasses

import numpy as np

from pytest_recsys_mt.oracles.arguments import two_sides
from pytest_recsys_mt.oracles.judging.difference import (
    judge_mean,
    require_answer,
    scored,
)
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.encoding import encode, replicates_of
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


def same_answer(
    source: Answers,
    followup: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """Each answer of the follow-up must equal its counterpart item for item.

    The effect of a user is the share of answers that differ from the source's answer
    with the same seed. No noise is subtracted, because the seed rules it out. Arguments
    are those of `same_ranking`, but `margin` is the largest mean share of answers that
    may differ.

    Example:
        assert same_answer(recsys.run(), recsys.run(same_seed_same_answer), margin=0.05)

    Raises:
        OracleError: If a stochastic recommender was asked with other seeds than those
            of the source (`pytest_recsys_mt.relations.same_seed_same_answer`). A
            deterministic one may be asked anything else.
    """
    two_sides("same_answer", source, followup)
    if not (followup.same_seed or source.same_seed or source.context.deterministic):
        raise OracleError(
            f"same_answer: {followup.label or 'the follow-up'} was asked with other seeds than the "
            f"source, so a stochastic recommender may answer differently; use "
            f"same_seed_same_answer as the transformation, or same_ranking as the oracle",
        )
    measures = "share of answers that differ"
    return judge_mean(
        "same_answer",
        "at most",
        source,
        followup,
        margin,
        measures=measures,
        measure=_changed_shares,
        slices=slices,
    )


def _changed_shares(pairs: Pairs, context: Context) -> Effects:
    if replicates_of(pairs.source) != replicates_of(pairs.followup):
        raise OracleError(
            f"same_answer: every answer needs its counterpart, got {replicates_of(pairs.source)} "
            f"answers of the source and {replicates_of(pairs.followup)} of the follow-up",
        )

    def share_and_first(source: Asked, followup: Asked) -> tuple[float, int]:
        require_answer(source, followup)
        both = zip(source.answers, followup.answers, strict=True)
        changed = [one.items != other.items for one, other in both]
        return sum(changed) / len(changed), changed.index(True) if any(changed) else 0

    # The same seeds leave no noise to take off.
    effects, (effect, shown) = scored(
        share_and_first,
        pairs.source,
        pairs.followup,
        width=2,
        noise="no bias",
    )
    return dataclasses.replace(
        effects,
        floor=np.ones(len(effect)),
        agreement=1 - effect,
        shown=shown.astype(np.intp),
        holes=encode(pairs, context).holes,
    )
