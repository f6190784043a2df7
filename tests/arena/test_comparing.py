"""What is claimed about preferences, how often wrongly,
and what the recommenders see of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pytest_recsys_mt import Item, OracleError, Rating, RecommenderError
from pytest_recsys_mt.suites.arena import (
    CONTROLS,
    PROMISES,
    QUESTIONS,
    Arena,
    Aspect,
    Comparison,
    Judgement,
    JudgeRunner,
    League,
    discrimination,
    judge_keeps,
    no_circle,
    not_less_preferred,
    preferred,
)
from pytest_recsys_mt.verdict.answers import Context
from tests.arena import judges
from tests.arena.test_suite import JUDGES, SUITE
from tests.oracles.support import FakeAnswers, ask
from tests.support.suites_arena import Winner, against

USERS = 40


class Drawn:
    """A judge that draws its winner anew for every
    comparison; `lean` of them for the longer id.
    """

    def __init__(self, seed: int, lean: float = 0.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.lean = lean

    def judge(self, comparisons: Sequence[Comparison]) -> list[Judgement]:
        return [Judgement(self.winner(each)) for each in comparisons]

    def winner(self, comparison: Comparison) -> Winner:
        winners: tuple[Winner, ...] = ("A", "B", "tie")
        if self.rng.random() < self.lean:
            return "A" if len(comparison.a[0].id) > len(comparison.b[0].id) else "B"
        return winners[self.rng.integers(3)]


def arena_of(judge: object, users: int = USERS) -> Arena:
    """Lists of long ids, ours, against lists of short ones."""
    ours = FakeAnswers(ask([[[f"long{user}"]] for user in range(users)]))
    theirs = FakeAnswers(ask([[[f"s{user}"]] for user in range(users)]))
    return Arena(ours, theirs, JudgeRunner(judge, "drawn"), aspects=())  # type: ignore[arg-type]


def test_a_judge_is_asked_at_most_as_much_as_the_plan_says() -> None:
    known = {
        item: Item(item, item, attributes={"genres": side})
        for side in "hxyz"
        for item in (f"{side}{place}" for place in range(4))
    }
    values = (1, 1, 1, 1, 3.5, 4, 4.5, 5)
    history = tuple(
        Rating(known[f"h{place % 4}"], value) for place, value in enumerate(values)
    )
    ours, theirs = (
        [
            dataclasses.replace(each, request=each.request.replace(history=history))
            for each in ask([[[f"{side}{place}" for place in range(4)]]])
        ]
        for side in "xy"
    )
    context = Context(items=known)
    sides = FakeAnswers(ours, context), FakeAnswers(theirs, context)
    arena = Arena(*sides, JudgeRunner(Drawn(0), "drawn"))
    makers = {
        **{name: promise.comparisons for name, promise in PROMISES.items()},
        **{name: against(control.planted) for name, control in CONTROLS.items()},
    }
    asked = {
        name: make(arena, ours[0], theirs[0], np.random.default_rng(1))
        for name, make in makers.items()
    }
    promised = [each for own in asked.values() for each in own]
    preferences, scores = {*asked["first_place"]}, 2
    assert len(preferences.union(promised)) + scores == QUESTIONS - 4
    # A judge of each aspect by itself is asked for the whole alone, but for what "not
    # worse" needs.
    alone = [dataclasses.replace(each, aspects=()) for each in promised]
    asked_by_aspect = preferences.union(asked["random_items"])
    assert len(asked_by_aspect.union(alone)) + scores == QUESTIONS


def test_a_judge_without_a_preference_is_seldom_given_one() -> None:
    """At an error rate of 0.05 a side, 50 runs make 2.5
    wrong claims; more than 7 have p = 0.003.
    """
    runs = 50
    verdicts = [preferred(arena_of(Drawn(seed))) for seed in range(runs)]
    assert sum(verdict.status == "holds" for verdict in verdicts) <= 7
    assert sum(verdict.status == "violated" for verdict in verdicts) <= 7


def test_a_slight_preference_is_found_and_never_turned_round() -> None:
    verdicts = [preferred(arena_of(Drawn(seed, lean=0.4))) for seed in range(20)]
    assert sum(verdict.status == "holds" for verdict in verdicts) >= 16
    assert not any(verdict.status == "violated" for verdict in verdicts)


def test_exchanged_recommenders_have_the_reciprocal_q() -> None:
    arena = arena_of(judges.LikesLongTitles(), users=20)
    turned = Arena(arena.theirs, arena.ours, arena.judge_runner, ())
    one, other = (not_less_preferred(each, margin=0.2) for each in (arena, turned))
    assert one.estimate == -(other.estimate or 0)
    assert one.details["figures"]["won"] == other.details["figures"]["lost"] == 40
    assert (one.details["figures"]["Q"], other.details["figures"]["Q"]) == (
        "infinite (nothing lost or tied)", 0.0,
    )  # fmt: skip


def test_a_verdict_that_is_clear_early_spares_the_judge_the_rest() -> None:
    arena = arena_of(judges.LikesLongTitles(), users=100)
    verdict = preferred(arena)
    figures = verdict.details["figures"]
    assert (verdict.status, verdict.looks) == ("holds", 1)
    assert (figures["comparisons made"], figures["comparisons saved"]) == (40, 160)


@pytest.mark.parametrize("promise", ["turned_round", "identical_lists"])
def test_the_noise_of_a_judge_is_not_held_against_its_order(promise: str) -> None:
    verdict = judge_keeps(arena_of(Drawn(3), users=100), promise, margin=0.25)
    assert verdict.status == ("violated" if promise == "identical_lists" else "holds")
    if promise == "turned_round":
        assert verdict.floor == pytest.approx(5 / 9, abs=0.1)


def test_preferences_in_a_circle_are_found() -> None:
    """Rock, paper, scissors."""

    class Beats(Drawn):
        def winner(self, comparison: Comparison) -> Winner:
            kinds = [items[0].id[0] for items in (comparison.a, comparison.b)]
            return "A" if "".join(kinds) in ("rs", "sp", "pr") else "B"

    systems = {
        name: FakeAnswers(ask([[[f"{name[0]}{user}"]] for user in range(30)]))
        for name in ("rock", "paper", "scissors")
    }
    league = League(systems, JudgeRunner(Beats(0), "hand"), aspects=())
    verdict = no_circle(league)
    assert verdict.status == "violated"
    assert "rock over scissors over paper over rock" in verdict.reason
    strengths = [
        text for name, text in verdict.details["figures"].items() if name[0] in "123"
    ]
    assert all(str(text).startswith(("0.000", "-0.000")) for text in strengths)


def test_an_order_is_found_with_less_than_half_of_the_comparisons() -> None:
    names = [str(place) * (place + 1) for place in range(8)]

    class Longest(Drawn):
        """Prefers the longer id, three times of four."""

        def winner(self, comparison: Comparison) -> Winner:
            longer = len(comparison.a[0].id) > len(comparison.b[0].id)
            return "A" if longer is (self.rng.random() < 0.75) else "B"

    def league(lists: Sequence[str]) -> League:
        systems = {
            name: FakeAnswers(ask([[[f"{user:02}{name}"]] for user in range(40)]))
            for name in lists
        }
        return League(systems, JudgeRunner(Longest(0), "hand"), aspects=())

    every = 40 * 8 * 7
    found, calls = league(names[4:] + names[:4]).order()
    assert found == names[::-1]
    assert calls <= every / 2
    assert league(names[::-1]).order(calls=0.2)[1] <= every / 5
    with pytest.raises(OracleError, match="calls"):
        league(names).order(calls=1.5)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "gave 0 answers to"),
        (["A"] * 40, "returns Judgement objects"),
        ([Judgement("C")] * 40, "gave 'C', which is not"),  # type: ignore[arg-type]
    ],
    ids=["too few", "no judgement", "no verdict"],
)
def test_a_judge_that_breaks_its_protocol_is_told_so(
    answers: list[object],
    said: str,
) -> None:
    class Broken:
        def judge(self, comparisons: Sequence[Comparison]) -> list[object]:
            return answers

    with pytest.raises(RecommenderError, match=said):
        preferred(arena_of(Broken(), users=20))


def test_arguments_that_mean_nothing_are_refused() -> None:
    arena = arena_of(Drawn(0))
    with pytest.raises(OracleError, match="there is no aspect 'acuracy'"):
        preferred(arena, "acuracy")
    with pytest.raises(OracleError, match="margin must be at least 0"):
        preferred(arena, margin=-1)
    with pytest.raises(
        OracleError,
        match=r"there is no promise 'name'.*did you mean 'names'",
    ):
        judge_keeps(arena, "name", margin=0.1)
    with pytest.raises(OracleError, match="different names"):
        Arena(
            arena.ours,
            arena.theirs,
            arena.judge_runner,
            (Aspect("overall", "It is good."),),
        )
    with pytest.raises(OracleError, match="three recommenders"):
        League({"one": arena.ours, "two": arena.theirs}, arena.judge_runner)


def test_discrimination_is_a_mean_in_standard_deviations() -> None:
    assert discrimination(np.array([1.0, 3.0])) == pytest.approx(2 / np.sqrt(2))
    assert discrimination(np.array([-1.0, -3.0])) == pytest.approx(2 / np.sqrt(2))
    assert discrimination(np.array([1.0, 1.0])) == float("inf")
    assert discrimination(np.zeros(5)) == 0.0


RECORDER = """
import pathlib
from pytest_recsys_mt import Recommendation


class Recorder:
    deterministic = True

    def recommend(self, requests):
        with pathlib.Path("seen.log").open("a") as log:
            log.writelines(f"{request!r}\\n" for request in requests)
        return [Recommendation(tuple(i.id for i in r.candidates[: r.k])) for r in requests]
"""
PLAIN = "def test_it(recsys):\n    recsys.run().sample()\n"


def test_a_recommender_sees_nothing_of_being_judged(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(recorder=RECORDER, test_plain=PLAIN)
    log = pytester.path / "seen.log"
    seen = []
    for arguments in (
        ["test_plain.py"],
        [str(SUITE), f"--recsys-judge={JUDGES}:ByPopularity"],
    ):
        log.unlink(missing_ok=True)
        pytester.runpytest_inprocess(
            *arguments,
            "--recsys-model=recorder.py:Recorder",
            "-p",
            "no:cacheprovider",
            "-q",
            "--recsys-users=60",
        )
        seen.append(set(log.read_text().splitlines()))
    assert seen[1] <= seen[0]
    assert len(seen[1]) >= 20


OWN = """
import pytest
from pytest_recsys_mt.suites.arena import Aspect, Judgement


class ByYear:
    deterministic = True

    def judge(self, comparisons):
        return [Judgement(self.newer(c), {"novelty": self.newer(c)}) for c in comparisons]

    def newer(self, comparison):
        one, other = (sum(item.year for item in side) for side in (comparison.a, comparison.b))
        return "tie" if one == other else "A" if one > other else "B"


@pytest.fixture(scope="session")
def recsys_judge():
    return ByYear()


@pytest.fixture(scope="session")
def recsys_aspects():
    return (Aspect("novelty", "The list is of this century."),)
"""
TEST = """
from pytest_recsys_mt.suites.arena import not_less_preferred
from pytest_recsys_mt.suites.arena.test_preference import *

def test_names(recsys_arena):
    assert recsys_arena.names == ("itemknn", "mostpop")
    assert recsys_arena.judge_runner.name == "fixture:ByYear"
"""


def test_a_project_brings_its_own_judge_and_aspects(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(OWN)
    pytester.makepyfile(test_mine=TEST)
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "-rs",
        "-v",
        "--recsys-users=60",
    )
    text = result.stdout.str()
    assert "novelty against mostpop" in text
    assert "leaves 'accuracy' out" in text
    assert "needs a judge with rate(showings), and fixture:ByYear has none" in " ".join(
        text.split(),
    )
    assert result.parseoutcomes().get("errors", 0) == 0


def test_it_can_be_planned_and_shrunk(pytester: pytest.Pytester) -> None:
    judge = f"--recsys-judge={JUDGES}:TakesTheFirst"
    common = (
        Path(SUITE),
        judge,
        "-p",
        "no:cacheprovider",
        "-k",
        "first_place or better",
    )
    planned = pytester.runpytest_inprocess(*common, "--recsys-plan")
    assert planned.ret == 0
    planned.stdout.fnmatch_lines(
        [
            "at most 4,394 questions to this judge",
            "which questions a judge gets depends on answers",
        ],
    )
    shrunk = pytester.runpytest_inprocess(
        *common,
        "--recsys-shrink=20",
        "--recsys-users=20",
    )
    shrunk.assert_outcomes(failed=2, deselected=24)
