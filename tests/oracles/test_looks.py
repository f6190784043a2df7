"""Verdicts that stop early keep their error rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, multivariate_normal

from pytest_recsys_mt.answers import Answers, Context, Pairs, Sample
from pytest_recsys_mt.oracles import (
    increases,
    no_repeats,
    same_answer,
    same_ranking,
    self_agreement,
)
from pytest_recsys_mt.oracles.bounds import Mean, Rate, mean_of
from pytest_recsys_mt.oracles.judge import Claim, Promise, decide, p_value, users_needed
from pytest_recsys_mt.oracles.kernel import Floats
from pytest_recsys_mt.oracles.looks import Look, Looks, Repeated, crossing, enough_to_show
from pytest_recsys_mt.verdict import Status
from tests.oracles.support import DETERMINISTIC, FakeAnswers, Lists, ask, plackett_luce

ALPHA = 0.05


def last(looks: Looks) -> Look:
    return list(looks)[-1]


@pytest.mark.parametrize(
    ("users", "sizes"),
    [
        (0, (0,)),
        (1, (1,)),
        (29, (29,)),
        (30, (20, 30)),
        (59, (20, 33, 46, 59)),
        (60, (20, 30, 40, 50, 60)),
        (100, (20, 40, 60, 80, 100)),
        (200, (40, 80, 120, 160, 200)),
    ],
)
def test_looks_follow_from_the_number_of_users_alone(users: int, sizes: tuple[int, ...]) -> None:
    assert Looks(users).sizes == sizes
    assert Looks(users, single=True).sizes == (users,)


@given(st.integers(0, 5_000))
def test_looks_rise_to_all_users_in_steps_that_are_worth_it(users: int) -> None:
    sizes = Looks(users).sizes
    assert sizes[-1] == users
    assert len(sizes) <= 5
    assert len(sizes) == 1 or min(sizes) >= 20
    assert all(later - earlier >= 9 for earlier, later in pairwise(sizes))


# Jennison and Turnbull 2000, Table 2.1: C_P(K, alpha) for two-sided 0.1 and 0.05.
POCOCK = {0.05: (1.645, 1.875, 1.992, 2.067, 2.122), 0.025: (1.96, 2.178, 2.289, 2.361, 2.413)}


@pytest.mark.parametrize("alpha", POCOCK)
def test_levels_are_those_of_pococks_table(alpha: float) -> None:
    for looks, constant in enumerate(POCOCK[alpha], start=1):
        sizes = tuple(range(20, 20 * looks + 1, 20))
        assert crossing((constant,) * looks, sizes) == pytest.approx(alpha, rel=2e-3)
    assert -ndtri(Looks(100).level(0, alpha)) == pytest.approx(POCOCK[alpha][-1], abs=6e-4)


@given(st.floats(-2, 4), st.floats(-2, 4), st.integers(1, 50), st.integers(51, 90))
def test_crossing_two_limits_is_the_bivariate_normal(a: float, b: float, n: int, m: int) -> None:
    correlation = math.sqrt(n / m)
    joint = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    assert crossing((a, b), (n, m)) == pytest.approx(1 - joint.cdf([a, b]), abs=1e-7)


@given(st.integers(0, 400), st.floats(0.001, 0.49), st.booleans())
def test_a_p_value_is_at_most_alpha_just_where_a_look_is_crossed(
    users: int, alpha: float, exact: bool
) -> None:
    before = 0.0
    for look in Looks(users, exact=exact):
        at_level = look.p_value(look.level(alpha), alpha)
        assert before < at_level <= alpha + 1e-9
        before = at_level
        assert 0 <= look.p_value(0.0, alpha) <= look.p_value(1.0, alpha) <= 1
    assert before == pytest.approx(alpha, abs=1e-9)


def statuses(
    draw: Callable[[], Floats], promise: Promise, runs: int, users: int
) -> Iterator[tuple[Status, Mean]]:
    """The status of each run, and what it rests on."""
    claim, looks = Claim("", promise, 0.05), Looks(users)
    alpha = ALPHA / 2 if promise == "within" else ALPHA

    def at(look: Look, effects: Floats) -> tuple[Status, Mean]:
        mean = Repeated(mean_of(effects[: look.users], -1, 1, False), look, alpha)
        status = decide(mean, claim, ALPHA)
        enough = len(effects[: look.users]) >= users_needed(
            status, claim, mean.estimate, 1.0, ALPHA
        )
        return (status if enough else "inconclusive"), mean

    for _ in range(runs):
        effects = draw()
        ends = ((look, *at(look, effects)) for look in looks)
        yield next(
            (status, mean) for look, status, mean in ends if look.last or status != "inconclusive"
        )


def most(rate: float, runs: int) -> float:
    """A rate, and three standard errors of a simulation of so many runs."""
    return rate + 3 * math.sqrt(rate * (1 - rate) / runs)


@pytest.mark.parametrize("users", [100, 60, 30])
@pytest.mark.parametrize("promise", ["at most", "at least", "within"])
@pytest.mark.parametrize("name", ["normal", "skewed", "skewed the other way"])
def test_all_looks_together_err_at_most_at_alpha(name: str, promise: Promise, users: int) -> None:
    rng, runs = np.random.default_rng(users), 1_000
    draws = {
        "normal": lambda: rng.normal(0.05, 0.12, users),
        "skewed": lambda: rng.beta(0.5, 4.5, users) - 0.05,
        "skewed the other way": lambda: 0.15 - rng.beta(0.5, 4.5, users),
    }
    found = [status for status, _ in statuses(draws[name], promise, runs, users)]
    assert found.count("holds") / runs <= most(ALPHA, runs)
    assert found.count("violated") / runs <= most(ALPHA, runs)


def test_p_values_after_stopping_are_small_no_more_often_than_they_say() -> None:
    rng, runs = np.random.default_rng(8), 1_500
    claim = Claim("", "at most", 0.05)
    ends = statuses(lambda: rng.normal(0.05, 0.12, 60), claim.promise, runs, 60)
    found = [(status, p_value(mean, claim)) for status, mean in ends]
    for p in (0.01, 0.03, 0.05, 0.2):
        assert sum(each <= p for _, each in found) / runs <= most(p, runs)
    assert all((status == "violated") == (p <= ALPHA) for status, p in found)


def test_peeking_without_looks_errs_far_more_often() -> None:
    rng, runs = np.random.default_rng(8), 600

    def naive(effects: Floats) -> bool:
        return any(mean_of(effects[:n], -1, 1, False).lower(ALPHA) > 0.05 for n in Looks(100).sizes)

    assert sum(naive(rng.normal(0.05, 0.12, 100)) for _ in range(runs)) / runs > 0.1


@pytest.mark.parametrize(("share", "size"), [(0.05, 1.0), (0.0625, 0.8), (0.1, 0.5)])
def test_few_users_that_react_strongly_are_not_missed(share: float, size: float) -> None:
    rng, runs, users = np.random.default_rng(9), 1_000, 100

    def draw() -> Floats:
        return rng.normal(0, 0.06, users) + size * (rng.random(users) < share)

    found = [status for status, _ in statuses(draw, "at most", runs, users)]
    assert found.count("holds") / runs <= most(ALPHA, runs)


def test_holding_takes_the_users_that_the_exact_rule_asks_for() -> None:
    assert [enough_to_show(margin, 1.0, ALPHA) for margin in (0.05, 0.02)] == [59, 149]
    assert enough_to_show(0.0, 1.0, ALPHA) == 2


def test_thirty_users_cannot_rule_out_a_rare_reaction() -> None:
    rng, runs, users = np.random.default_rng(10), 400, 30

    def draw() -> Floats:
        return rng.normal(0, 0.06, users) + (rng.random(users) < 0.05)

    found = [status for status, _ in statuses(draw, "at most", runs, users)]
    assert "holds" not in found


@pytest.mark.parametrize(("users", "margin"), [(100, 0.05), (60, 0.05), (200, 0.02), (500, 0.1)])
def test_rates_keep_their_error_rate_for_certain(users: int, margin: float) -> None:
    """Every path of a binomial count is followed, so nothing is left to chance."""
    claim, looks = Claim("", "at most", margin, exact=True), Looks(users, exact=True)
    reached, before = np.ones(1), 0
    found: dict[Status, float] = {"holds": 0.0, "violated": 0.0, "inconclusive": 0.0}
    for look in looks:
        step = look.users - before
        reached = np.convolve(reached, binom.pmf(np.arange(step + 1), step, margin))
        before = look.users
        for count in range(look.users + 1):
            status = decide(Repeated(Rate(count, look.users), look, ALPHA), claim, ALPHA)
            if status != "inconclusive" or look.last:
                found[status] += reached[count]
                reached[count] = 0
    assert sum(found.values()) == pytest.approx(1)
    assert max(found["holds"], found["violated"]) <= ALPHA


@dataclass
class Lazy(FakeAnswers):
    """Notes how many users it was asked for."""

    seen: list[int] = field(default_factory=list)

    def sample(self, users: int | None = None) -> Sample:
        self.seen.append(len(self.asked) if users is None else users)
        return super().sample(users)

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        self.seen.append(len(self.asked) if users is None else users)
        return super().pair(followup, users)


def lazy(source: Lists, followup: Lists, context: Context | None = None) -> tuple[Lazy, Lazy]:
    context = context or Context()
    return Lazy(ask(source), context), Lazy(ask(followup), context, "changed", same_seed=True)


def drawn(shift: float, users: int = 100) -> tuple[Lists, Lists]:
    rng = np.random.default_rng(11)
    utility = rng.normal(size=(users, 20))
    moved = utility + rng.normal(0, shift, utility.shape) if shift else utility
    return plackett_luce(utility, 2, 0.3, rng, 10), plackett_luce(moved, 2, 0.3, rng, 10)


def test_a_clear_violation_asks_the_users_of_the_first_look_only() -> None:
    source, followup = lazy(*drawn(2.0))
    verdict = same_ranking(source, followup)
    assert (verdict.status, verdict.looks, verdict.users) == ("violated", 1, 20)
    assert (source.seen, followup.seen) == ([20], [20])


def test_a_promise_kept_is_found_before_all_users_are_asked() -> None:
    source, followup = lazy(*drawn(0.0, users=200))
    verdict = same_ranking(source, followup, margin=0.1)
    assert verdict.status == "holds"
    assert followup.seen == list(Looks(200).sizes[: verdict.looks])
    assert verdict.looks < 5


def test_a_deterministic_recommender_is_looked_at_once() -> None:
    one: Lists = [[["a", "b"]]] * 100
    source, followup = lazy(one, [[["c", "d"]]] * 100, DETERMINISTIC)
    verdict = same_ranking(source, followup)
    assert (verdict.status, verdict.looks, followup.seen) == ("violated", 1, [100])


def test_asking_stops_where_no_further_user_could_help() -> None:
    one: Lists = [[["a", "b"]]] * 100
    source, followup = lazy(one, one)
    verdict = same_ranking(source, followup)  # one replicate shows no noise
    assert (verdict.status, followup.seen) == ("inconclusive", [20])


def test_every_kind_of_oracle_stops_early() -> None:
    side, _ = lazy([[["a", "a"]]] * 100, [])
    assert (no_repeats(side).users, side.seen) == (20, [20])
    source, followup = lazy([[["a", "b"]] * 2] * 100, [[["b", "a"]] * 2] * 100)
    assert (same_answer(source, followup).users, followup.seen) == (20, [20])
    side = Lazy(ask(drawn(0.0)[0]))
    assert (self_agreement(side, threshold=0.99).users, side.seen) == (20, [20])
    popularity = Context(popularity={"a": 1, "b": 1, "c": 50, "d": 90})
    followups: Sequence[Sequence[str]] = [["c", "d"], ["c", "a"], ["d", "b"], ["c", "b"]]
    source, followup = lazy([[["a", "b"]] * 2] * 100, [[f] * 2 for f in followups] * 25, popularity)
    assert (increases(source, followup).status, followup.seen) == ("holds", [20])


def test_failures_of_the_first_look_do_not_decide_for_all_users() -> None:
    source, followup = drawn(0.0)
    silent: list[list[list[str]]] = [[[], []]]
    # 3 of the first 20 users, and of all 100
    a, b = lazy([*silent * 3, *source[3:]], [*silent * 3, *followup[3:]])
    assert same_ranking(a, b, margin=0.2).status == "holds"
    a, b = lazy([*silent * 100], [*silent * 100])
    verdict = same_ranking(a, b)
    assert (verdict.status, verdict.errors, b.seen) == ("error", 20, [20])


def test_the_last_look_says_what_would_settle_it() -> None:
    rng = np.random.default_rng(3)
    effects = rng.normal(0.05, 0.12, 100)
    mean = mean_of(effects, -1, 1, False)
    look = last(Looks(100))
    one = last(Looks(100, single=True))
    assert Repeated(mean, look, ALPHA).upper(ALPHA) > Repeated(mean, one, ALPHA).upper(ALPHA)
    source, followup = lazy(*drawn(0.35))
    verdict = same_ranking(source, followup, margin=0.06)
    assert (verdict.status, verdict.looks, verdict.users) == ("inconclusive", 5, 100)
    assert "more users like these would settle it; with 100 users a mean of" in verdict.reason
