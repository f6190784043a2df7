"""Multiple-choice questions must be answered better than
by a simple rule on the same questions.
"""

from collections.abc import Mapping

import numpy as np

from pytest_recsys_mt.oracles.arguments import finite
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.multiple_choice import begun, judged
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Choices, Context
from pytest_recsys_mt.verdict.verdict import Verdict


def better_than_baseline(
    choices: Choices,
    baseline: Mapping[str, float],
    context: Context,
    name: str,
    *,
    margin: float = 0.0,
    details: Mapping[str, object] | None = None,
) -> Verdict:
    """The share of right answers must be above that of a baseline, question by
    question.

    Missed answers count as wrong for "holds" and as right for "violated". Each question
    gives the difference between the model's right answer (1 or 0) and the baseline's,
    so questions that are easy for both decide nothing.

    The `baseline` of that `name`, such as ``popularity``, has what it reaches in each
    question, by its name: 1 for a right answer, 0 for a wrong one, the probability of a
    right one where it draws. `margin` is how much better the model must be, in [-1, 1).
    The other arguments are those of `better_than_chance`.

    Example:
        guessing = dict.fromkeys(replies.choices.questions, 0.25)
        assert better_than_baseline(replies.choices, guessing, recsys.context, "guessing")

    Returns:
        A verdict whose `estimate` is the mean difference: ``holds`` if its lower bound
        is above the margin, ``violated`` if its upper one is not; ``inconclusive`` also
        if more answers were missed than the run allows. The ``figures`` give both
        accuracies, and the number of questions that only the model, and only the
        baseline, answered rightly.
    """
    finite("better_than_baseline", "margin", margin)
    if not -1 <= margin < 1:
        raise OracleError(
            f"better_than_baseline: margin must lie in [-1, 1), got {margin!r}",
        )
    _require_values(choices, baseline, name)
    found, done = begun("better_than_baseline", context, choices, details=details)
    if done:
        return found
    theirs = _values(choices, baseline, name)
    ours = np.array(choices.hits, np.float64)
    read = np.array([chosen is not None for chosen in choices.chosen])
    unknown = np.cumsum(read)[~read]
    return judged(
        found,
        Bets((ours - theirs)[read], -1.0, 1.0, unknown.tolist()),
        "at least",
        margin,
        context,
        details={"figures": _figures(ours, theirs, name)},
        estimate=float(np.mean(ours - theirs)),
        measures=f"accuracy minus that of {name}",
        users=len(ours),
    )


def _figures(ours: Floats, theirs: Floats, name: str) -> dict[str, float]:
    """Both accuracies, and how many questions only one side answered rightly."""
    return {
        "accuracy": float(ours.mean()),
        f"accuracy_of_{name}": float(theirs.mean()),
        "only_the_model_is_right": int(((ours == 1) & (theirs == 0)).sum()),
        "only_the_baseline_is_right": int(((ours == 0) & (theirs == 1)).sum()),
    }


def _require_values(choices: Choices, baseline: Mapping[str, float], name: str) -> None:
    """Check that the baseline has a value for each question."""
    lacking = [each for each in choices.questions if each not in baseline]
    if lacking:
        raise OracleError(
            f"better_than_baseline: the baseline {name!r} has no value for {len(lacking)} questions, "
            f"the first is {lacking[0]!r}; give one for each question",
        )


def _values(choices: Choices, baseline: Mapping[str, float], name: str) -> Floats:
    """The values of the baseline in each question, in their order."""
    values = np.array([baseline[each] for each in choices.questions], np.float64)
    outside = values[~((values >= 0) & (values <= 1))]
    if len(outside):
        raise OracleError(
            f"better_than_baseline: values of the baseline {name!r} must lie in [0, 1], got "
            f"{float(outside[0])!r}",
        )
    return values
