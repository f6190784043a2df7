"""Paired comparisons: which change is told, how often
wrongly, and what is not compared at all.
"""

from typing import Any

import numpy as np
import pytest

from tests.support.gate import (
    Changed,
    Choice,
    Policy,
    Rule,
    address,
    bounds_of,
    compare,
    unknown_in_one,
    unknown_of,
)

USERS = [f"u{number:03}" for number in range(100)]


def row(values: Any, allowed: str = "at most", name: str = "r", **more: Any) -> Any:
    return {
        "nodeid": f"t.py::test_x[toy-{name}]",
        "model": "toy",
        "suite": "s",
        "relation": name,
        "oracle": "o",
        "status": "holds",
        "reason": "",
        "allowed": allowed,
        "reach": [-1.0, 1.0],
        "per_user": dict(zip(USERS, np.asarray(values, float).tolist(), strict=False)),
        **more,
    }


def metric(values: Any, **more: Any) -> Any:
    return row(values, "at least", metric="ndcg@10", reach=[0.0, 1.0], **more)


def one(
    old: Any,
    new: Any,
    policy: Policy | None = None,
    alpha: float = 0.05,
) -> Changed:
    (found,) = compare([old], [new], policy or Policy(), alpha)
    return found


def noise(seed: int, spread: float = 0.1) -> Any:
    return np.clip(np.random.default_rng(seed).normal(0, spread, len(USERS)), -0.4, 0.4)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (row(noise(1)), row(noise(1) + 0.3), "regressed"),
        (row(noise(1) + 0.3), row(noise(1)), "improved"),
        (row(noise(1)), row(noise(2)), "unchanged"),
        (metric(noise(1) + 0.6), metric(noise(2) + 0.4), "regressed"),
        (metric(noise(1) + 0.4), metric(noise(2) + 0.55), "improved"),
        (metric(noise(1) + 0.4), metric(noise(2) + 0.75), "suspicious"),
        (row(noise(1), "at least"), row(noise(2) + 0.5, "at least"), "improved"),
        (row(noise(1), "within"), row(noise(2) + 0.3, "within"), "regressed"),
        (row(noise(1), "within"), row(noise(2) - 0.3, "within"), "regressed"),
        (row(noise(1) + 0.4, "within"), row(noise(2) - 0.1, "within"), "improved"),
        (row(noise(1) + 0.3, "within"), row(noise(2) - 0.3, "within"), "unchanged"),
        (row(noise(1, 0.5)), row(noise(2, 0.5) + 0.08), "inconclusive"),
    ],
)
def test_the_change_is_told_in_the_direction_of_the_promise(
    old: Any,
    new: Any,
    change: str,
) -> None:
    found = one(old, new)
    assert found["change"] == change
    assert found["interval"] is not None
    assert found["worse"] is not None
    assert found["interval"][0] <= found["worse"] <= found["interval"][1]
    if change in ("inconclusive", "suspicious"):
        assert found["reason"]


def read_off(found: Changed) -> str:
    """The word that the bounds alone say."""
    assert found["interval"] is not None
    assert found["margin"] is not None
    low, high = found["interval"]
    if low > found["margin"]:
        return "regressed"
    if high < -found["margin"]:
        return "improved"
    return "unchanged" if high < found["margin"] else "inconclusive"


@pytest.mark.parametrize("users", [100, 200])
@pytest.mark.parametrize("allowed", ["at most", "at least", "within"])
def test_the_bounds_shown_are_those_that_decide(allowed: str, users: int) -> None:
    """Of many comparisons at once, from far worse to far
    better, and with few users that differ.
    """
    words = set()
    for seed in range(4):
        draws = np.random.default_rng(seed)
        olds, news = [], []
        for number in range(12):
            change = draws.normal(draws.uniform(-0.3, 0.3), 0.2, users)
            if number % 4 == 0:
                change[5:] = 0
            old = np.clip(draws.normal(0.4, 0.1, users), 0, 0.6)
            olds.append(row(old, allowed, f"r{number}"))
            news.append(row(np.clip(old + change, -1, 1), allowed, f"r{number}"))
        for found in compare(olds, news, Policy(), 0.05):
            assert found["change"] == read_off(found), found
            assert found["levels"] is not None
            assert found["levels"][0] <= 0.05
            words.add(found["change"])
    assert words >= {"regressed", "improved", "inconclusive", "unchanged"}


def test_pseudo_values_of_an_aggregate_are_compared_as_they_are() -> None:
    """They may lie far beyond what the aggregate can be:
    cut, their mean would be another number.
    """
    values = np.where(np.arange(100) % 10 == 0, 5.0, 0.0) + noise(1)
    old, new = (
        row(each, "at least", reach=[float(each.min()), float(each.max())])
        for each in (values, values * 0.6)
    )
    found = one(old, new)
    assert found["worse"] == pytest.approx(values.mean() * 0.4)


def test_a_shift_of_all_values_is_one_change_whatever_the_last_digits() -> None:
    """One user's answer moves all pseudo-values of an
    aggregate alike; six digits are kept.
    """
    old = noise(1, 0.3)
    new = old + 0.0123456789
    new[:4] += 0.3
    rounded = [
        np.array([float(f"{value:.6g}") for value in values]) for values in (old, new)
    ]
    exact, kept = one(row(old), row(new)), one(row(rounded[0]), row(rounded[1]))
    assert kept["interval"] == pytest.approx(exact["interval"], abs=2e-3)
    flat = one(
        row(old * 0),
        row(np.where(np.arange(100) < 4, 0.3123456789, 0.0123456789)),
    )
    assert kept["interval"] == pytest.approx(flat["interval"], abs=2e-3)


def test_equal_values_are_unchanged_without_an_inference() -> None:
    found = one(row(noise(1)), row(noise(1)))
    assert (found["change"], found["worse"], found["p_worse"]) == (
        "unchanged",
        0.0,
        None,
    )


@pytest.mark.parametrize("allowed", ["at most", "within"])
def test_what_is_worse_by_the_margin_is_called_regressed_at_most_as_often_as_declared(
    allowed: str,
) -> None:
    """Of 100 runs with a change of exactly the margin, 0.05 of them is 5; more than 13
    would come by chance less than once in a thousand times.
    """
    called = 0
    for seed in range(100):
        old = row(noise(2 * seed) + 0.3, allowed)
        new = row(noise(2 * seed + 1) + 0.4, allowed)
        called += one(old, new)["change"] == "regressed"
    assert called <= 13


def test_any_of_many_is_called_regressed_at_most_as_often_as_declared() -> None:
    called = 0
    for seed in range(60):
        draws = np.random.default_rng(seed)
        olds, news = [], []
        for number in range(10):
            change = draws.normal(0.1, 0.1, len(USERS))
            olds.append(row(np.zeros(len(USERS)), name=f"r{number}"))
            news.append(row(np.clip(change, -1, 1), name=f"r{number}"))
        found = compare(olds, news, Policy(), 0.05)
        called += any(each["change"] == "regressed" for each in found)
    assert (
        called <= 9
    )  # 0.05 of 60 is 3; more than 9 would come by chance once in a thousand times


def test_several_models_share_the_declared_rate() -> None:
    old, new = row(noise(0) + 0.3), row(noise(1) + 0.5)
    (alone,), (one_of_five,) = (
        compare([old], [new], Policy(), 0.05, models) for models in (1, 5)
    )
    assert alone["p_worse"] is not None
    assert one_of_five["p_holm"] == min(1.0, 5 * alone["p_worse"])
    assert one_of_five["levels"] is not None
    assert one_of_five["levels"][0] == pytest.approx(0.01)
    assert (alone["change"], one_of_five["change"]) == ("regressed", "inconclusive")
    assert "over 5 models and 1 verdicts" in bounds_of([one_of_five], 0.05, 5)


def test_users_are_paired_by_name_whatever_their_order() -> None:
    old, new = row(noise(1)), row(noise(1))
    new["per_user"] = dict(reversed(new["per_user"].items()))
    new["per_user"]["somebody else"] = 0.9
    assert (one(old, new)["change"], one(old, new)["users"]) == ("unchanged", 100)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (None, row(noise(1)), "the baseline has no such verdict"),
        (
            row([]),
            row(noise(1)),
            "the baseline has no value per user for it: users were asked in sev",
        ),
        (
            row([], reach=None),
            row(noise(1)),
            "the baseline has no value per user for it",
        ),
        (
            row([], reach=None, reason="popreo@5 is undefined without user 'u7'"),
            row(noise(1)),
            "the baseline has no value per user for it: popreo@5 is undefined without user 'u7'",
        ),
        (
            row([], details={"unit": "calls"}),
            row([], details={"unit": "calls"}),
            "it judges calls, not users, and the times of two runs are not compared",
        ),
        (row(noise(1)), row([0.1]), "1 users have a value in both runs"),
        (
            row(noise(1)),
            row(noise(1), status="error", reason="429"),
            "error in this run: 429",
        ),
        (row(noise(1), "at least"), row(noise(1)), "it promised 'at least' then"),
        (
            row(noise(1), relation="history=2", against="history=1"),
            row(noise(1), relation="history=5", against="history=2"),
            "the two judge different steps: 'history=5 against history=2' and 'history=2 against history=1'",
        ),
        (
            row(noise(1), relation="history=2", against="history=1"),
            row(noise(1), relation="history=2", against="history=0"),
            "the two judge different steps: 'history=2 against history=0' and 'history=2 against history=1'",
        ),
    ],
)
def test_what_cannot_be_compared_is_ungated_with_the_reason(
    old: Any,
    new: Any,
    told: str,
) -> None:
    (found,) = compare([] if old is None else [old], [new], Policy(), 0.05)
    assert found["change"] == "ungated"
    assert found["reason"].startswith(told)


def test_an_aggregate_of_other_users_is_not_compared() -> None:
    """Coverage of half the users is less, though each of them got the same list."""
    whole = metric(np.full(100, 0.4), joint=True)
    half = metric(np.full(50, 0.2), joint=True)
    found = one(whole, half)
    assert found["change"] == "ungated"
    assert "100 then, 50 now, 50 of them the same" in found["reason"]
    assert one(whole, whole)["change"] == "unchanged"


def test_a_rule_sets_margins_and_takes_rows_out() -> None:
    old, new = row(noise(1)), row(noise(1) + 0.3)
    choice = Choice({"relation": "r"})
    assert (
        one(old, new, Policy(rules=(Rule(choice, margin=0.5),)))["change"]
        == "unchanged"
    )
    out = one(
        old,
        new,
        Policy(rules=(Rule(choice, gates=False, reason="not promised"),)),
    )
    assert (out["change"], out["reason"]) == ("ungated", "recsys.toml: not promised")
    believed = Policy(rules=(Rule(Choice({"metric": "ndcg@*"}), suspicious=0.5),))
    assert (
        one(metric(noise(1) + 0.4), metric(noise(2) + 0.75), believed)["change"]
        == "improved"
    )


@pytest.mark.parametrize(
    ("nodeid", "model", "told"),
    [
        ("t.py::test_x[itemknn-r-2]", "itemknn", "t.py::test_x[r-2]"),
        ("t.py::test_x[itemknn]", "itemknn", "t.py::test_x"),
        ("t.py::test_x[openai-gpt-4o-r]", "openai:gpt-4o", "t.py::test_x[r]"),
        ("t.py::test_x[item]", "itemknn", "t.py::test_x[item]"),
        ("t.py::test_x[itemknn2-r]", "itemknn", "t.py::test_x[itemknn2-r]"),
        ("t.py::test_x[fold0-itemknn]", "itemknn", "t.py::test_x[fold0]"),
        (
            "t.py::test_x[fold0-openai-gpt-4o-r]",
            "openai:gpt-4o",
            "t.py::test_x[fold0-r]",
        ),
        ("t.py::test_x", "", "t.py::test_x"),
    ],
)
def test_a_test_has_one_address_whatever_its_model(
    nodeid: str,
    model: str,
    told: str,
) -> None:
    row: Any = {"nodeid": nodeid, "model": model}
    assert address(row) == told


def partly(values: Any, lost: int) -> Any:
    """A row of which some users could not be read."""
    draws = np.random.default_rng(3).permutation(len(USERS))[:lost]
    made = metric(values)
    kept = [user for place, user in enumerate(USERS) if place not in draws]
    made["per_user"] = {user: made["per_user"][user] for user in kept}
    places = {user: sum(k < user for k in kept) for user in USERS if user not in kept}
    made["details"] = {"unreadable": {"answers": lost, "of": 100, "users": places}}
    return made


def test_what_could_not_be_read_neither_regresses_nor_stays() -> None:
    good, worse, slightly = noise(1) + 0.5, noise(2) + 0.1, noise(2) + 0.3
    for lost, change in ((1, "unchanged"), (20, "inconclusive"), (60, "inconclusive")):
        for old, new in (
            (metric(good), partly(good, lost)),
            (partly(good, lost), metric(good)),
        ):
            found = one(old, new)
            assert (found["change"], found["users"]) == (change, 100 - lost), found
    assert one(metric(good), partly(worse, 3))["change"] == "regressed"
    assert one(metric(good), partly(slightly, 0))["change"] == "regressed"
    assert one(metric(good), partly(slightly, 20))["change"] == "inconclusive"


def test_users_who_could_show_nothing_but_a_regression_do_not_gate() -> None:
    then = np.zeros(18)
    moved = np.where(np.arange(18) == 7, 0.4, 0.0)
    found = one(row(then), row(moved))
    assert (found["change"], found["users"]) == ("ungated", 18)
    assert (
        "18 users are too few to show it within 0.1, even if no value changed"
        in found["reason"]
    )
    assert one(row(then), row(np.full(18, 0.9)))["change"] == "regressed"
    # Pseudo-values of an aggregate have no error if they are all the same.
    assert one(metric(then, joint=True), metric(moved, joint=True))["change"] in (
        "unchanged",
        "inconclusive",
    )
    many = np.where(np.arange(200) % 10 == 7, 0.9, 0.0)
    assert one(row(np.zeros(200)), row(many))["change"] == "inconclusive"


def test_users_stand_where_they_were_drawn() -> None:
    """The same user may be read in one run only; one
    whom a run did not ask is nobody's.
    """
    old, new = row([0.0] * 4), row([0.0] * 4)
    old["per_user"] = {"a": 0.0, "c": 0.0, "d": 0.0}
    new["per_user"] = {"a": 0.0, "b": 0.0, "d": 0.0}
    old["details"] = {"unreadable": {"users": {"b": 1, "x": 2}}}
    new["details"] = {"unreadable": {"users": {"c": 2, "y": 0}}}
    assert unknown_in_one(old, new, ["a", "d"]) == (1, 1)
    broken: list[Any] = [
        None,
        3,
        {"users": 3},
        {"users": {"b": "1"}},
        {"users": {"b": -1}},
    ]
    for damaged in broken:
        new["details"] = {"unreadable": damaged}
        assert unknown_of(new) == {}
