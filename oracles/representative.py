"""The sampled users must be like all users."""

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.statistics.same_distribution import same_distribution
from pytest_recsys_mt.oracles.user_scores import account_of, incomplete, user_scores
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict


def representative(
    sample: Answers,
    everybody: Answers,
    score: str = "ndcg",
    alpha: float = 0.05,
) -> Verdict:
    """The per-user score must have the same distribution on the sample as on all users.

    As in https://arxiv.org/abs/2411.00331, a sample is accepted if the
    Kolmogorov-Smirnov test finds no difference. This does not prove that there is no
    difference.

    Example:
        assert representative(recsys.run(), recsys.using(users=100_000).run(), "ndcg@5")

    Args:
        sample: Answers of one recommender to the sampled users.
        everybody: Its answers to all users.
        score: As in `at_least`.
        alpha: A sample with a smaller p-value is not accepted.

    Returns:
        ``holds`` if the sample is accepted, ``violated`` if not; the details give the
        p-value. See `incomplete` for sides that lack users.

    Raises:
        OracleError: If a side has no scored user.
    """
    oracle = f"representative:{score}"
    level = share(oracle, "alpha", alpha)
    if (lacking := incomplete(oracle, [sample, everybody], score)) is not None:
        return sample.context.report(lacking)
    few, all_of_them = (
        [float(value[0]) for value in user_scores([side], score).values()]
        for side in (sample, everybody)
    )
    if not few or not all_of_them:
        raise OracleError(
            f"{oracle}: a side has no scored user, got {len(few)} of the sample and "
            f"{len(all_of_them)} of all; use a score that these users have",
        )
    statistic, p_value = same_distribution(few, all_of_them)
    return sample.context.report(
        Verdict(
            "holds" if p_value >= level else "violated",
            oracle,
            users=len(few),
            account=account_of([sample], score, len(few)).plain,
            reason=f"Kolmogorov-Smirnov distance {statistic:.4f} of {len(few)} from "
            f"{len(all_of_them)} users, p={p_value:.3g}, rejected below {level:g}",
            details={
                "figures": {
                    "distance": statistic,
                    "p": p_value,
                    "alpha": level,
                    "users": len(few),
                },
            },
        ),
    )
