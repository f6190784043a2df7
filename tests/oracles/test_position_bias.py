"""Does it matter where a candidate stands?"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    cand_dif,
    cand_dif_within,
    chosen_places_test,
    no_position_bias,
    position_test,
)
from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.llm.test_recorded_replies import replies
from tests.oracles.support import FakeAnswers
from tests.support.oracles_scores import slots_of

CANDIDATES = [f"i{place}" for place in range(20)]


def found_at(
    places: Sequence[int],
    hits: Sequence[bool],
    label: str = "",
) -> FakeAnswers:
    """Users whose held-out item stands at these places; a
    miss is recommended nothing of use.
    """
    asked = []
    for user, (place, hit) in enumerate(zip(places, hits, strict=True)):
        request = Request(
            f"u{user}",
            (),
            Scale(),
            tuple(Item(item) for item in CANDIDATES),
            5,
        )
        items = (CANDIDATES[place],) if hit else (CANDIDATES[place - 1],)
        asked.append(
            Asked(request, (Recommendation(items),), frozenset({CANDIDATES[place]})),
        )
    return FakeAnswers(asked, Context(), label)


@pytest.mark.parametrize(
    ("first", "random", "expected"),
    [
        (0.718, 0.527, 0.5172),
        (0.6129, 0.3799, 0.4713),
        (0.3, 0.3, 0),
        (0.5, 0, math.log(2)),
    ],
)
def test_cand_dif_of_known_accuracies(
    first: float,
    random: float,
    expected: float,
) -> None:
    # Accuracies of four digits leave that much room.
    assert cand_dif(first, random) == pytest.approx(expected, abs=2e-4)
    assert cand_dif(random, first) == pytest.approx(-expected, abs=2e-4)


def test_cand_dif_of_the_paper_to_its_last_digit() -> None:
    assert cand_dif(0.718, 0.527) == pytest.approx(0.517188, abs=5e-7)
    # One user of 1,000 more or less gives another number: the logarithm is the natural
    # one.
    assert [f"{cand_dif(hits / 1000, 0.527):.4f}" for hits in (717, 718, 719)] == [
        "0.5136",
        "0.5172",
        "0.5207",
    ]


def test_an_accuracy_of_one_is_never_clipped() -> None:
    assert cand_dif(1, 0.5) == math.inf
    assert cand_dif(0.5, 1) == -math.inf
    assert cand_dif(1, 1) is None
    with pytest.raises(OracleError, match="first is an accuracy"):
        cand_dif(1.2, 0.5)


@given(st.floats(0, 0.99), st.floats(0, 0.99))
def test_cand_dif_has_the_sign_of_the_difference_and_is_antisymmetric(
    a: float,
    b: float,
) -> None:
    value = cand_dif(a, b)
    assert value is not None
    assert value * (a - b) >= 0
    assert value == -(cand_dif(b, a) or 0)


def test_a_recommender_that_knows_no_places_has_cand_dif_exactly_zero() -> None:
    places, hits = (
        [user % 20 for user in range(200)],
        [user % 3 > 0 for user in range(200)],
    )
    source, followup = found_at(places, hits), found_at([0] * 200, hits, "first(1)")
    verdict = cand_dif_within(source, followup, "hit@5", margin=0.2)
    assert (verdict.status, verdict.estimate) == ("holds", 0)
    assert (
        "hit@5 0.6650 at random places and 0.6650 in the first, +0.0000"
        in verdict.reason
    )


def test_one_that_prefers_the_first_place_is_found() -> None:
    rng = np.random.default_rng(0)
    source = found_at([7] * 200, list(rng.random(200) < 0.5))
    followup = found_at([0] * 200, list(rng.random(200) < 0.75), "first(1)")
    verdict = cand_dif_within(source, followup, "hit@5", margin=0.2)
    assert verdict.status == "violated"
    before, after = (
        sum(
            len(a.answers[0].items[0:1]) and a.answers[0].items[0] in a.relevant
            for a in s.asked
        )
        / 200
        for s in (source, followup)
    )
    assert verdict.estimate == pytest.approx(cand_dif(after, before))
    # The delta method's standard error, of paired but independent hits.
    error = math.sqrt((after / (1 - after) + before / (1 - before)) / 200)
    assert verdict.interval is not None
    assert (verdict.interval[1] - verdict.interval[0]) / 2 == pytest.approx(
        1.65 * error,
        rel=0.1,
    )


def test_cand_dif_without_room_is_not_applicable_and_never_infinite() -> None:
    all_found = found_at([0] * 40, [True] * 40, "first(1)")
    verdict = cand_dif_within(found_at([5] * 40, [True, False] * 20), all_found)
    assert (verdict.status, verdict.estimate) == ("not-applicable", None)
    assert "accuracy of 1 cannot be compared" in verdict.reason
    one_missed = found_at([0] * 40, [True] * 39 + [False], "first(1)")
    verdict = cand_dif_within(found_at([5] * 40, [True, False] * 20), one_missed)
    assert verdict.status == "inconclusive"
    assert "ask more users" in verdict.reason


def test_chosen_places_of_a_table() -> None:
    statistic, p = chosen_places_test([0] * 30 + [1] * 10, 2)
    assert statistic == 10
    assert p == pytest.approx(0.0015654, abs=1e-7)
    assert chosen_places_test(list(range(20)) * 5, 20) == (0, 1)


@pytest.mark.parametrize(
    ("variant", "users", "first_ten", "first_five", "last_five", "p"),
    [("RankZero", 197, 139, None, None, 2e-4), ("RankFixed", 200, 146, 85, 15, 5e-13)],
)
def test_recorded_replies_choose_from_the_first_places(
    variant: str,
    users: int,
    first_ten: int,
    first_five: int | None,
    last_five: int | None,
    p: float,
) -> None:
    places, targets = [], []
    for row, request, entries in replies(variant):
        offered = [item.id for item in request.candidates or ()]
        targets.append(offered.index(f"{row['target']}#0"))
        named = [entry.item for entry in entries if entry.kind != "unparsed"]
        if (
            named[0] in offered
        ):  # users whose history is ranked first have chosen no candidate
            places.append(offered.index(named[0]))
    assert (len(places), sum(place < 10 for place in places)) == (users, first_ten)
    if first_five is not None:
        assert sum(place < 5 for place in places) == first_five
        assert sum(place >= 15 for place in places) == last_five
    assert chosen_places_test(places, 20)[1] == pytest.approx(p, rel=0.1)
    assert sum(place < 10 for place in targets) == 101
    assert chosen_places_test(targets, 20)[1] == pytest.approx(0.08, abs=0.005)


@pytest.mark.parametrize("variant", ["RankZero", "RankFixed"])
def test_recorded_replies_find_early_candidates_more_often(variant: str) -> None:
    asked = []
    for row, request, entries in replies(variant):
        named = tuple(entry.item for entry in entries if entry.item is not None)
        asked.append(
            Asked(
                request,
                (Recommendation(named, entries),),
                frozenset({f"{row['target']}#0"}),
            ),
        )
    verdict = no_position_bias(FakeAnswers(asked, Context()), "hit@5")
    assert verdict.status == "violated"
    assert verdict.p_value is not None
    assert verdict.p_value < 0.001
    slots = [slot for one in asked for slot in slots_of(one.answers[0], one, Context())]
    history = [
        any(s.kind == "history" for s in slots_of(o.answers[0], o, Context()))
        for o in asked
    ]
    if variant == "RankZero":
        assert len(slots) == 3988
        assert sum(slot.kind == "history" for slot in slots) >= 250
        assert sum(slot.kind in ("unknown", "outside") for slot in slots) <= 3
        assert sum(history) == 37


def test_the_permutation_test_is_the_exact_one_of_a_small_table() -> None:
    # 2 of the 20 deals of three hits to six places part the groups as well.
    statistic, p = position_test([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], draws=20_000)
    assert statistic == pytest.approx(1.5)
    assert p == pytest.approx(2 / 20, abs=0.01)


def test_values_dealt_within_users_keep_their_users() -> None:
    # All of the difference is between users; places within a user do not matter.
    values, places = [1.0, 1.0, 0.0, 0.0] * 10, [0, 1, 0, 1] * 10
    users = [place // 2 for place in range(40)]
    statistic, p = position_test(values, places, users)
    assert (statistic, p) == (0, 1)
    first = [1.0, 0.0] * 20
    statistic, p = position_test(first, [0, 1] * 20, users, draws=999)
    assert statistic == pytest.approx(10)
    assert p == 0.001


def test_the_permutation_test_keeps_its_error_rate() -> None:
    rng = np.random.default_rng(1)
    runs = [
        position_test(
            rng.random(60) < 0.5,
            rng.integers(0, 4, 60).tolist(),
            draws=99,
            seed=run,
        )[1]
        for run in range(300)
    ]
    assert np.mean([p <= 0.1 for p in runs]) < 0.15
    assert np.mean([p <= 0.1 for p in runs]) > 0.05


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3)), min_size=4, max_size=12))
def test_names_of_groups_and_the_order_of_users_do_not_matter(
    table: list[tuple[float, int]],
) -> None:
    values, groups = [value for value, _ in table], [group for _, group in table]
    if len(set(groups)) < 2:
        return
    statistic, p = position_test(values, groups, draws=20)
    assert 0 < p <= 1
    assert position_test(values, [10 - g for g in groups], draws=20)[
        0
    ] == pytest.approx(statistic)
    assert position_test(values[::-1], groups[::-1], draws=20)[0] == pytest.approx(
        statistic,
    )


def test_no_position_bias_finds_holds_and_leaves_open() -> None:
    rng = np.random.default_rng(2)
    places = rng.integers(0, 20, 800).tolist()
    even = no_position_bias(found_at(places, list(rng.random(800) < 0.9)), margin=0.15)
    assert even.status == "holds"
    assert even.p_value is not None
    early = [bool(rng.random() < (0.8 if place < 5 else 0.4)) for place in places]
    biased = no_position_bias(found_at(places, early))
    assert (biased.status, biased.p_value) == ("violated", 0.0001)
    assert biased.estimate is not None
    assert biased.estimate == pytest.approx(0.4, abs=0.08)
    assert "hit@5 by group of places, from the first: 0." in biased.reason
    few = no_position_bias(found_at(places[:40], list(rng.random(40) < 0.5)))
    assert few.status == "inconclusive"
    assert "neither a bias beyond the margin nor its absence" in few.reason


def test_users_whose_item_is_not_offered_are_not_applicable() -> None:
    answers = found_at([*range(20)] * 3, [True, False] * 30)
    lost = [
        Asked(one.request, one.answers, frozenset({"z"})) for one in answers.asked[:5]
    ]
    open_ = [Asked(one.request, one.answers) for one in answers.asked[:3]]
    mixed = FakeAnswers([*answers.asked, *lost, *open_], Context())
    verdict = no_position_bias(mixed)
    assert (verdict.users, verdict.not_applicable) == (60, 8)
    nobody = no_position_bias(FakeAnswers(lost, Context()))
    assert nobody.status == "not-applicable"
    same = no_position_bias(found_at([3] * 30, [True, False] * 15))
    assert same.status == "inconclusive"
    assert "one group of places; shuffle the candidates" in same.reason


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: position_test([1, 0], [0, 0]), "two groups"),
        (lambda: position_test([1], [0, 1]), "needs its group"),
        (lambda: position_test([1, 0], [0, 1], ["u"]), "needs its user"),
        (lambda: chosen_places_test([2], 2), "between 0 and 1"),
        (lambda: chosen_places_test([], 2), "for 2 candidates"),
        (lambda: no_position_bias(found_at([1], [True]), groups=1), "at least 2"),
        (lambda: no_position_bias(found_at([1], [True]), margin=0), "margin must lie"),
        (
            lambda: cand_dif_within(
                found_at([1], [True]),
                found_at([0], [True]),
                margin=0,
            ),
            "must be above 0",
        ),
    ],
)
def test_impossible_arguments_are_named(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(OracleError, match=said):
        call()
