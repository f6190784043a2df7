"""Questions about less popular items must be answered
as well as those about popular ones.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.judging.multiple_choice import begun, judged
from pytest_recsys_mt.oracles.statistics.bounds import Mean, Rate, first_of
from pytest_recsys_mt.verdict.answers import Choices, Context
from pytest_recsys_mt.verdict.verdict import Verdict


class RateDifference(Mean):
    """Bounds for the difference of two rates, conservative for any sizes: Bonferroni
    over the exact bounds of both.
    """

    def __init__(self, first: Rate, second: Rate) -> None:
        self.estimate = first.estimate - second.estimate
        self._first, self._second = first, second

    def lower(self, alpha: float) -> float:
        return self._first.lower(alpha / 2) - self._second.upper(alpha / 2)

    def upper(self, alpha: float) -> float:
        return self._first.upper(alpha / 2) - self._second.lower(alpha / 2)

    def p_at_most(self, value: float) -> float:
        return _smallest(lambda alpha: self.lower(alpha) > value)

    def p_at_least(self, value: float) -> float:
        return _smallest(lambda alpha: self.upper(alpha) < value)


def accuracy_gap(
    choices: Choices,
    rare: Collection[str],
    context: Context,
    margin: float,
    *,
    details: Mapping[str, object] | None = None,
) -> Verdict:
    """Accuracy on less popular items may be lower by at most the margin.

    Arguments are those of `better_than_chance`, but `rare` are the names of the
    questions about less popular items, and `margin` is the largest gap, at least 0.

    Example:
        assert accuracy_gap(replies.choices, ["q1", "q2"], recsys.context, margin=0.1)

    Returns:
        A verdict whose `estimate` is the accuracy on the other items minus that on the
        rare ones. The ``figures`` give both, and the shares of rare items among wrong
        and among right answers (figure 10 of the paper). Not applicable if a group is
        empty.
    """
    not_negative("accuracy_gap", "margin", margin)
    found, done = begun("accuracy_gap", context, choices, details=details, column=False)
    if done:
        return found
    groups, missed = _by_group(choices, rare)
    if not all(groups.values()):
        reason = "all questions are about items of one popularity group"
        found = replace(
            found,
            status="not-applicable",
            reason=reason,
            users=0,
            errors=0,
            account={},
        )
        return context.report(found)
    popular, unpopular = (
        Rate(sum(groups[key]), len(groups[key]) - missed[key], missed[key])
        for key in (False, True)
    )
    means = {key: sum(hits) / len(hits) for key, hits in groups.items()}
    return judged(
        found,
        RateDifference(popular, unpopular),
        "at most",
        margin,
        context,
        details={"figures": _figures(choices, groups[True], means)},
        estimate=means[False] - means[True],
        measures="accuracy on popular items minus that on rare ones",
        users=len(choices.questions),
    )


def _by_group(
    choices: Choices,
    rare: Collection[str],
) -> tuple[dict[bool, list[bool]], Counter[bool]]:
    """Whether each answer is right, and how many were missed, by whether the question
    is about a rare item.
    """
    groups: dict[bool, list[bool]] = {True: [], False: []}
    missed = Counter[bool]()
    for name, hit, chosen in zip(
        choices.questions,
        choices.hits,
        choices.chosen,
        strict=True,
    ):
        groups[name in rare].append(hit)
        missed[name in rare] += chosen is None
    return groups, missed


def _figures(
    choices: Choices,
    rare_hits: Sequence[bool],
    means: Mapping[bool, float],
) -> dict[str, float | None]:
    """Both accuracies, and the shares of rare items among wrong and right answers."""
    wrong, right = choices.hits.count(False), sum(choices.hits)
    return {
        "accuracy_popular": means[False],
        "accuracy_rare": means[True],
        "rare_share_of_wrong": rare_hits.count(False) / wrong if wrong else None,
        "rare_share_of_right": sum(rare_hits) / right if right else None,
    }


def _smallest(rejects: Callable[[float], bool]) -> float:
    return first_of(rejects, 50) if rejects(1 - 1e-9) else 1.0
