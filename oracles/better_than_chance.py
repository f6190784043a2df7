"""Multiple-choice questions must be answered better than by guessing."""

from collections.abc import Mapping

from pytest_recsys_mt.oracles.judging.multiple_choice import begun, judged
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.oracles.statistics.intervals import rate_interval
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Choices, Context
from pytest_recsys_mt.verdict.verdict import Verdict


def better_than_chance(
    choices: Choices,
    context: Context,
    threshold: float | None = None,
    *,
    metric: str = "accuracy",
    dimension: str = "",
    details: Mapping[str, object] | None = None,
) -> Verdict:
    """The share of right answers must be above a threshold, by default chance.

    The bounds are exact (Clopper and Pearson 1934, Biometrika 26), so a model that
    guesses passes with probability at most alpha. Missed answers are wrong for the
    lower bound and right for the upper one.

    Example:
        assert better_than_chance(replies.choices, recsys.context)

    Args:
        choices: The chosen options.
        context: Context of the run.
        threshold: In [0, 1); None means one over the number of options.
        metric: Name of the share: ``accuracy``, or ``hit@1`` if the options are
            candidates.
        dimension: Name of the dimension; by default that of the share.
        details: Further details of the verdict.

    Returns:
        A verdict with `metric`, `value`, `threshold` and `interval` (the exact
        one-sided bounds): ``holds`` if the lower bound is above the threshold,
        ``violated`` if the upper one is not; ``inconclusive`` if more answers were
        missed than the run allows (`Context.missed_limit`). Its `per_user` has 1 for
        each question with a right answer and 0 for each other one. Its details contain
        a ``dimension`` with Wilson's 95 % interval.
    """
    limit = _limit(choices, threshold)
    found, done = begun(
        "better_than_chance",
        context,
        choices,
        details=details,
        metric=metric,
    )
    if done:
        return found
    return judged(
        found,
        _rate(choices),
        "at least",
        limit,
        context,
        details={"dimension": _dimension(choices, dimension or metric)},
        metric=metric,
        value=choices.accuracy,
        measures="share of right answers",
        users=len(choices.hits),
        per_user=_right_or_wrong(choices),
        reach=(0.0, 1.0),
    )


def _limit(choices: Choices, threshold: float | None) -> float:
    """The threshold, by default chance, after a check."""
    limit = 1 / choices.options if threshold is None else threshold
    if not 0 <= limit < 1:
        raise OracleError(
            f"better_than_chance: threshold must lie in [0, 1), got {threshold!r}",
        )
    return limit


def _rate(choices: Choices) -> Rate:
    """The share of right answers, with the missed ones of unknown value."""
    missed = choices.chosen.count(None)
    return Rate(sum(choices.hits), len(choices.hits) - missed, missed)


def _dimension(choices: Choices, name: str) -> dict[str, object]:
    """The share of right answers with Wilson's 95 % interval, in which missed answers
    are wrong at one end and right at the other.
    """
    count, users = sum(choices.hits), len(choices.hits)
    most = count + choices.chosen.count(None)
    return {
        "name": name,
        "value": choices.accuracy,
        "low": rate_interval(count, users)[0],
        "high": rate_interval(most, users)[1],
    }


def _right_or_wrong(choices: Choices) -> dict[str, float]:
    """1 for each question with a right answer, 0 for each with a
    wrong one; missed answers are left out.
    """
    rows = zip(choices.questions, choices.hits, choices.chosen, strict=True)
    return {name: float(hit) for name, hit, chosen in rows if chosen is not None}
