"""Only few users may get the same answer as before."""

import dataclasses

from pytest_recsys_mt.oracles.arguments import share, two_sides_that_may_differ
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import Effects, similarity_effects
from pytest_recsys_mt.oracles.judging.encoding import open_to_both
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict


def few_unchanged(
    source: Answers,
    followup: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """A change that matters must change the answers of all users but a small share.

    `different_ranking` judges the mean: if half of the users get a list that no history
    changes, the other half can still carry the mean. This is the other side of
    `low_churn`. It needs a recommender that always answers alike: with noise, answers
    that nothing changed differ too.

    A user's items count only where both requests offer them, as in `different_ranking`.
    Arguments are those of `same_ranking`, but `margin` is the largest share of users
    whose answer may stay the same.

    Example:
        assert few_unchanged(recsys.run(), recsys.run(swap_history), margin=0.05)

    Raises:
        NotApplicable: If the recommender declares that it does not read what is
            changed.
        OracleError: If it does not declare itself deterministic.
    """
    two_sides_that_may_differ("few_unchanged", source, followup)
    if not source.context.deterministic:
        raise OracleError(
            "few_unchanged: the recommender does not declare itself deterministic, or a test of this run showed "
            "that it is not, and noise changes answers too; use different_ranking",
        )
    claim = Claim(
        "few_unchanged",
        "at most",
        share("few_unchanged", "margin", margin),
        measures="share of users whose answer did not change",
        slices=slices,
        changes=True,
    )
    return judge_pair(source, followup, claim, _unchanged)


def _unchanged(pairs: Pairs, context: Context) -> Effects:
    found = similarity_effects(open_to_both(pairs), context, rbo)
    return dataclasses.replace(
        found,
        effect=(found.effect <= 1e-9).astype(float),  # except for rounding
        reach=(0.0, 1.0),
    )
