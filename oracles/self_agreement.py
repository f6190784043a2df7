"""How far a recommender agrees with itself."""

from collections.abc import Callable
from functools import partial
from math import comb

import numpy as np

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.benchmark import valued
from pytest_recsys_mt.oracles.judging.account import NO_ANSWER, too_many_unread
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import (
    ONE_REPLICATE,
    Effects,
    agreement_within,
    others,
    under,
    unsure,
)
from pytest_recsys_mt.oracles.judging.encoding import encode, filled
from pytest_recsys_mt.oracles.judging.judge import assess
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import (
    Similarity,
    similarity_named,
)
from pytest_recsys_mt.oracles.statistics.bounds import Certain
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs, Sample
from pytest_recsys_mt.verdict.verdict import Verdict


def self_agreement(
    answers: Answers,
    similarity: str = "rbo",
    threshold: float = 0.8,
    *,
    published: bool = False,
    slices: Slices | None = None,
) -> Verdict:
    """Answers to the same request must agree with each other by at least the threshold.

    This uses the noise floor of a recommender as a benchmark, as in the randomness
    control of https://arxiv.org/abs/2411.12121.

    Arguments are those of `same_ranking`, but of one side with two replicates or more,
    and `threshold` is the smallest allowed mean similarity, in (0, 1). With
    `published`, the value is that of the paper's tables: all users are asked even if
    fewer settle it, the missing places of a short list do not count as items, as in
    `paper_t_test`, and an answer of which nothing could be read agrees with none; if
    too many are such (``recsys_missed_limit``), there is no value.

    Example:
        assert self_agreement(recsys.run(), "rbo", threshold=0.8)

    Returns:
        A verdict with `metric`, `value`, `interval` and `threshold`; ``holds`` if the
        lower bound reaches the threshold, ``violated`` if the upper bound is below it.
        A recommender that declares itself deterministic has the value 1.
    """
    metric = f"self_agreement:{similarity}"
    function = similarity_named(similarity)
    claim = Claim(
        metric,
        "at least",
        share(metric, "threshold", threshold),
        ask_everybody=published,
        measures="agreement of answers to the same request",
        slices=slices,
    )
    measure = partial(_agreements, similarity=function, named=published)
    verdict = assess(answers, claim, measure)
    value, sample = verdict.estimate, answers.sample() if published else None
    if (
        sample is not None
        and sample.unread
        and not too_many_unread(sample, answers.context)
    ):
        # An answer of which nothing could be read names no item, so it agrees with
        # none. The interval has more.
        value = _published_value(sample, measure, answers.context)
    return answers.context.report(valued(verdict, metric, value, claim.margin))


def _published_value(
    sample: Sample,
    measure: Callable[[Sample, Context], Effects],
    context: Context,
) -> float:
    whole = sample.whole()
    agreement = np.zeros(len(whole.asked))
    effects = measure(whole, context)
    agreement[effects.rows] = effects.effect
    for row, asked in enumerate(whole.asked):
        read = sum(not answer.unread for answer in asked.answers)
        unread = len(asked.answers) - read
        # `agreement_of` calls two empty lists equal; two answers that nobody could read
        # are not.
        agreement[row] -= (
            comb(unread, 2) / max(1, comb(len(asked.answers), 2)) if read else 0.0
        )
    return float(agreement.mean())


def _agreements(
    sample: Sample,
    context: Context,
    similarity: Similarity,
    named: bool,
) -> Effects:
    # Pairing a side with itself lets `encode`, which takes two sides, encode one.
    encoded = encode(Pairs(sample.asked, sample.asked), context)
    rows = encoded.rows
    source = filled(encoded.source) if named else encoded.source
    agreement = agreement_within(source, similarity)
    alone = encoded.source.shape[1] == 1
    certain = alone and context.deterministic
    failed = under(NO_ANSWER, others(len(sample.asked), rows))
    missing = bool(sample.unread or sample.lost or failed)
    return Effects(
        rows=rows,
        effect=agreement,
        reach=(0.0, 1.0),
        mean=Certain(1.0) if certain and len(rows) and not missing else None,
        agreement=agreement,
        failed=failed,
        obstacle=ONE_REPLICATE if alone and not certain else "",
        unsure=unsure(agreement, encoded.source.shape[1:2], context),
        holes=encoded.holes,
    )
