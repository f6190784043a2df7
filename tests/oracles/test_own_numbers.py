"""Numbers that a test computed itself are judged as scores are, and nothing of them is
left out in silence.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import Score, at_most
from pytest_recsys_mt.verdict.answers import Context
from tests.laws import over
from tests.oracles.support import FakeAnswers, ask

oracles: Any = importlib.import_module("pytest_recsys_mt.oracles")
"""Without types: a checker would refuse what is passed here, and users may have none."""

CONTEXT = Context()
RNG = np.random.default_rng(5)
VALUES = {f"u{user}": float(value) for user, value in enumerate(RNG.random(60))}


def judged(values: Mapping[Any, Any] = VALUES, **given: Any) -> Verdict:
    context = given.pop("context", CONTEXT)
    limit = {} if given.keys() & {"at_most", "at_least"} else {"at_most": 0.7}
    verdict = oracles.judged(values, context, **{"span": (0, 1), **limit, **given})
    assert isinstance(verdict, Verdict)
    return verdict


def test_the_bounds_are_those_of_a_score() -> None:
    values = dict.fromkeys(list(VALUES)[::2], 1.0) | dict.fromkeys(
        list(VALUES)[1::2], 0.0
    )
    own = judged(values)
    order = [*own.per_user]
    lists = [[["a"] if values[user] else ["b"]] for user in order]
    asked = [
        replace(each, request=each.request.replace(user=user))
        for each, user in zip(ask(lists), order, strict=True)
    ]
    score = Score(
        "hit", lambda answer, asked, context: (float("a" in answer.items), 0), (0, 1)
    )
    theirs = at_most(FakeAnswers(asked, CONTEXT), score, 0.7)
    assert (own.status, own.value, own.interval, own.p_value) == (
        theirs.status,
        theirs.value,
        theirs.interval,
        theirs.p_value,
    )


def test_the_order_of_a_mapping_changes_nothing() -> None:
    ascending = dict(sorted(VALUES.items(), key=lambda each: each[1]))
    assert judged(ascending).interval == judged(VALUES).interval


def test_values_that_were_numbered_after_sorting_get_no_verdict() -> None:
    numbered = judged(dict(enumerate(sorted(VALUES.values()))))
    assert numbered.status == "inconclusive"
    assert "as if they had been numbered after sorting" in numbered.reason
    assert judged(dict(enumerate(VALUES.values())))
    assert judged(dict.fromkeys(range(60), 0.5)), "equal values are in no order"


def test_replicates_are_averaged_and_their_unit_counts_once() -> None:
    twice = {user: [value, value] for user, value in VALUES.items()}
    assert judged(twice).users == 60
    assert judged(twice).interval == judged().interval
    assert judged({**VALUES, "u0": np.array([0.0, 1.0])}).per_user["u0"] == 0.5


def test_units_of_any_name_and_number_are_said_so() -> None:
    texts = {("first text", number): 0.9 for number in range(40)}
    verdict = judged(texts, name="text similarity", unit="pairs")
    assert verdict.status == "violated"
    assert verdict.summary.startswith(
        "text similarity is violated: the mean text similarity is 0.900 (0.",
    )
    assert "; 40 pairs), but at most 0.7 is allowed" in verdict.summary
    assert "farthest beyond it: first text, " in verdict.reason
    assert verdict.details["unit"] == "pairs"


def test_a_unit_without_a_value_counts_against_every_claim() -> None:
    some = {**VALUES, **dict.fromkeys(["x", "y"])}
    verdict = judged(some)
    assert verdict.status == "holds"
    assert verdict.account["both_ends"] == 2
    assert verdict.interval is not None
    whole = judged().interval
    assert whole is not None
    assert verdict.interval[0] <= whole[0] <= whole[1] <= verdict.interval[1]
    assert "2 users of 62 got no number (no value was given (2))" in verdict.reason
    many = judged({**VALUES, **{f"x{number}": [0.5, None] for number in range(10)}})
    assert (many.status, many.value) == ("inconclusive", None)
    assert "14.3% of the users, more than 10.0% (recsys_missed_limit)" in many.reason


def test_sampled_users_without_a_key_are_counted_and_groups_are_judged() -> None:
    users = [replace(each, request=each.request) for each in ask([[["a"]]] * 60)]
    run = replace(CONTEXT, everybody=lambda: users, slices=("activity",), users=60)
    few = {user: value for user, value in VALUES.items() if user != "u3"}
    verdict = judged(few, context=run)
    assert "1 sampled user of the run has no key here" in verdict.reason
    assert verdict.account["not_asked"] == 1
    assert (
        "not divided by --recsys-slices"
        in judged({"q": 0.1, "r": 0.2}, context=run).reason
    )

    def halves(request: Any) -> str:
        return str(int(request.user[1:]) % 2)

    groups = judged(context=run, slices=[halves]).slices
    assert [each.users for each in groups] == [60, 30, 30]


def test_a_plan_computes_nothing() -> None:
    plan = replace(CONTEXT, made_up=True)
    assert judged(context=plan).reason == "made up for a plan"
    sides = {"a": VALUES, "b": dict.fromkeys(VALUES, 0.5)}
    spread = oracles.spread_of(sides, at_most=0.2, context=plan, span=(0, 1))
    assert spread.reason == "made up for a plan"


SIDES = {
    name: {user: min(1.0, value * 0.5 + rise) for user, value in VALUES.items()}
    for name, rise in (("a", 0.0), ("b", 0.02), ("c", 0.3))
}


def spread(sides: Any = SIDES, **given: Any) -> Verdict:
    own = {"context": CONTEXT, "span": (0, 1)} if isinstance(sides, Mapping) else {}
    verdict = oracles.spread_of(sides, **{"at_most": 0.1, **own, **given})
    assert isinstance(verdict, Verdict)
    return verdict


def test_the_extreme_sides_are_found_and_named() -> None:
    verdict = spread()
    assert verdict.status == "violated"
    assert verdict.value == pytest.approx(0.3)
    means = verdict.details["figures"]
    assert f"largest: c ({means['mean of c']:.3f}), smallest: a (" in verdict.reason
    assert spread(at_most=0.5).status == "holds"
    assert spread(at_most=0.3).status == "inconclusive"
    deviation = spread(of="deviation", at_most=0.03)
    assert deviation.status == "violated"
    assert deviation.value == pytest.approx(np.std([0.0, 0.02, 0.3]))
    assert spread(of="deviation", at_most=0.4).status == "holds"


def test_a_side_without_any_number_has_no_mean_to_show() -> None:
    verdict = spread({**SIDES, "d": dict.fromkeys(VALUES)})
    assert verdict.status == "inconclusive"
    assert set(verdict.details["figures"]) == {"mean of a", "mean of b", "mean of c"}


def test_of_users_in_some_sides_those_in_all_count_and_the_others_are_said() -> None:
    few = {**SIDES, "a": {user: SIDES["a"][user] for user in list(VALUES)[:40]}}
    verdict = spread(few)
    assert verdict.users == 40
    assert "20 users of 60 left out" in verdict.reason
    assert "without a score on another side" in verdict.reason


def test_groups_of_people_are_compared_as_such() -> None:
    groups = {
        name: {f"{name}{user}": value for user, value in side.items()}
        for name, side in SIDES.items()
    }
    groups["a"] = dict(list(groups["a"].items())[:25])
    verdict = spread(groups)
    assert (verdict.status, verdict.users) == ("violated", 145)
    assert "each of the users is in one side alone" in verdict.reason


def test_the_spread_by_noise_alone_is_said_beside_it() -> None:
    noisy = {
        name: {user: list(RNG.integers(0, 2, 2) * 1.0) for user in VALUES}
        for name in "abcd"
    }
    verdict = spread(noisy, at_most=0.5)
    said = verdict.details["figures"]["range by noise alone"]
    drawn = RNG.integers(0, 2, (4_000, 4, 60, 2)).mean(axis=(2, 3))
    assert said == pytest.approx(np.ptp(drawn, axis=1).mean(), rel=0.15)
    assert f"4 equal sides a range of about {said:.3f}" in verdict.reason
    assert "noise" not in spread().reason


def test_sides_of_answers_have_a_score() -> None:
    def side(hits: int, label: str) -> FakeAnswers:
        lists = [[["c" if user < hits else "a"]] * 2 for user in range(40)]
        return FakeAnswers(ask(lists, relevant=["c"]), CONTEXT, label)

    verdict = spread(
        [side(40, "one"), side(38, "two"), side(10, "three")], score="hit@1"
    )
    assert (verdict.status, verdict.oracle) == ("violated", "spread_of:range:hit@1")
    assert "largest: one (1.000), smallest: three (0.250)" in verdict.reason
    assert verdict.details["figures"]["range by noise alone"] == 0
    broken = side(38, "two")
    broken.errors = {"HTTP 500": 20}
    assert spread([side(40, "one"), broken], score="hit@1").status == "error"


LABELS = {
    f"q{number}": ("good", "bad")[int(x < 0.3)]
    for number, x in enumerate(RNG.random(120))
}
JUDGE = {
    unit: "bad" if number % 15 == 0 else label
    for number, (unit, label) in enumerate(LABELS.items())
}
MARKS = {"good": 1, "bad": 0}


def agreement(labels: Any = LABELS, values: Any = JUDGE, **given: Any) -> Verdict:
    verdict = oracles.agreement_with(
        labels, values, CONTEXT, **{"at_least": 0.5, **given}
    )
    assert isinstance(verdict, Verdict)
    return verdict


@over("by", ["accuracy", "kappa", "tau"])
def test_the_value_is_the_published_one(by: str) -> None:
    mine = np.array([MARKS[each] for each in JUDGE.values()])
    theirs = np.array([MARKS[each] for each in LABELS.values()])
    equal = (mine == theirs).mean()
    chance = sum((mine == each).mean() * (theirs == each).mean() for each in (0, 1))
    order = np.sign(mine[:, None] - mine) * np.sign(theirs[:, None] - theirs)
    expected = {
        "accuracy": equal,
        "kappa": (equal - chance) / (1 - chance),
        "tau": order.sum() / np.abs(theirs[:, None] - theirs).sum(),
    }
    numbers = [
        {unit: MARKS[each] for unit, each in of.items()} for of in (LABELS, JUDGE)
    ]
    verdict = agreement(*numbers, by=by, at_least=0.3)
    assert verdict.status == "holds"
    assert verdict.value == pytest.approx(expected[by])


def test_a_judge_who_always_says_the_frequent_thing_is_accurate_and_agrees_by_chance() -> (
    None
):
    constant = dict.fromkeys(LABELS, "good")
    assert agreement(values=constant)
    assert agreement(values=constant, by="kappa").status == "violated"
    alike = dict.fromkeys(LABELS, "good")
    nothing = agreement(alike, alike, by="kappa")
    assert (nothing.status, nothing.value) == ("inconclusive", None)
    assert "of one category" in nothing.reason


@over("by", ["accuracy", "kappa"])
def test_what_is_missing_on_either_side_is_counted(by: str) -> None:
    values = {**JUDGE, "q1": None, "z": "good"}
    del values["q2"]
    verdict = agreement(values=values, by=by, unit="questions")
    assert verdict.account["both_ends"] == 2, "a label without a value counts too"
    assert verdict.account["left_out"] == 1
    assert "1 question of 121 left out" in verdict.reason
    assert "without a label (1)" in verdict.reason


def test_two_rankings_of_systems_agree_as_far_as_it_is_proven() -> None:
    def systems(*shares: float) -> dict[str, dict[int, float]]:
        return {
            str(place): {
                user: float(x < share) for user, x in enumerate(RNG.random(300))
            }
            for place, share in enumerate(shares)
        }

    given = {"by": "systems", "span": (0, 1), "at_least": 1.0}
    good = agreement(systems(0.1, 0.5, 0.9), systems(0.2, 0.5, 0.8), **given)
    assert (good.status, good.value, good.interval) == ("holds", 1.0, (1.0, 1.0))
    turned = agreement(systems(0.1, 0.5, 0.9), systems(0.5, 0.2, 0.8), **given)
    assert turned.status == "violated"
    assert turned.interval == pytest.approx((1 / 3, 1 / 3))
    near = agreement(systems(0.1, 0.5, 0.9), systems(0.5, 0.5, 0.8), **given)
    assert near.status == "inconclusive"
    assert "of 3 pairs of systems, 2 are proven to be in one order" in near.reason


WRONG: dict[str, tuple[Callable[[], object], list[str]]] = {
    "NaN": (lambda: judged({"u": math.nan}), ["judged:value", "nan for 'u'", "None"]),
    "outside": (lambda: judged({"u": 2}), ["2 for 'u'", "from 0 to 1", "true ends"]),
    "a text": (lambda: judged({"u": "0.5"}), ["'0.5' for 'u'", "give a number"]),
    "empty": (lambda: judged({}), ["values is empty"]),
    "two of a name": (lambda: judged({1: 0, "1": 0}), ["written '1'", "own name"]),
    "both limits": (lambda: judged(at_most=0.1, at_least=0.1), ["give one limit", "twice"]),
    "a span": (lambda: judged(span=(1, 1)), ["span must be", "got (1, 1)"]),
    "a limit outside": (lambda: judged(at_most=2), ["would hold whatever the answers are"]),
    "foreign slices": (lambda: judged(slices=["history"]), ["slices=('history',)", "sampled users"]),
    "one side": (lambda: spread({"a": VALUES}), ["at least two sides", "['a']"]),
    "no context": (lambda: spread(context=None), ["context=recsys.context"]),
    "no limit": (lambda: spread(at_most=0), ["at_most must be above 0"]),
    "a wide limit": (lambda: spread(of="deviation", at_most=0.5), ["would hold whatever", "at most 0.5"]),
    "a kind": (lambda: spread(of="variance"), ["'range' or 'deviation'", "'variance'"]),
    "some in some": (
        lambda: spread({"a": {"u": 0.1, "v": 0.2}, "b": {"u": 0.1, "w": 0}, "c": {"v": 0.1, "w": 1}}),
        ["some users are in several of the sides a, b, c, and none is in all"],
    ),
    "other keys": (lambda: agreement({"a": 1}, {"b": 1}), ["no unit in common", "'a' and 'b'"]),
    "other categories": (lambda: agreement({"a": 1}, {"a": "1"}), ["share no category", "labels are 1", "values are '1'"]),
    "labels in words": (lambda: agreement(by="tau"), ["labels has", "finite numbers", "by='kappa'"]),
    "a measure": (lambda: agreement(by="rho"), ["'accuracy', 'kappa', 'tau' or 'systems'"]),
    "a span of categories": (lambda: agreement(span=(0, 1)), ["by='systems'"]),
    "other systems": (lambda: agreement({"a": {}}, {"b": {}}, by="systems", span=(0, 1)), ["the systems ['a']", "['b']"]),
    "an agreement of 2": (lambda: agreement(at_least=2), ["at most 1, got 2"]),
}  # fmt: skip


@over("name", WRONG)
def test_what_is_wrong_is_said_with_the_next_step(name: str) -> None:
    call, said = WRONG[name]
    with pytest.raises(OracleError) as caught:
        call()
    assert [part for part in said if part not in str(caught.value)] == []


def test_who_lacks_a_side_is_not_left_out_without_limit() -> None:
    """Side b lacks exactly those whose value is 0 in both."""
    values = {f"q{number}": float(number % 2) for number in range(400)}
    sides = {"a": values, "b": {key: one for key, one in values.items() if one}}
    verdict = oracles.spread_of(sides, at_most=0.2, context=CONTEXT, span=(0, 1))
    assert verdict.status == "inconclusive"
    assert "50.0% of the users are not in all sides" in verdict.reason
    labels = {"x": values, "y": values}
    systems = {"x": sides["a"], "y": sides["b"]}
    verdict = oracles.agreement_with(
        labels, systems, CONTEXT, at_least=0.5, by="systems", span=(0, 1)
    )
    assert "not in all sides" in verdict.reason


def test_the_labels_that_exist_count_where_one_of_several_is_missing() -> None:
    labels: dict[str, list[str | None]] = {
        f"q{number}": ["good" if number % 2 else "bad", None] for number in range(180)
    }
    labels |= {f"r{number}": ["good", "good"] for number in range(120)}
    judge = {key: "good" if key[0] == "r" else "bad" for key in labels}
    verdict = oracles.agreement_with(labels, judge, CONTEXT, at_least=0.8)
    assert verdict.status == "violated"
    assert verdict.users == 300


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"name": 3}, "name must be a text"),
        ({"unit": ""}, "unit must be a text"),
        ({"context": "recsys"}, "context must be the fixture's recsys.context"),
    ],
    ids=["name", "unit", "context"],
)
def test_what_is_no_word_or_context_is_named(more: dict[str, Any], said: str) -> None:
    arguments = {"context": CONTEXT, "at_most": 0.5, "span": (0, 1), **more}
    with pytest.raises(OracleError, match=said):
        judged({"a": 0.5, "b": 0.25}, **arguments)


def test_sides_of_a_table_are_read_and_a_score_of_own_numbers_is_refused() -> None:
    table = pd.DataFrame({"a": [0.1] * 50, "b": [0.2] * 50})
    verdict = oracles.spread_of(table, at_most=0.9, context=CONTEXT, span=(0, 1))
    assert verdict.users == 50
    with pytest.raises(OracleError, match="score='ndcg@5' is of answers"):
        oracles.spread_of(table, "ndcg@5", at_most=0.9, context=CONTEXT, span=(0, 1))
