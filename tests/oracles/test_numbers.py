"""Whatever the answers, a verdict carries numbers or says that it has none."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError, Verdict, oracles
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs, Sample
from tests.oracles.support import FakeAnswers, ask
from tests.support.oracles_judging import (
    Claim,
    Effects,
    Promise,
    Seen,
    paired_differences,
    verdict_of,
)

CATALOGUE = "abcdef"
ITEMS = {name: Item(name, f"Film {name}", 2000) for name in CATALOGUE}
SIMILARITIES = ("rbo", "kendall", "fagin", "overlap", "jaccard", "average_overlap")

Oracle = Callable[[Answers, Answers], Verdict]
ORACLES: dict[str, Oracle] = {
    **{
        f"{oracle.__name__}:{name}": partial(oracle, similarity=name, margin=0.1)
        for oracle in (
            oracles.same_ranking,
            oracles.same_order,
            oracles.different_ranking,
        )
        for name in SIMILARITIES
    },
    "same_set": oracles.same_set,
    "same_answer": oracles.same_answer,
    "same_hits": oracles.same_hits,
    "not_worse": lambda a, b: oracles.not_worse(a, b, "ndcg"),
    "not_lifted": oracles.not_lifted,
    "increases": oracles.increases,
    "decreases": lambda a, b: oracles.decreases(a, b, margin=0.3),
    "self_agreement": lambda a, b: oracles.self_agreement(b),
    "no_repeats": lambda a, b: oracles.no_repeats(b),
    "only_candidates": lambda a, b: oracles.only_candidates(b),
    "complete_list": lambda a, b: oracles.complete_list(b),
    "paper_t_test": oracles.paper_t_test,
}


def check(verdict: Verdict, alpha: float) -> None:
    """Every number is finite and what it says it is; a
    verdict has all numbers it rests on.
    """
    low, high = verdict.interval or (0.0, 0.0)
    value = verdict.value if verdict.metric else verdict.estimate
    for number in (low, high, value, verdict.p_value, verdict.floor, verdict.agreement):
        assert number is None or (isinstance(number, float) and math.isfinite(number))
    for share in (verdict.p_value, verdict.floor, verdict.agreement):
        assert share is None or -1e-12 <= share <= 1 + 1e-12
    assert low <= high
    if (
        value is not None and alpha <= 0.2
    ):  # beyond, a correction for skewness may pass the mean
        assert low - 1e-9 <= value <= high + 1e-9
    if verdict.status in ("holds", "violated"):
        assert verdict.interval is not None
        assert verdict.users >= 1
        assert value is not None
        assert verdict.p_value is not None
    else:
        assert verdict.reason
        assert not verdict
    assert not re.search(r"\b(nan|inf|None)\b", f"{verdict.summary} {verdict.numbers}")
    assert min(verdict.users, verdict.not_applicable, verdict.errors) >= 0
    assert 1 <= verdict.looks <= 45


@st.composite
def both_sides(draw: st.DrawFn) -> tuple[FakeAnswers, FakeAnswers]:
    """Up to 45 users whose answers are any lists at all:
    empty, alike, with repeats or strays.
    """
    replicates = draw(st.integers(1, 3))
    answer = st.lists(st.sampled_from([*CATALOGUE, "unknown:x"]), max_size=6)
    kinds = draw(
        st.lists(
            st.tuples(
                *[st.lists(answer, min_size=replicates, max_size=replicates)] * 2,
            ),
            min_size=1,
            max_size=5,
        ),
    )
    places = draw(st.lists(st.integers(0, len(kinds) - 1), max_size=45))
    relevant = draw(st.sampled_from(["", "a"]))
    popularity = draw(st.sampled_from([{}, {"a": 5, "b": 0, "c": 1000}]))
    context = Context(
        alpha=draw(st.sampled_from([0.001, 0.05, 0.4])),
        deterministic=replicates == 1 and draw(st.booleans()),
        items=ITEMS,
        popularity=popularity,
    )
    candidates = draw(st.sampled_from([None, CATALOGUE]))
    source, followup = (
        ask(
            [kinds[place][side] for place in places],
            candidates=candidates,
            relevant=relevant,
        )
        for side in (0, 1)
    )
    return FakeAnswers(source, context), FakeAnswers(
        followup,
        context,
        "changed",
        same_seed=True,
    )


@pytest.mark.parametrize("name", ORACLES)
@settings(max_examples=settings().max_examples // 4)
@given(sides=both_sides())
def test_no_answers_make_a_number_that_is_none(
    name: str,
    sides: tuple[FakeAnswers, FakeAnswers],
) -> None:
    check(ORACLES[name](*sides), sides[0].context.alpha)


effects = st.one_of(
    st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=120),
    st.lists(st.floats(-1, 1), min_size=1, max_size=120),
    # Hardly any variation, where a variance may vanish by rounding.
    st.tuples(
        st.floats(-1, 1),
        st.lists(st.integers(-9, 9), min_size=1, max_size=120),
    ).map(
        lambda drawn: [
            min(1.0, max(-1.0, drawn[0] + 1e-13 * step)) for step in drawn[1]
        ],
    ),
)
PROMISES: list[Promise] = ["at most", "at least", "within"]


@settings(max_examples=30)
@given(effects, st.sampled_from(PROMISES), st.data())
def test_no_effects_do_either(
    values: list[float],
    promise: Promise,
    data: st.DataObject,
) -> None:
    array = np.array(values)
    asked = ask([[["a"]]] * len(values))
    seen = Seen.of(
        Effects(np.arange(len(values)), array, (-1.0, 1.0)),
        Sample(tuple(asked)),
        asked,
        (),
    )
    claim = Claim("any", promise, data.draw(st.sampled_from([0.01, 0.05, 0.5])))
    context = Context(alpha=data.draw(st.sampled_from([1e-6, 0.05, 0.49])))
    check(verdict_of(claim, "", seen, context), context.alpha)


def test_a_distance_is_no_difference_for_a_noisy_recommender() -> None:
    def distance(source: Asked, followup: Asked, context: Context) -> float:
        return float(source.answers[0].items != followup.answers[0].items)

    lists = [[["a", "b"], ["b", "a"]]] * 30
    other = [[["b", "a"], ["a", "b"]]] * 30
    pairs = Pairs(tuple(ask(lists)), tuple(ask(other)))
    with pytest.raises(
        OracleError,
        match=r"of user 'u0' is 1 from source to follow-up and 1 .*use scored",
    ):
        paired_differences(pairs, Context(), distance)
    effects = paired_differences(pairs, Context(deterministic=True), distance)
    assert effects.effect.mean() == 1


def test_the_line_of_numbers_calls_users_left_out_by_their_name() -> None:
    account = {"answered": 8, "not_applicable": 1, "refused": 2, "left_out": 88}
    verdict = Verdict(
        "holds",
        "at_most",
        "r",
        users=8,
        not_applicable=89,
        errors=2,
        account=account,
    )
    assert verdict.numbers.endswith("n=8; not applicable=1; refused=2; left out=88")
