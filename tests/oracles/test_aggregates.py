"""Numbers of all users' answers together: definitions,
intervals, and what is undefined.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    AGGREGATES,
    Aggregate,
    Answered,
    at_least,
    at_most,
    decreases,
    increases,
    not_increased,
    same_score,
    within,
)
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import FakeAnswers, ask
from tests.support.oracles_aggregates import (
    dpd,
    exposure_gini,
    item_coverage,
    jain,
    measure_named,
    oic,
    popreo,
)
from tests.support.oracles_statistics import linearised

CATALOGUE = [f"i{number}" for number in range(12)]
CONTEXT = Context(
    items={name: Item(name) for name in CATALOGUE},
    popularity={name: 2**place for place, name in enumerate(CATALOGUE)},
)


def user(
    name: str,
    recommended: Sequence[str],
    candidates: Sequence[str] | None = None,
    history: Sequence[str] = (),
    relevant: Sequence[str] = (),
    k: int = 3,
) -> Asked:
    offered = None if candidates is None else tuple(Item(item) for item in candidates)
    seen = tuple(Rating(Item(item), 5) for item in history)
    request = Request(name, seen, Scale(), offered, k)
    return Asked(request, (Recommendation(tuple(recommended)),), frozenset(relevant))


def of(name: str, users: Sequence[Asked], context: Context = CONTEXT) -> float | None:
    aggregate = measure_named(name)
    assert isinstance(aggregate, Aggregate)
    return aggregate.of([(one, one.answers[0]) for one in users], context)


@st.composite
def populations(draw: st.DrawFn) -> list[Asked]:
    """Users with histories, candidates or none, held-out
    items, and any lists, invented items too.
    """
    items = st.sampled_from(CATALOGUE)
    found = []
    for place in range(draw(st.integers(2, 6))):
        history = draw(st.lists(items, unique=True, max_size=4))
        unseen = [item for item in CATALOGUE if item not in history]
        candidates = draw(
            st.none() | st.lists(st.sampled_from(unseen), unique=True, min_size=1),
        )
        anything = st.sampled_from([*CATALOGUE, "unknown:x", "elsewhere"])
        found.append(
            user(
                f"u{place}",
                draw(st.lists(anything, max_size=4)),
                candidates,
                history,
                draw(st.lists(st.sampled_from(unseen), max_size=2)),
            ),
        )
    return found


@pytest.mark.parametrize("name", AGGREGATES)
@given(users=populations(), data=st.data())
def test_every_aggregate_keeps_its_range_and_knows_no_order_of_users(
    name: str,
    users: list[Asked],
    data: st.DataObject,
) -> None:
    aggregate = measure_named(f"{name}@2")
    assert isinstance(aggregate, Aggregate)
    value = of(f"{name}@2", users)
    assert value is None or aggregate.span[0] <= value <= aggregate.span[1] + 1e-12
    shuffled = of(f"{name}@2", data.draw(st.permutations(users)))
    assert (value is None) == (shuffled is None)
    assert value == pytest.approx(shuffled)


@pytest.mark.parametrize("name", AGGREGATES)
@given(users=populations())
def test_the_fast_way_to_leave_users_out_is_the_slow_one(
    name: str,
    users: list[Asked],
) -> None:
    aggregate = measure_named(f"{name}@2")
    assert isinstance(aggregate, Aggregate)
    answered: list[Answered] = [(one, one.answers[0]) for one in users]
    fast = aggregate.leaving_out(answered, CONTEXT)
    slow = [
        aggregate.of(answered[:row] + answered[row + 1 :], CONTEXT)
        for row in range(len(users))
    ]
    assert [value is None for value in fast] == [value is None for value in slow]
    assert [v for v in fast if v is not None] == pytest.approx(
        [v for v in slow if v is not None],
    )


@given(users=populations())
def test_matrices_and_sets_agree(users: list[Asked]) -> None:
    lists = [list(dict.fromkeys(one.answers[0].items))[:2] for one in users]
    offers = [
        {item.id for item in one.request.candidates}
        if one.request.candidates is not None
        else set(CATALOGUE) - {rating.item.id for rating in one.request.history}
        for one in users
    ]
    assert of("item_coverage@2", users) == pytest.approx(item_coverage(lists, offers))
    assert of("oic@2", users) == pytest.approx(oic(lists, offers))
    exposures = [
        sum(
            item in mine and item in offer
            for mine, offer in zip(lists, offers, strict=True)
        )
        for item in sorted(set().union(*offers))
    ]
    assert of("exposure_gini@2", users) == pytest.approx(exposure_gini(exposures))


@pytest.mark.parametrize(
    ("exposures", "expected"),
    [
        ([1, 2, 3, 4], 0.25),
        ([0, 0, 0, 1], 0.75),
        ([5, 1, 1, 1, 1], 0.355556),
        ([7], 0),
        ([2, 2], 0),
    ],
)
def test_gini_of_known_exposures(exposures: list[int], expected: float) -> None:
    assert exposure_gini(exposures) == pytest.approx(expected, abs=5e-7)


def test_gini_is_its_double_sum() -> None:
    x = np.random.default_rng(0).integers(0, 9, 40).astype(float)
    pairs = np.abs(x[:, None] - x[None, :]).sum()
    assert exposure_gini(x) == pytest.approx(pairs / (2 * len(x) * x.sum()))
    assert exposure_gini(3 * x) == pytest.approx(exposure_gini(x))


def test_where_there_is_nothing_to_compare_there_is_no_number() -> None:
    assert exposure_gini([0, 0]) is None
    assert exposure_gini([]) is None
    assert item_coverage([[], []], [[], []]) is None
    assert oic([["a"], ["b"]], [["a"], ["b"]]) is None
    assert jain([0, 0]) is None
    assert dpd([1, 0], [3, 3]) is None
    assert dpd([], []) is None
    assert popreo([0, 0], [2, 2]) is None
    assert popreo([1, 0], [2, 0]) is None


def test_known_values() -> None:
    assert jain([1, 0, 0, 0]) == 0.25
    assert jain([0.3, 0.3]) == pytest.approx(1)
    assert dpd([1, 0, 0.5, 0.5], [1, 2, 3, 4]) == 0
    assert dpd([0, 0, 1], [1, 2, 3]) == 1  # as long as the median is inactive
    assert popreo([1, 1], [2, 2]) == 0
    assert popreo([4, 0, 0, 0, 0], [4, 4, 4, 4, 4]) == pytest.approx(
        2,
    )  # sqrt(groups - 1)
    # Nothing was held out of the last group: it does not count.
    assert popreo([1, 2, 0], [4, 4, 0]) == pytest.approx(0.125 / 0.375)
    assert oic([["a", "b"], ["a", "c"]], [["a", "b"], ["a", "b", "c"]]) == 0.5


def test_what_was_not_offered_widens_no_coverage() -> None:
    users = [
        user("u", ["a", "unknown:x", "z"], ["a", "b"]),
        user("v", ["a"], ["a", "c", "d"]),
    ]
    assert of("item_coverage", users) == 0.25
    assert of("exposure_gini", users) == 0.75


def test_popreo_ranks_ties_by_id_and_names_groups_that_are_left_out() -> None:
    flat = Context(items=CONTEXT.items, popularity=dict.fromkeys(CATALOGUE, 3))
    # Ten of twelve in two groups of three and three of two: i0 is in the last, i9 in
    # the first.
    users = [user(f"u{n}", [], relevant=[item]) for n, item in enumerate(["i0", "i9"])]
    users += [
        user(f"v{n}", [item], relevant=[item])
        for n, item in enumerate(["i0", "i0", "i9"])
    ]
    assert of("popreo", users, flat) == pytest.approx(
        np.std([2 / 3, 0.5]) / np.mean([2 / 3, 0.5]),
    )
    verdict = at_most(FakeAnswers(users[2:] * 20, flat), "popreo", 1.5)
    assert (
        "popularity groups 2, 3, 4 of 5 without a held-out item left out"
        in verdict.reason
    )
    # By value all are one group, and nothing can be compared.
    assert of("popreo_by_value", users, flat) is None


def zipf_answers(
    users: int,
    rng: np.random.Generator,
    replicates: int = 1,
) -> FakeAnswers:
    appeal = -np.log(np.arange(1, 61))
    catalogue = [f"i{number:02}" for number in range(60)]
    lists = [
        [
            [
                catalogue[place]
                for place in np.argsort(-(appeal + rng.gumbel(size=60)))[:5]
            ]
            for _ in range(replicates)
        ]
        for _ in range(users)
    ]
    return FakeAnswers(ask(lists, candidates=catalogue), Context())


@pytest.mark.parametrize("name", ["item_coverage@5", "exposure_gini@5", "oic@5"])
def test_the_interval_holds_the_number_of_as_many_other_users(name: str) -> None:
    rng = np.random.default_rng(3)
    others = (of(name, zipf_answers(40, rng).asked, Context()) for _ in range(200))
    truth = np.mean([value for value in others if value is not None])
    runs = covered = 0
    for _ in range(60):
        verdict = at_most(zipf_answers(40, rng), name, 0.5)
        assert verdict.interval is not None
        runs += 1
        covered += bool(verdict.interval[0] <= truth <= verdict.interval[1])
    assert covered / runs >= 0.85  # 90 % in expectation


def test_an_aggregate_is_judged_like_a_score() -> None:
    rng = np.random.default_rng(5)
    answers = zipf_answers(60, rng)
    value = of("oic@5", answers.asked, Context())
    verdict = at_most(answers, "oic@5", 0.2)
    assert (verdict.status, verdict.metric, verdict.threshold) == (
        "holds",
        "oic@5",
        0.2,
    )
    assert verdict.value == pytest.approx(value)
    assert at_least(answers, "oic@5", 0.2).status == "violated"
    assert within(answers, "oic@5", 0.2).status == "holds"
    assert at_most(answers, "oic@5", 0.2) == verdict  # nothing is drawn


def test_replicates_are_averaged() -> None:
    rng = np.random.default_rng(6)
    answers = zipf_answers(30, rng, replicates=2)
    values = [
        AGGREGATES["item_coverage"]("item_coverage@5").of(
            [(one, one.answers[replicate]) for one in answers.asked],
            Context(),
        )
        for replicate in range(2)
    ]
    assert at_least(answers, "item_coverage@5", 0.1).value == pytest.approx(
        np.mean([v for v in values if v is not None]),
    )


def test_two_sides_are_compared_by_their_aggregates() -> None:
    rng = np.random.default_rng(7)
    source = zipf_answers(60, rng)
    same = FakeAnswers(zipf_answers(60, rng).asked, Context(), "changed(1)")
    alike = FakeAnswers(
        ask(
            [[["i00", "i01", "i02", "i03", "i04"]]] * 60,
            candidates=[f"i{n:02}" for n in range(60)],
        ),
        Context(),
        "changed(1)",
    )
    assert increases(source, alike, "exposure_gini", 0.1).status == "holds"
    assert decreases(source, alike, "item_coverage", 0.1).status == "holds"
    assert not_increased(source, alike, "oic", 0.01).status == "violated"
    assert same_score(source, same, "exposure_gini", 0.2).status == "holds"


def test_undefined_is_not_applicable_with_the_reason() -> None:
    verdict = at_least(
        FakeAnswers([user("u", ["i1"]), user("v", ["i1"])], CONTEXT),
        "jain",
        0.5,
    )
    assert (verdict.status, verdict.value, verdict.not_applicable) == (
        "not-applicable",
        None,
        2,
    )
    assert "jain is undefined if no list contains a held-out item" in verdict.reason


def test_a_number_that_hangs_on_one_user_has_no_interval() -> None:
    users = [
        user(f"u{n}", ["i1"], relevant=["i1" if n == 7 else "i2"]) for n in range(30)
    ]
    verdict = at_least(FakeAnswers(users, CONTEXT), "jain", 0.5)
    assert (verdict.status, verdict.interval) == ("inconclusive", None)
    assert verdict.value == pytest.approx(1 / 30)
    assert "undefined without user 'u7'" in verdict.reason
    assert (verdict.per_user, verdict.reach) == ({}, None), (
        "no value a user to compare runs by"
    )


def test_the_values_of_users_are_within_the_reach_that_is_recorded() -> None:
    """A user who alone shows ten of twelve items adds far more than a coverage can be."""
    users = [user(f"u{n}", [f"i{n % 2}"]) for n in range(30)]
    users.append(user("wide", [f"i{n}" for n in range(2, 12)]))
    verdict = at_least(FakeAnswers(users, CONTEXT), "item_coverage", 0.1)
    assert verdict.reach is not None
    low, high = verdict.reach
    assert (
        low
        <= min(verdict.per_user.values())
        < max(verdict.per_user.values())
        == high
        > 1
    )


def test_silent_users_are_errors_as_with_scores() -> None:
    users = [user(f"u{n}", ["i1", f"i{n % 9}"]) for n in range(40)] + [user("mute", [])]
    verdict = at_most(FakeAnswers(users, CONTEXT), "item_coverage", 0.99)
    assert (verdict.status, verdict.users, verdict.errors) == ("inconclusive", 40, 1)
    assert (
        at_most(FakeAnswers(users[-1:] * 3, CONTEXT), "item_coverage", 0.9).status
        == "error"
    )


def test_people_bring_their_own() -> None:
    def longest(answered: Sequence[Answered], context: Context) -> float:
        return max(len(answer.items) for _, answer in answered)

    mine = Aggregate("longest_list", longest, (0, 3))
    users = [user(f"u{n}", CATALOGUE[: 1 + n % 3]) for n in range(30)]
    verdict = at_least(FakeAnswers(users, CONTEXT), mine, 2)
    assert (verdict.status, verdict.metric, verdict.value) == (
        "holds",
        "longest_list",
        3,
    )
    broken = Aggregate("broken", lambda answered, context: math.nan, (0, 1))
    with pytest.raises(
        OracleError,
        match="broken: an aggregate must be a finite number",
    ):
        at_least(FakeAnswers(users, CONTEXT), broken, 0.5)


def test_values_of_a_mean_are_the_users_own() -> None:
    x = np.array([0.2, 0.9, 0.4])
    without = (x.sum() - x) / 2
    assert linearised(float(x.mean()), without) == pytest.approx(x)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("item_coverage@0", "at least 1, got 'item_coverage@0'"),
        ("item_coverage@4", "needs 4 places, but the requests ask for 3"),
        ("popreo@4", "needs 4 places"),
        ("jain@4", "needs 4 places"),
        ("item_covrage@3", "did you mean 'item_coverage'"),
    ],
)
def test_bad_names_are_named(name: str, said: str) -> None:
    with pytest.raises(OracleError, match=said):
        at_least(
            FakeAnswers([user("u", ["i1"], relevant=["i1"])] * 3, CONTEXT),
            name,
            0.5,
        )


def test_bad_numbers_are_named() -> None:
    with pytest.raises(OracleError, match="exposures must be a flat list"):
        exposure_gini([-1])
    with pytest.raises(OracleError, match="every user needs a value and a length"):
        dpd([1], [1, 2])
    with pytest.raises(OracleError, match="more found than wanted"):
        popreo([2, 1], [1, 1])


def test_more_users_are_not_advised_where_they_change_the_number() -> None:
    answers = zipf_answers(60, np.random.default_rng(5))
    value = of("oic@5", answers.asked, Context())
    assert value is not None
    verdict = at_most(answers, "oic@5", value)
    assert verdict.status == "inconclusive"
    assert "the bounds contain the limit" in verdict.reason
    assert "--recsys-users" not in verdict.reason
