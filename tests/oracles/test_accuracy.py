from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.stats import binomtest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import not_worse, same_hits
from pytest_recsys_mt.requests import Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import DETERMINISTIC, FakeAnswers, Lists, ask
from tests.support.oracles import mcnemar
from tests.support.oracles_scores import metric_named

HIT, LATE, MISS = [list("rabcd")], [list("abcdr")], [list("abcde")]


def both(
    source: Lists,
    followup: Lists,
    context: Context = DETERMINISTIC,
    relevant: Sequence[str] = ("r",),
) -> tuple[FakeAnswers, FakeAnswers]:
    return (
        FakeAnswers(ask(source, 5, relevant=relevant), context),
        FakeAnswers(
            ask(followup, 5, relevant=relevant),
            context,
            "truncate_history(5)",
        ),
    )


@pytest.mark.parametrize(
    ("metric", "relevant", "expected"),
    [
        ("hit@3", {"c"}, 1),
        ("hit@2", {"c"}, 0),
        ("mrr@5", {"c"}, 1 / 3),
        ("mrr", {"z"}, 0),
        ("ndcg@5", {"c"}, 1 / math.log2(4)),
        ("ndcg@5", {"a", "c"}, (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        ("ndcg@1", {"a", "c"}, 1),
    ],
)
def test_metrics_of_one_answer(
    metric: str,
    relevant: set[str],
    expected: float,
) -> None:
    request = Request("u", (), Scale(), None, 5)
    answer = Recommendation(("a", "a", "b", "c", "d"))
    asked = Asked(request, (answer,), frozenset(relevant))
    assert metric_named(metric).of(answer, asked) == pytest.approx(expected)


def test_as_accurate_answers_are_not_worse_and_lost_hits_are() -> None:
    assert not_worse(*both([HIT] * 160, [HIT] * 160), metric="ndcg@5")
    verdict = not_worse(*both([HIT] * 100, [LATE] * 100), metric="ndcg@5")
    assert verdict.status == "violated"
    assert verdict.estimate == pytest.approx(1 - 1 / math.log2(6))
    assert not_worse(*both([LATE] * 100, [HIT] * 100), metric="mrr").status == "holds"


def test_users_without_a_held_out_item_are_not_applicable() -> None:
    verdict = not_worse(*both([HIT] * 9, [HIT] * 9, relevant=()), metric="hit@5")
    assert verdict.status == "not-applicable"
    assert verdict.reason == "no item was held out"


def test_hits_may_neither_be_lost_nor_gained() -> None:
    assert same_hits(*both([HIT] * 62, [LATE] * 62))
    assert (
        same_hits(*both([HIT] * 50 + [MISS] * 50, [MISS] * 50 + [MISS] * 50)).status
        == "violated"
    )
    assert same_hits(*both([MISS] * 100, [HIT] * 50 + [MISS] * 50)).status == "violated"
    assert same_hits(*both([HIT] * 60, [LATE] * 60), k=3).status == "violated"


def test_hits_that_change_both_ways_alike_are_the_same_rate() -> None:
    source = ([HIT] * 30 + [MISS] * 30) * 10
    followup = ([MISS] + [HIT] * 30 + [MISS] * 29) * 10
    verdict = same_hits(*both(source, followup))
    assert verdict
    assert "users lost their hit, " in verdict.reason
    assert "gained one, McNemar p=1" in verdict.reason


def test_hit_rates_of_a_stochastic_recommender_at_no_difference() -> None:
    rng = np.random.default_rng(1)

    def lists() -> list[list[list[str]]]:
        return [
            [HIT[0] if hit else MISS[0] for hit in row]
            for row in rng.random((600, 2)) < 0.3
        ]

    assert same_hits(*both(lists(), lists(), Context()), margin=0.1)


@pytest.mark.parametrize(("lost", "gained"), [(0, 0), (5, 5), (1, 9), (12, 3)])
def test_mcnemar_is_the_exact_binomial_test(lost: int, gained: int) -> None:
    expected = binomtest(lost, lost + gained).pvalue if lost + gained else 1.0
    assert mcnemar(lost, gained) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (
            lambda a, b: not_worse(a, b, metric="ngcd@10"),
            r"'ngcd@10'.*did you mean 'ndcg'",
        ),
        (lambda a, b: not_worse(a, b, metric="ndcg@x"), r"depth.*'ndcg@x'"),
        (
            lambda a, b: not_worse(a, b, metric="ndcg@10"),
            r"10 places.*5.*--recsys-k=10",
        ),
        (lambda a, b: same_hits(a, b, k=0), r"same_hits: k.*got 0"),
        (lambda a, b: same_hits(a, b, margin=2), r"same_hits:hit: margin.*got 2"),
    ],
)
def test_bad_arguments_are_named(call: Callable[..., object], names: str) -> None:
    with pytest.raises(OracleError, match=names):
        call(*both([HIT] * 3, [HIT] * 3))
