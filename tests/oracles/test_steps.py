"""Users are asked step by step, as far as a verdict needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    Score,
    at_least,
    increases,
    monotone,
    no_repeats,
    same_answer,
    same_ranking,
    same_score,
    self_agreement,
)
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs, Sample
from tests.oracles.support import DETERMINISTIC, FakeAnswers, Lists, ask, plackett_luce
from tests.support.oracles_judging import FIRST_STEP, LEAST_STEP, next_step


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


def lazy(
    source: Lists,
    followup: Lists,
    context: Context | None = None,
) -> tuple[Lazy, Lazy]:
    context = context or Context()
    return Lazy(ask(source), context), Lazy(
        ask(followup),
        context,
        "changed",
        same_seed=True,
    )


def drawn(shift: float, users: int = 200) -> tuple[Lists, Lists]:
    rng = np.random.default_rng(11)
    utility = rng.normal(size=(users, 20))
    moved = utility + rng.normal(0, shift, utility.shape) if shift else utility
    return plackett_luce(utility, 2, 0.3, rng, 10), plackett_luce(
        moved,
        2,
        0.3,
        rng,
        10,
    )


@pytest.mark.parametrize("users", [1, 19, 20, 22, 200, 10_000])
def test_steps_begin_with_a_few_users_grow_and_end_with_all(users: int) -> None:
    steps = [next_step(0, users)]
    while steps[-1] < users:
        steps.append(next_step(steps[-1], users))
    assert steps[0] == min(users, FIRST_STEP)
    grown = np.diff(steps)
    assert (grown[:-1] >= LEAST_STEP).all()
    assert (grown <= np.maximum(LEAST_STEP, np.array(steps[:-1]) / 10)).all()


def test_a_clear_violation_asks_the_users_of_the_first_step_only() -> None:
    source, followup = lazy(*drawn(2.0))
    verdict = same_ranking(source, followup)
    assert (verdict.status, verdict.looks, verdict.users) == ("violated", 1, 20)
    assert (source.seen, followup.seen) == ([20], [20])


def test_a_promise_kept_is_found_before_all_users_are_asked() -> None:
    source, followup = lazy(*drawn(0.0))
    verdict = same_ranking(source, followup)
    assert verdict.status == "holds"
    assert len(followup.seen) == verdict.looks > 1
    assert verdict.users == followup.seen[-1] < 100
    assert list(verdict.per_user) == [f"u{place}" for place in range(verdict.users)]


def test_the_same_users_say_the_same_however_many_steps_it_took() -> None:
    source, followup = drawn(0.4)
    by_steps = same_ranking(*lazy(source, followup), margin=0.03)
    at_once = same_ranking(
        *lazy(
            source[: by_steps.users],
            followup[: by_steps.users],
            Context(ask_everybody=True),
        ),
        margin=0.03,
    )
    assert by_steps.looks > at_once.looks == 1
    assert (by_steps.p_value, by_steps.interval) == (at_once.p_value, at_once.interval)


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
    followups: Sequence[Sequence[str]] = [
        ["c", "d"],
        ["c", "a"],
        ["d", "b"],
        ["c", "b"],
    ]
    source, followup = lazy(
        [[["a", "b"]] * 2] * 100,
        [[f] * 2 for f in followups] * 25,
        popularity,
    )
    assert (increases(source, followup).status, followup.seen) == ("holds", [20])


def test_a_value_that_is_wanted_for_itself_is_of_all_users() -> None:
    side = Lazy(ask([[["a", "b"]]] * 100, relevant=["a"]), DETERMINISTIC)
    assert at_least(side, "hit@1", 0.5).users == 100
    assert side.seen == [100]


def test_failures_of_the_first_step_do_not_decide_for_all_users() -> None:
    source, followup = drawn(0.0)
    silent: list[list[list[str]]] = [[[], []]]
    # 3 of the first 20 users, and of all 200
    a, b = lazy([*silent * 3, *source[3:]], [*silent * 3, *followup[3:]])
    verdict = same_ranking(a, b, margin=0.1)
    assert (verdict.status, verdict.errors) == ("holds", 3)
    a, b = lazy([*silent * 200], [*silent * 200])
    verdict = same_ranking(a, b)
    assert (verdict.status, verdict.errors, b.seen) == ("error", 20, [20])


def test_what_is_violated_is_asked_on_until_it_stands_among_all_relations() -> None:
    alone = same_ranking(*lazy(*drawn(1.0)))
    among = same_ranking(*lazy(*drawn(1.0), Context(family=2600)))
    assert alone.status == among.status == "violated"
    assert alone.users < among.users < 200
    assert among.p_value is not None
    assert among.p_value <= 0.05 / 2600
    # What cannot stand has asked everybody.
    weak = same_ranking(*lazy(*drawn(0.6)), margin=0.08)
    assert weak.status == "violated"
    rest = same_ranking(*lazy(*drawn(0.6), Context(family=10**9)), margin=0.08)
    assert (rest.status, rest.users) == ("violated", 200)


def test_what_holds_asks_nobody_more_in_a_family() -> None:
    alone = same_ranking(*lazy(*drawn(0.0)))
    among = same_ranking(*lazy(*drawn(0.0), Context(family=26)))
    assert (alone.status, alone.users) == (among.status, among.users)


def test_a_limit_leaves_what_was_proven_before_it() -> None:
    """Of the users in the order drawn, as far as all before them were asked."""
    source, followup = lazy(*drawn(2.0))

    @dataclass
    class Limited(Lazy):
        def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
            seen = super().pair(followup, 12)
            return Pairs(
                seen.source,
                seen.followup,
                unasked={"limit": 8},
                order=seen.order,
            )

    limited = Limited(source.asked, source.context)
    verdict = same_ranking(limited, followup, margin=0.05)
    assert (verdict.status, verdict.users) == ("violated", 12)
    verdict = same_ranking(limited, followup, margin=0.45)
    assert (verdict.status, verdict.users) == ("inconclusive", 12)
    assert verdict.reason.startswith("not asked: limit (8)")


def test_a_series_is_violated_by_one_step_among_many() -> None:
    """One bettor finds the step that loses; four tests that
    share alpha would need more users.
    """
    rng = np.random.default_rng(4)
    sides = [
        FakeAnswers(
            ask(
                [[["a"] if hit else ["b"]] for hit in rng.random(200) < rate],
                1,
                None,
                ["a"],
            ),
            DETERMINISTIC,
            f"step {number}",
        )
        for number, rate in enumerate((0.7, 0.7, 0.7, 0.3, 0.3))
    ]
    verdict = monotone(sides, "hit@1", margin=0.02)
    assert verdict.status == "violated"
    assert "step 2 to step 3: violated" in verdict.reason
    assert monotone(sides[:3], "hit@1", margin=0.15).status != "violated"


@pytest.mark.parametrize("widest", [1.0, 0.1])
def test_a_limit_is_refused_by_the_range_of_all_users_not_of_the_first(
    widest: float,
) -> None:
    def span(asked: Asked, context: Context) -> tuple[float, float]:
        return 0.0, 0.1 if int(asked.request.user[1:]) < 100 else widest

    score = Score("mine", lambda answer, asked, context: (0.05, 0), span)
    source, followup = lazy(*drawn(0.0), DETERMINISTIC)
    if widest > 0.2:
        assert same_score(source, followup, score, 0.2).status == "holds"
    else:
        with pytest.raises(OracleError, match="whatever the answers are"):
            same_score(source, followup, score, 0.2)
