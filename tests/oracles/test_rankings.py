from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import (
    different_ranking,
    same_order,
    same_ranking,
    same_set,
)
from pytest_recsys_mt.requests import (
    UNKNOWN_PREFIX,
    Entry,
    Item,
    Recommendation,
    Request,
    Scale,
)
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import (
    DETERMINISTIC,
    FakeAnswers,
    ask,
    items,
    plackett_luce,
    sides,
)
from tests.support.oracles_similarities import SIMILARITIES

ONE = [["a", "b", "c", "d", "e"]]
TWICE = [ONE[0], ONE[0]]
SWAPPED = [["b", "a", "c", "d", "e"]]
OTHER = [["v", "w", "x", "y", "z"]]


def noisy(users: int, shift: float, seed: int) -> tuple[FakeAnswers, FakeAnswers]:
    """A sampling recommender, whose utilities move by `shift` standard deviations."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(users, 20))
    moved = taste + shift * rng.normal(size=taste.shape)
    source, followup = (plackett_luce(u, 2, 0.3, rng, 10) for u in (taste, moved))
    return sides(source, followup, k=10)


@pytest.mark.parametrize("similarity", sorted(SIMILARITIES))
def test_a_sampling_recommender_without_an_effect_holds(similarity: str) -> None:
    verdict = same_ranking(*noisy(100, 0, seed=1), similarity=similarity)
    assert verdict
    assert verdict.floor is not None
    assert verdict.floor < 0.9  # it does disagree with itself
    assert verdict.oracle == f"same_ranking:{similarity}"


@pytest.mark.parametrize("similarity", sorted(SIMILARITIES))
def test_a_clear_effect_behind_noise_is_violated(similarity: str) -> None:
    verdict = same_ranking(*noisy(100, 1.5, seed=2), similarity=similarity)
    assert verdict.status == "violated"
    assert verdict.p_value is not None
    assert verdict.p_value < 0.05
    assert verdict.users < 100


def test_no_effect_is_rarely_called_a_violation() -> None:
    statuses = [same_ranking(*noisy(40, 0, seed=seed)).status for seed in range(60)]
    assert statuses.count("violated") <= 1


def test_a_followup_that_is_a_little_calmer_stays_within_the_margin() -> None:
    rng = np.random.default_rng(3)
    taste = rng.normal(size=(100, 20))
    hot, cold = (plackett_luce(taste, 2, t, rng, 10) for t in (0.4, 0.1))
    verdict = same_ranking(*sides(hot, cold, k=10), margin=0.15)
    assert verdict.status == "holds"


@pytest.mark.parametrize(
    ("users", "margin", "status"),
    [
        (61, 0.05, "inconclusive"),
        (62, 0.05, "holds"),
        (156, 0.02, "inconclusive"),
        (157, 0.02, "holds"),
    ],
)
def test_a_deterministic_recommender_that_never_moves(
    users: int,
    margin: float,
    status: str,
) -> None:
    verdict = same_ranking(
        *sides([ONE] * users, [ONE] * users, DETERMINISTIC),
        margin=margin,
    )
    assert verdict.status == status
    assert verdict.estimate == 0
    assert (verdict.floor, verdict.agreement) == (1, 1)
    assert ("1 more user like these" in verdict.reason) == (status == "inconclusive")


def test_a_deterministic_recommender_of_which_every_user_moves_is_violated() -> None:
    verdict = same_ranking(*sides([ONE] * 20, [OTHER] * 20, DETERMINISTIC))
    assert verdict.status == "violated"
    assert verdict.estimate == 1


def test_one_user_of_very_many_moving_is_within_the_margin() -> None:
    followup = [OTHER] + [ONE] * 199
    verdict = same_ranking(*sides([ONE] * 200, followup, DETERMINISTIC))
    assert verdict.status == "holds"
    assert verdict.estimate == pytest.approx(1 / verdict.users)
    assert verdict.interval is not None
    assert 0.0235 < verdict.interval[1] < 0.05  # Clopper and Pearson's for all of them


def test_replicates_that_never_differ_are_certain_of_nothing() -> None:
    verdict = same_ranking(*sides([TWICE] * 100, [TWICE] * 100))
    assert (verdict.status, verdict.users) == ("holds", 66)
    assert verdict.interval is not None
    assert -0.05 < verdict.interval[0] < 0 < verdict.interval[1] < 0.05


def test_a_recommender_that_answers_everybody_alike_breaks_a_change_that_matters() -> (
    None
):
    verdict = different_ranking(*sides([ONE] * 100, [ONE] * 100, DETERMINISTIC))
    assert verdict.status == "violated"
    assert verdict.p_value is not None
    assert verdict.p_value < 0.05


def test_a_change_that_matters_holds_where_answers_move() -> None:
    assert different_ranking(*sides([ONE] * 30, [OTHER] * 30, DETERMINISTIC))
    assert different_ranking(*noisy(100, 1.5, seed=4))


def test_noise_alone_is_no_change_that_matters() -> None:
    assert different_ranking(*noisy(100, 0, seed=5)).status == "violated"


def test_a_floor_below_the_margin_can_show_nothing() -> None:
    rng = np.random.default_rng(6)
    lists = plackett_luce(np.zeros((60, 500)), 2, 1.0, rng, 5)
    other = plackett_luce(np.zeros((60, 500)), 2, 1.0, rng, 5)
    for oracle in (same_ranking, different_ranking):
        verdict = oracle(*sides(lists, other))
        assert verdict.status == "inconclusive"
        assert "not above the margin 0.05" in verdict.reason


def test_one_answer_a_side_cannot_show_the_noise_of_a_stochastic_recommender() -> None:
    verdict = same_ranking(*sides([ONE] * 100, [ONE] * 100))
    assert verdict.status == "inconclusive"
    assert "--recsys-replicates=2" in verdict.reason


def test_failed_calls_above_the_limit_are_an_error_and_named() -> None:
    source, followup = sides(
        [ONE] * 94,
        [ONE] * 94,
        DETERMINISTIC,
        errors={"timeout": 6},
    )
    verdict = same_ranking(source, followup)
    assert verdict.status == "error"
    assert verdict.errors == 6
    assert "timeout (6)" in verdict.reason
    assert "% of the users failed, the limit is 5.0%" in verdict.reason


def test_failed_calls_below_the_limit_are_named_and_not_scored() -> None:
    source, followup = sides(
        [ONE] * 96,
        [ONE] * 96,
        DETERMINISTIC,
        errors={"timeout": 4},
    )
    verdict = same_ranking(source, followup)
    assert verdict.status == "holds"
    assert verdict.errors == 4
    assert verdict.users < 96
    assert "timeout (4)" in verdict.reason


def test_no_applicable_user_is_told_with_the_reasons() -> None:
    verdict = same_ranking(
        *sides([], [], not_applicable={"no ratings": 7, "no titles": 2}),
    )
    assert verdict.status == "not-applicable"
    assert verdict.not_applicable == 9
    assert verdict.reason == "no ratings (7), no titles (2)"


def test_a_single_user_settles_nothing() -> None:
    verdict = same_ranking(*sides([TWICE], [TWICE]))
    assert verdict.status == "inconclusive"
    assert (
        "about 61 more users like these would settle it; 1 user is too few"
        in verdict.reason
    )


def test_empty_answers() -> None:
    nothing: list[list[str]] = [[]]
    silent = same_ranking(
        *sides([ONE] * 9 + [nothing], [ONE] * 9 + [nothing], DETERMINISTIC),
    )
    assert silent.status == "error"  # one user in ten never got an answer
    assert "no recommendation in any answer (1)" in silent.reason
    muted = same_ranking(*sides([ONE] * 20, [nothing] * 20, DETERMINISTIC))
    assert muted.status == "violated"
    assert muted.agreement == 0


def test_repeats_count_once_and_the_smaller_k_decides() -> None:
    repeated = [["a", "a", "b", "c", "d", "e", "f", "g"]]
    source, followup = sides([repeated] * 60, [ONE] * 60, DETERMINISTIC)
    source.asked = ask([repeated] * 60, k=8)
    assert same_ranking(source, followup).estimate == 0


def test_sets_ignore_the_order_and_rankings_do_not() -> None:
    both = sides([ONE] * 60, [SWAPPED] * 60, DETERMINISTIC)
    assert same_set(*both).estimate == 0
    assert same_ranking(*both).status == "violated"


def test_order_is_judged_among_the_items_offered_both_times() -> None:
    old, new = list("abcdefgh"), list("abcdefghxyz")
    context = DETERMINISTIC

    def order(answer: str) -> Verdict:
        source = FakeAnswers(ask([[list("abcde")]] * 70, candidates=old), context)
        followup = FakeAnswers(
            ask([[list(answer)]] * 70, candidates=new),
            context,
            "more",
        )
        return same_order(source, followup)

    assert order("xaybc").status == "holds"
    assert order("xayzb").status == "holds"
    assert order("xbyac").status == "violated"
    assert order("xyz").status == "violated"  # nothing of what was offered before


def test_examples_show_titles_worst_users_first() -> None:
    catalogue = {item.id: item for item in items(*"abcdevwxyz")}
    context = Context(deterministic=True, items=catalogue)
    stray = [[f"{UNKNOWN_PREFIX}nosferatu", "v", "w", "x", "y"]]
    followup = [ONE] * 50 + [SWAPPED, stray] + [ONE] * 48
    verdict = same_ranking(*sides([ONE] * 100, followup, context))
    users = [example.user for example in verdict.examples]
    assert users[:2] == ["u51", "u50"]
    assert len(users) == 5
    worst = verdict.examples[0]
    assert worst.source[0] == "Film a (2000)"
    assert worst.followup[:2] == ("nosferatu", "Film v (2000)")
    assert worst.score == 0
    assert verdict.examples[-1].score == 1


def test_a_verdict_is_reported_once_and_what_was_reported_is_returned() -> None:
    told: list[Verdict] = []

    def report(verdict: Verdict) -> Verdict:
        told.append(verdict)
        return dataclasses.replace(verdict, ledger="tied")

    context = Context(deterministic=True, report=report)
    verdict = same_ranking(*sides([ONE] * 60, [ONE] * 60, context))
    assert len(told) == 1
    assert verdict.ledger == "tied"
    assert verdict.relation == "changed(1)"


def test_more_users_settle_what_was_inconclusive() -> None:
    few = same_ranking(*noisy(30, 0.45, seed=8))
    assert few.status == "inconclusive"
    more = int(few.reason.split(" more users")[0].rsplit(" ", 1)[1])
    assert same_ranking(*noisy(30 + 2 * more, 0.45, seed=8)).status != "inconclusive"


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (
            lambda s, f: same_ranking(s, f, similarity="rbp"),
            r"'rbp'.*did you mean 'rbo'",
        ),
        (lambda s, f: same_ranking(s, f, margin=0), r"same_ranking:rbo: margin.*got 0"),
        (lambda s, f: same_ranking(s, f, margin=1.0), r"margin.*got 1\.0"),
        (lambda s, f: same_ranking(s, f, margin=math.nan), r"margin.*got nan"),
        (
            lambda s, f: same_ranking(s, f, margin=cast(Any, "0.05")),
            r"margin.*got '0.05'",
        ),
        (lambda s, f: same_ranking(s, f, margin=True), r"margin.*got True"),
        (lambda s, f: same_set(s, f, similarity="rbo"), r"'rbo'.*overlap, jaccard"),
        (
            lambda s, f: same_ranking(cast(Any, [ONE]), f),
            r"source must be answers.*recsys\.run",
        ),
        (
            lambda s, f: same_ranking(s, cast(Any, None)),
            r"followup must be answers.*None",
        ),
        (lambda s, f: same_ranking(s, s), r"the same answers"),
    ],
)
def test_bad_arguments_are_named(call: Callable[..., object], names: str) -> None:
    with pytest.raises(OracleError, match=names):
        call(*sides([ONE] * 3, [ONE] * 3, DETERMINISTIC))


def test_unequal_numbers_of_answers_are_refused() -> None:
    with pytest.raises(
        OracleError,
        match=r"same number of answers.*1 for user 'u1'.*2 for .*'u0'",
    ):
        same_ranking(*sides([TWICE, ONE], [TWICE, TWICE]))


answers = st.lists(st.sampled_from("abcdefg"), max_size=7)


@settings(max_examples=60)
@given(
    st.data(),
    st.integers(0, 6),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(sorted(SIMILARITIES)),
    st.sampled_from([same_ranking, different_ranking, same_order]),
    st.booleans(),
)
def test_every_number_of_a_verdict_is_finite(
    data: st.DataObject,
    users: int,
    ours: int,
    theirs: int,
    name: str,
    oracle: Callable[..., Verdict],
    settled: bool,
) -> None:
    lists = [
        data.draw(
            st.lists(
                st.lists(answers, min_size=n, max_size=n),
                min_size=users,
                max_size=users,
            ),
        )
        for n in (ours, theirs)
    ]
    context = Context(deterministic=settled, error_limit=1.0)
    verdict = oracle(*sides(lists[0], lists[1], context), name, 0.1)
    shown = [
        dataclasses.replace(each, source_asked=None, followup_asked=None)
        for each in verdict.examples
    ]
    row = dataclasses.asdict(
        dataclasses.replace(verdict, ledger=None, again=None, examples=tuple(shown)),
    )
    json.dumps(row, allow_nan=False)
    for number in (
        verdict.estimate,
        verdict.p_value,
        verdict.floor,
        *(verdict.interval or ()),
    ):
        assert number is None or type(number) is float


@given(st.permutations(range(20)), st.integers(0, 5))
@settings(max_examples=20)
def test_names_of_items_do_not_change_a_verdict(names: str, seed: int) -> None:
    source, followup = noisy(12, 0.5, seed)

    def rename(side: FakeAnswers) -> FakeAnswers:
        renamed = [
            Asked(
                Request(one.user, (), Scale(), None, 10),
                tuple(
                    Recommendation(
                        tuple(f"film {names[int(i[1:])]}" for i in answer.items),
                    )
                    for answer in one.answers
                ),
            )
            for one in side.asked
        ]
        return dataclasses.replace(side, asked=renamed)

    plain, renamed = (
        same_ranking(source, followup),
        same_ranking(rename(source), rename(followup)),
    )
    assert plain.summary == renamed.summary


def test_labels_of_items_without_a_year() -> None:
    context = Context(deterministic=True, items={"a": Item("a", "Alien")})
    verdict = same_ranking(*sides([[["a"]]] * 70, [[["a"]]] * 70, context))
    assert verdict.examples[0].source == ("Alien",)


def test_items_of_no_catalogue_are_shown_as_the_answer_writes_them() -> None:
    name = f"{UNKNOWN_PREFIX}harbourofglass"
    entries = (
        Entry("Harbour of Glass (2016)", "unknown", name),
        Entry("no", "duplicate", name),
    )
    source, followup = sides(
        [[["a"]]] * 70,
        [[[name, name]]] * 70,
        Context(deterministic=True),
    )
    followup.asked = [
        dataclasses.replace(one, answers=(Recommendation((name, name), entries),))
        for one in followup.asked
    ]
    (worst, *_) = same_ranking(source, followup).examples
    assert worst.followup == ("Harbour of Glass (2016)",) * 2
