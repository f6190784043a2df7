"""Users whose follow-up keeps failing count against every claim, as far as they can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import (
    accuracy_kept,
    cand_dif_within,
    different_ranking,
    increases,
    monotone,
    not_increased,
    not_lifted,
    not_worse,
    paper_t_test,
    same_answer,
    same_choices,
    same_hits,
    same_order,
    same_ranking,
    same_score,
    same_set,
)
from pytest_recsys_mt.verdict.answers import (
    Answers,
    Asked,
    Choices,
    Context,
    Lost,
    Pairs,
)
from tests.oracles.support import DETERMINISTIC, FakeAnswers, Lists, ask, items
from tests.support.oracles_judging import Claim, Effects, judge_pair

ONE, OTHER = [list("abcde")], [list("vwxyz")]
ALL = replace(DETERMINISTIC, ask_everybody=True)
"""Asks all users, however clear the verdict is from the first."""

WHY = "Crash: no such scale"


@dataclass
class Failing(FakeAnswers):
    """The source of a run in which some users' follow-ups keep failing."""

    broken: Sequence[Asked] = field(default=())

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        # Those who fail stand among the others at equal distances.
        seen = super().pair(followup, users)
        every = len(self.asked) // max(1, len(self.broken))
        lost = [
            replace(one, request=one.request.replace(user=f"lost{number}"))
            for number, one in enumerate(self.broken)
        ][: len(seen.source) // max(1, every)]
        order = [asked.user for asked in seen.source]
        for number, one in enumerate(lost, 1):
            order.insert((every + 1) * number - 1, one.user)
        failed = tuple(Lost(one.user, "failed", WHY, one) for one in lost)
        return replace(seen, lost=failed, order=tuple(order))


def run(
    oracle: Callable[..., Verdict],
    source: Lists,
    followup: Lists,
    broken: int,
    *arguments: object,
    context: Context = DETERMINISTIC,
    **named: Any,
) -> Verdict:
    lost = ask([source[0]] * broken, relevant=("a",))
    one = Failing(ask(source, relevant=("a",)), context, broken=lost)
    two = FakeAnswers(ask(followup, relevant=("a",)), context, "changed")
    return oracle(one, two, *arguments, **named)


def some(
    changed: int,
    other: Sequence[Sequence[str]] = OTHER,
    rest: Any = ONE,
) -> Lists:
    """77 users of whom so many answer otherwise, at equal distances."""
    places = {77 * number // changed for number in range(changed)}
    return [other if place in places else rest for place in range(77)]


def test_three_crashes_of_eighty_hold_nothing() -> None:
    verdict = run(same_ranking, [ONE] * 77, [ONE] * 77, 3)
    assert (verdict.status, verdict.users, verdict.errors) == ("inconclusive", 77, 3)
    assert verdict.estimate == 0
    assert verdict.interval is not None
    assert verdict.interval[1] == pytest.approx(
        0.1182,
        abs=0.001,
    )  # three of 80 wholly different
    assert verdict.reason.startswith(
        f"3 users of 80 got no answer ({WHY} (3)); each counts against",
    )
    assert (
        "more users" not in verdict.reason
    )  # more users like these would settle nothing
    assert len(verdict.per_user) == 77
    assert verdict.details["unmeasured"] == {
        "users": {"lost0": 25, "lost1": 50, "lost2": 75},
    }
    assert run(same_ranking, [ONE] * 199, [ONE] * 199, 1).status == "holds"


def test_a_strong_violation_stands_whatever_three_more_would_have_answered() -> None:
    verdict = run(same_ranking, [ONE] * 77, some(20), 3, context=ALL)
    assert verdict.status == "violated"
    alone = run(same_ranking, [ONE] * 77, some(20), 0, context=ALL)
    assert verdict.interval is not None
    assert alone.interval is not None
    assert verdict.interval[0] < alone.interval[0]
    assert verdict.interval[1] > alone.interval[1]
    assert verdict.estimate == alone.estimate


def test_a_violation_that_three_could_have_undone_does_not_stand() -> None:
    followup, margin = some(8), 0.045
    for broken, status in ((0, "violated"), (3, "inconclusive")):
        verdict = run(
            same_ranking,
            [ONE] * 77,
            followup,
            broken,
            margin=margin,
            context=ALL,
        )
        assert verdict.status == status


def test_what_is_unclear_anyway_still_says_how_many_users_would_settle_it() -> None:
    verdict = run(same_ranking, [ONE] * 40, [ONE] * 40, 2)
    assert "more users like these would settle it" in verdict.reason
    assert "2 users of 42 got no answer" in verdict.reason


def test_a_promise_of_change_is_bounded_the_other_way_round() -> None:
    assert run(different_ranking, [ONE] * 77, [ONE] * 77, 3).status == "inconclusive"
    assert (
        run(different_ranking, [ONE] * 77, [ONE] * 77, 3, margin=0.3).status
        == "violated"
    )
    for broken, status in ((0, "holds"), (3, "inconclusive")):
        verdict = run(
            different_ranking,
            [ONE] * 77,
            some(8),
            broken,
            margin=0.045,
            context=ALL,
        )
        assert verdict.status == status


@pytest.mark.parametrize(
    ("oracle", "arguments"),
    [
        (same_ranking, {}),
        (same_set, {}),
        (same_order, {}),
        (same_answer, {}),
        (not_worse, {"metric": "hit", "margin": 0.05}),
        (same_hits, {}),
        (same_score, {"score": "hit", "margin": 0.05}),
        (not_increased, {"score": "hit", "margin": 0.05}),
        (not_lifted, {}),
    ],
)
def test_every_oracle_of_two_sides_counts_them(
    oracle: Callable[..., Verdict],
    arguments: dict[str, Any],
) -> None:
    source, followup = (
        [
            replace(one, request=one.request.replace(candidates=offered))
            for one in ask([ONE] * 97, relevant=("a",))
        ]
        for offered in (
            items(*"abcdefgh"),
            (*items(*"abcdefg"), replace(items("h")[0], title="!")),
        )
    )
    sound = [
        Failing(source, DETERMINISTIC),
        FakeAnswers(followup, DETERMINISTIC, "changed"),
    ]
    assert oracle(*sound, **arguments).status == "holds"
    sound[0] = Failing(source, DETERMINISTIC, broken=source[:3])
    verdict = oracle(*sound, **arguments)
    assert (verdict.status, verdict.errors) == ("inconclusive", 3)
    assert "3 users of 100 got no answer" in verdict.reason


def test_a_rise_is_not_shown_where_those_who_failed_could_have_fallen() -> None:
    miss, hit = [list("vwxyz")], [list("abcde")]
    for broken, status in ((0, "holds"), (3, "inconclusive")):
        verdict = run(
            increases,
            [miss] * 77,
            some(8, hit, miss),
            broken,
            "hit",
            context=ALL,
        )
        assert verdict.status == status


def test_a_series_says_which_step_lost_users() -> None:
    lost = ask([ONE] * 3, relevant=("a",))
    one = Failing(ask([ONE] * 97, relevant=("a",)), DETERMINISTIC, broken=lost)
    two = FakeAnswers(ask([ONE] * 97, relevant=("a",)), DETERMINISTIC, "longer")
    verdict = monotone([one, two], "hit", margin=0.04)
    assert verdict.status == "inconclusive"
    assert f"{WHY} (3)" in verdict.reason


@pytest.mark.parametrize(
    ("oracle", "arguments"),
    [
        (same_score, {"score": "item_coverage", "margin": 0.05}),
        (cand_dif_within, {"metric": "hit"}),
    ],
)
def test_numbers_of_all_users_together_are_not_guessed(
    oracle: Callable[..., Verdict],
    arguments: dict[str, Any],
) -> None:
    catalogue = {item.id: item for item in items(*"abcdevwxyz")}
    context = Context(deterministic=True, items=catalogue)
    lists = [ONE] * 50 + [OTHER] * 47
    assert run(oracle, lists, lists, 0, context=context, **arguments).status == "holds"
    verdict = run(oracle, lists, lists, 3, context=context, **arguments)
    assert verdict.status == "inconclusive"
    assert "all users together" in verdict.reason
    assert "3 users of 100 got no answer" in verdict.reason


def test_more_than_the_limit_is_an_error_as_of_any_call() -> None:
    verdict = run(same_ranking, [ONE] * 90, [OTHER] * 90, 10, context=ALL)
    assert (verdict.status, verdict.errors) == ("error", 10)
    assert f"{WHY} (10): 10.0% of the users failed" in verdict.reason


def test_a_look_that_is_clear_all_the_same_ends_the_asking() -> None:
    pair = [ONE[0], ONE[0]]
    source, followup = [pair] * 100, [[OTHER[0], OTHER[0]]] * 100
    verdict = run(same_ranking, source, followup, 5, context=Context(error_limit=0.1))
    assert (verdict.status, verdict.looks, verdict.errors) == ("violated", 1, 1)


def test_the_published_test_claims_nothing_beside_them() -> None:
    rng = np.random.default_rng(5)
    runs = [
        [list(rng.permutation(list("abcdefgh"))[:5]) for _ in range(4)]
        for _ in range(40)
    ]
    verdict = run(paper_t_test, runs, runs, 2, context=Context())
    assert f"2 users of 42 got no answer ({WHY} (2))" in verdict.reason
    assert verdict.status == "inconclusive"


def choices(
    chosen: Sequence[int | None],
    label: str = "",
    failed: Sequence[int] = (),
) -> Choices:
    asked = [number for number in range(len(chosen)) if number not in failed]
    return Choices(
        questions=tuple(f"q{number}" for number in asked),
        right=(0,) * len(asked),
        chosen=tuple(chosen[number] for number in asked),
        said=tuple(
            None if chosen[number] is None else str(chosen[number]) for number in asked
        ),
        options=4,
        failed=tuple(f"q{number}" for number in failed),
        label=label,
    )


def test_changed_questions_that_fail_count_as_answered_otherwise() -> None:
    source, kept = choices([0] * 100), choices([0] * 100, "shuffled")
    broken = choices([0] * 100, "shuffled", failed=range(3))
    for changed, status, errors in ((kept, "holds", 0), (broken, "inconclusive", 3)):
        for verdict in (
            accuracy_kept(source, changed, Context(), 0.05),
            same_choices(source, [changed], Context(), 0.05),
        ):
            assert (verdict.status, verdict.errors) == (status, errors)
            assert ("3 of 100 questions got no answer" in verdict.reason) == bool(
                errors,
            )
    lost = choices([0] * 100, failed=range(3))
    assert same_choices(lost, [kept], Context(), 0.05).status == "holds"


def test_choices_that_are_missed_show_nothing() -> None:
    many: list[int | None] = [None] * 20 + [0] * 80
    verdict = same_choices(choices(many), [choices(many, "shuffled")], Context(), 0.05)
    assert (verdict.status, verdict.value) == ("inconclusive", None)
    assert "no option was read in 20.0% of the answers" in verdict.reason
    few: list[int | None] = [None] * 3 + [0] * 97
    for limit, status in ((0.05, "inconclusive"), (0.1, "holds")):
        verdict = same_choices(choices(few), [choices(few, "s")], Context(), limit)
        assert (verdict.status, verdict.value) == (status, 0)
        assert (
            "3 questions of 100 got an answer of which nothing could be read"
            in verdict.reason
        )


def test_effects_that_count_a_user_twice_are_refused() -> None:
    source, followup = ([ONE] * 30, [ONE] * 30)

    def measure(pairs: Pairs, context: Context) -> Effects:
        users = np.zeros(len(pairs.source), np.intp)
        return Effects(users, np.zeros(len(users)), (0.0, 1.0))

    def same_first(source: FakeAnswers, followup: FakeAnswers) -> Verdict:
        return judge_pair(
            source,
            followup,
            Claim("same_first", "at most", 0.05),
            measure,
        )

    with pytest.raises(OracleError, match="the user at index 0 20 times"):
        run(same_first, source, followup, 0)
