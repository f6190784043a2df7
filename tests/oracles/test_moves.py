"""What D is and how small it can be; answers that may
become calmer; changes that hit few users.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    different_ranking,
    few_unchanged,
    low_churn,
    same_ranking,
    within_noise,
)
from pytest_recsys_mt.verdict.answers import Context, Pairs
from tests.oracles.support import (
    DETERMINISTIC,
    FakeAnswers,
    Lists,
    ask,
    plackett_luce,
    sides,
)
from tests.support.oracles import Floats, _churn
from tests.support.oracles_judging import similarity_effects
from tests.support.oracles_similarities import METRICS, SIMILARITIES, least_effect

PROVEN = sorted(name for name, function in SIMILARITIES.items() if function in METRICS)
OTHERS = sorted(SIMILARITIES.keys() - set(PROVEN))
ONE = [["a", "b", "c", "d", "e"]]
OTHER = [["v", "w", "x", "y", "z"]]


@cache
def every_list(k: int) -> np.ndarray:
    """Every list of k places over so many items that three can
    be disjoint; empty places at the end.
    """
    items = range(k, 4 * k)
    return np.array(
        [
            [*named, *range(n, k)]
            for n in range(k + 1)
            for named in permutations(items, n)
        ],
        np.int32,
    )


@cache
def distances(name: str, k: int) -> Floats:
    lists = every_list(k)
    pairs = np.array(list(product(range(len(lists)), repeat=2)))
    found = 1 - SIMILARITIES[name](lists[pairs[:, 0]], lists[pairs[:, 1]])
    return found.reshape(len(lists), len(lists))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", PROVEN)
def test_the_triangle_inequality_holds_for_all_triples_of_lists(
    name: str,
    k: int,
) -> None:
    """The list in the middle stands for all of its length,
    whose items only have other names.
    """
    d, lists = distances(name, k), every_list(k)
    middle = [np.flatnonzero((lists[:, n:] < k).all(axis=1))[-1] for n in range(k + 1)]
    assert min(float((d[:, c, None] + d[c] - d).min()) for c in middle) > -1e-9


@pytest.mark.parametrize(
    ("name", "k"),
    [*product(PROVEN, [2, 3]), *product(OTHERS, [3])],
)
def test_of_which_similarities_d_is_never_negative_on_average(
    name: str,
    k: int,
) -> None:
    """Those of negative type; for the others some two
    distributions of answers have a negative D.
    """
    few = np.flatnonzero((every_list(k) < k + 5).all(axis=1))
    d = distances(name, k)[np.ix_(few, few)]
    centred = d.mean(axis=0) + d.mean(axis=1)[:, None] - d - d.mean()
    assert (np.linalg.eigvalsh(centred).min() > -1e-9) == (name in PROVEN)


@pytest.mark.parametrize("name", sorted(SIMILARITIES))
def test_no_user_has_less_than_the_least_effect(name: str) -> None:
    """Two answers a side: the first is named as it
    stands, the others are all there are.
    """
    d = distances(name, 2)
    lowest = np.inf
    for s in (0, 1, 7):  # of no item, of one, of two
        within = (
            d[s][:, None, None] + d[None]
        )  # other answer of the source, two of the follow-up
        between = (
            d[s][None, :, None] + d[s][None, None, :] + d[:, :, None] + d[:, None, :]
        )
        lowest = min(lowest, float((between / 4 - within / 2).min()))
    assert lowest >= least_effect(SIMILARITIES[name]) - 1e-9
    assert lowest == pytest.approx(-0.5) or name in OTHERS


def test_d_is_positive_where_one_side_is_merely_calmer() -> None:
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(1500, 20))
    noisy, again, calm = (plackett_luce(taste, 2, t, rng, 10) for t in (0.3, 0.3, 0.0))

    def mean(followup: Lists) -> float:
        pairs = Pairs(tuple(ask(noisy, 10)), tuple(ask(followup, 10)))
        return float(
            similarity_effects(pairs, Context(), SIMILARITIES["rbo"]).effect.mean(),
        )

    assert mean(again) == pytest.approx(0, abs=0.005)
    assert mean(calm) == pytest.approx(0.063, abs=0.005)


def hot_and(
    temperature: float,
    shift: float = 0.0,
    hot: float = 0.4,
) -> tuple[FakeAnswers, FakeAnswers]:
    """A sampling recommender, and the same at another temperature with its taste moved."""
    rng = np.random.default_rng(3)
    taste = rng.normal(size=(150, 20))
    moved = taste + shift * rng.normal(size=taste.shape)
    source = plackett_luce(taste, 2, hot, rng, 10)
    return sides(source, plackett_luce(moved, 2, temperature, rng, 10), k=10)


@pytest.mark.parametrize(
    ("temperature", "shift", "status"),
    [
        (0.4, 0, "holds"),
        (0.1, 0, "holds"),
        (0.0, 0, "holds"),
        (0.1, 1.0, "violated"),
        (0.4, 1.0, "violated"),
        (1.0, 0, "violated"),
    ],
)
def test_the_follow_up_may_be_calmer_and_may_not_move(
    temperature: float,
    shift: float,
    status: str,
) -> None:
    verdict = within_noise(*hot_and(temperature, shift))
    assert verdict.status == status
    assert verdict.oracle == "within_noise:rbo"


def test_a_noisier_follow_up_is_measured_by_its_own_noise() -> None:
    assert within_noise(*hot_and(1.0), noise="followup")
    assert (
        within_noise(*hot_and(0.3, 2.0, hot=0.1), noise="followup").status == "violated"
    )
    with pytest.raises(OracleError, match="there is no side 'both'"):
        within_noise(*hot_and(1.0), noise="both")  # type: ignore[arg-type]


def test_without_noise_it_is_the_same_ranking() -> None:
    both = sides([ONE] * 60, [ONE] * 50 + [OTHER] * 10, DETERMINISTIC)
    assert within_noise(*both).estimate == same_ranking(*both).estimate


def some_hit(
    users: int,
    share: float,
    temperature: float,
    replicates: int,
) -> tuple[FakeAnswers, FakeAnswers]:
    """A recommender that answers so many users wholly
    otherwise, and all others as before.
    """
    rng = np.random.default_rng(5)
    taste = rng.normal(size=(users, 20)) * 2
    hit = np.arange(users) % round(1 / share) == 1 if share else np.zeros(users, bool)
    moved = np.where(hit[:, None], -taste, taste)
    context = DETERMINISTIC if replicates == 1 else Context()
    source, followup = (
        plackett_luce(t, replicates, temperature, rng, 10) for t in (taste, moved)
    )
    return sides(source, followup, context, k=10)


@pytest.mark.parametrize(("temperature", "replicates"), [(0.0, 1), (0.3, 2)])
def test_a_tenth_of_the_users_hit_wholly_is_hidden_by_a_mean_alone(
    temperature: float,
    replicates: int,
) -> None:
    both = some_hit(200, 0.1, temperature, replicates)
    assert same_ranking(*both, margin=0.15).status != "violated"
    churned = low_churn(*both, margin=0.05)
    assert churned.status == "violated"
    assert churned.estimate == pytest.approx(0.1, abs=0.04)
    assert low_churn(*some_hit(200, 0.0, temperature, replicates), margin=0.05)
    assert low_churn(*both, margin=0.25)


def test_any_difference_counts_at_0() -> None:
    swapped = [["a", "b", "c", "e", "d"]]
    both = sides([ONE] * 100, [swapped, ONE] * 50, DETERMINISTIC)
    assert low_churn(*both).estimate == 0
    assert low_churn(*both, beyond=0).estimate == 0.5


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(SIMILARITIES)),
    st.integers(2, 3),
    st.integers(2, 3),
    st.sampled_from([0, 0.1, 0.25, 0.5]),
    st.lists(st.permutations(range(3, 7)), min_size=6, max_size=6),
)
def test_chance_alone_has_the_mean_effect_0(
    name: str,
    source: int,
    followup: int,
    beyond: float,
    drawn: list[list[int]],
) -> None:
    """Whatever the answers: over all orders in which they
    could have come, none less than the least.
    """
    answers = np.array([one[:3] for one in drawn], np.int32)[: source + followup]
    orders = np.array(
        [answers[list(order)] for order in permutations(range(len(answers)))],
    )
    moved = _churn(orders[:, :source], orders[:, source:], SIMILARITIES[name], beyond)
    assert moved.effect.mean() == pytest.approx(0, abs=1e-9)
    assert moved.least is not None
    assert moved.effect.min() >= moved.least - 1e-9


def test_where_answers_agree_too_little_no_change_could_count() -> None:
    rng = np.random.default_rng(6)
    noise, other = (
        plackett_luce(np.zeros((60, 500)), 2, 1.0, rng, 5) for _ in range(2)
    )
    verdict = low_churn(*sides(noise, other))
    assert verdict.status == "inconclusive"
    assert "no user could lose more than 0.25" in verdict.reason


@pytest.mark.parametrize("beyond", [-0.1, 1])
def test_beyond_is_a_loss_of_agreement(beyond: float) -> None:
    with pytest.raises(OracleError, match=r"beyond must lie in \[0, 1\)"):
        low_churn(*sides([ONE], [ONE]), beyond=beyond)


def test_churn_is_named_by_what_it_counts() -> None:
    verdict = low_churn(
        *sides([[["a", "b"]]] * 9, [[["b", "a"]]] * 9, DETERMINISTIC),
        beyond=0.3,
    )
    assert verdict.measures == "share of users who lost more than 0.3 of agreement"


def test_a_loss_that_counts_up_to_a_cap_takes_half_of_the_users() -> None:
    still = sides([ONE] * 200, [ONE] * 200, DETERMINISTIC)
    assert (same_ranking(*still).users, same_ranking(*still, cap=0.5).users) == (66, 30)


@pytest.mark.parametrize(
    ("each", "status", "measures"),
    [
        (50, "holds", "loss of agreement beyond noise (up to 0.5 a user)"),
        (4, "violated", "loss of agreement beyond noise"),
    ],
)
def test_only_holds_counts_losses_up_to_the_cap(
    each: int,
    status: str,
    measures: str,
) -> None:
    lose_all = sides(
        [ONE] * 200,
        ([OTHER] + [ONE] * (each - 1)) * (200 // each),
        DETERMINISTIC,
    )
    verdict = same_ranking(*lose_all, cap=0.5)
    assert (verdict.status, verdict.measures) == (status, measures)
    assert verdict.interval is not None
    assert verdict.estimate is not None
    assert verdict.interval[0] <= verdict.estimate <= verdict.interval[1]
    assert max(verdict.per_user.values()) == 1
    counted = np.minimum([*verdict.per_user.values()], 0.5 if status == "holds" else 1)
    assert verdict.estimate == pytest.approx(counted.mean())


@pytest.mark.parametrize("seed", range(20))
def test_a_tenth_who_lose_half_or_more_are_hardly_ever_hidden(seed: int) -> None:
    hit = np.random.default_rng(seed).random(200) < 0.15
    verdict = same_ranking(
        *sides([ONE] * 200, [OTHER if each else ONE for each in hit], DETERMINISTIC),
        cap=0.5,
    )
    assert verdict.status != "holds"


@pytest.mark.parametrize("cap", [0.05, 0, 1])
def test_a_cap_lies_above_the_margin(cap: float) -> None:
    with pytest.raises(OracleError, match="cap must"):
        same_ranking(*sides([ONE], [ONE]), cap=cap)


def test_a_mean_hides_those_whom_nothing_moves() -> None:
    both = sides([ONE] * 100, [OTHER, ONE] * 50, DETERMINISTIC)
    assert different_ranking(*both, margin=0.1)
    verdict = few_unchanged(*both, margin=0.1)
    assert (verdict.status, verdict.oracle) == ("violated", "few_unchanged")
    assert few_unchanged(*sides([ONE] * 100, [OTHER] * 100, DETERMINISTIC), margin=0.1)
    with pytest.raises(OracleError, match="use different_ranking"):
        few_unchanged(*sides([ONE] * 9, [OTHER] * 9))
