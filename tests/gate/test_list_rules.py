"""Rules of a policy on how far lists agree with those of the baseline."""

import random
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.support.gate import (
    UNCLEAR,
    Gate,
    ListsRule,
    Policy,
    claim_in_words,
    claims_of,
    load,
    unshown,
)

FILMS = [f"Film {number}" for number in range(40)]


def records(users: int, lost: float, groups: dict[str, str]) -> tuple[Any, Any]:
    """Two records; users of the group ``b`` lose the first film with this probability."""
    rng = random.Random(f"{users} {lost}")
    before = {f"u{number}": rng.sample(FILMS, 10) for number in range(users)}
    after = {}
    for user, films in before.items():
        is_hit = groups.get(user) == "b" and rng.random() < lost
        after[user] = [*films[1:], "New"] if is_hit else films
    return (
        {"lists": {"shop": before}},
        {"lists": {"shop": after}, "groups": {"plan": groups}},
    )


def statuses(old: Any, new: Any, *rules: ListsRule, alpha: float = 0.05) -> list[Any]:
    claims = claims_of(old, new, "shop", "shop", rules, alpha)
    return [(claim["of"], claim["status"]) for claim in claims]


def test_a_group_may_lose_what_all_users_keep() -> None:
    groups = {f"u{n}": "b" if n % 10 == 0 else "a" for n in range(1000)}
    old, new = records(1000, 1.0, groups)
    assert statuses(old, new, ListsRule(0.9), ListsRule(0.9, "plan")) == [
        ("all users", "holds"),
        ("plan=a", "holds"),
        ("plan=b", "violated"),
    ]
    assert statuses(old, new, ListsRule(0.9, "plan=a")) == [("plan=a", "holds")]
    # A run that was not divided so shows nothing of the groups.
    assert statuses(old, new, ListsRule(0.9, "age")) == [("age", "inconclusive")]


def test_few_users_show_neither() -> None:
    groups = {f"u{n}": "b" for n in range(15)}
    old, new = records(15, 0.2, groups)
    assert statuses(old, new, ListsRule(0.95)) == [("all users", "inconclusive")]
    claims = claims_of(old, new, "shop", "shop", [ListsRule(0.95)], 0.05)
    counts: Any = {"varies": False, "claims": claims}
    (reason,) = unshown(counts)
    assert reason.startswith(
        "it is not shown that lists agree: the lists of all users agree"
    )
    assert "which shows neither at least 0.95, as demanded, nor less" in reason


@pytest.mark.parametrize(
    ("lost", "least", "end"),
    [
        (0.0, 0.9, "with those of the baseline: at least 0.9, as demanded"),
        (1.0, 0.99, "with those of the baseline: less than 0.99, which is demanded"),
    ],
)
def test_the_sentence_says_what_is_demanded(
    lost: float, least: float, end: str
) -> None:
    old, new = records(400, lost, {f"u{n}": "b" for n in range(400)})
    (claim,) = claims_of(old, new, "shop", "shop", [ListsRule(least)], 0.05)
    assert claim_in_words(claim).startswith("the lists of all users agree ")
    assert claim_in_words(claim).endswith(end)


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (
            "colour",
            "this run was not divided by 'colour': --recsys-slices=colour",
        ),
        (
            "colour=red",
            "this run was not divided by 'colour': --recsys-slices=colour",
        ),
        (
            "plan=c",
            "this run has no group 'plan=c'; it has plan=a, plan=b",
        ),
        ("plan=d", "of plan=d both records have no list"),
    ],
)
def test_a_group_that_is_not_there_is_said(group: str, reason: str) -> None:
    groups = {f"u{n}": "ab"[n % 2] for n in range(100)}
    old, new = records(100, 0.0, groups)
    if group == "plan=d":
        new["groups"]["plan"]["stranger"] = "d"
    policy = Policy(lists=(ListsRule(0.9, group),))
    gate = decided(policy, old, new)
    assert gate["status"] == "failed"
    assert f"lists not shown to be as demanded (shop: {UNCLEAR}" in gate["sentence"]
    assert reason in gate["sentence"]
    assert "other lists than the baseline" not in gate["sentence"]


def test_a_rule_that_fits_no_model_is_said() -> None:
    old, new = records(200, 0.0, {})
    rules = (ListsRule(0.9), ListsRule(0.9, model="nope*"))
    gate = decided(Policy(lists=rules), old, new)
    assert gate["status"] == "passed"
    assert gate["sentence"].endswith(
        "the rule of [[gate.lists]] for models 'nope*' fits none of this run (shop)",
    )


def decided(policy: Policy, old: Any, new: Any) -> Any:
    """The gate of a run whose one test holds as before."""
    row = {
        "nodeid": "t.py::test_x[shop]", "suite": "s", "model": "shop", "relation": "", "oracle": "o",
        "status": "holds", "outcome": "passed", "expected": "holds", "reason": "", "allowed": "at most",
        "per_user": {f"u{n}": 0.0 for n in range(200)}, "reach": [0, 1], "details": {}, "vacuous": "",
    }  # fmt: skip
    both = [
        {
            "models": ["shop"], "results": [row], "settings": {}, "digests": {}, "data_digest": "a", "seed": 0,
            "varying": [], **each,
        }
        for each in (old, new)
    ]  # fmt: skip
    gate = Gate(policy=policy, configured=True, baseline=("old.json", both[0]))  # type: ignore[arg-type]
    return gate.decide(both[1], [], {})  # type: ignore[arg-type]


def test_at_the_limit_a_release_passes_as_seldom_as_said() -> None:
    """Of 200 releases whose mean agreement is just below the demanded one, at most 5 %
    and what chance allows are passed.
    """
    old, new = records(20_000, 0.3, {f"u{n}": "b" for n in range(20_000)})
    (claim,) = claims_of(old, new, "shop", "shop", [ListsRule(0.5)], 0.05)
    truth = claim["agreement"]
    assert truth is not None
    held = 0
    users = list(old["lists"]["shop"])
    for start in range(0, 20_000, 100):
        part = users[start : start + 100]
        one, other = (
            {"lists": {"shop": {user: each["lists"]["shop"][user] for user in part}}}
            for each in (old, new)
        )
        found = statuses(one, other, ListsRule(truth + 1e-9))
        held += found == [("all users", "holds")]
    assert held <= 18


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agreement = 2", r"agreement is 2; it must be a number between 0 and 1"),
        ('group = "age"', r"agreement is None; it must be a number between 0 and 1"),
        ("agreement = 0.9\nmargin = 0.1", r"\[\[gate.lists\]\] has no 'margin'"),
    ],
)
def test_a_wrong_rule_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "recsys.toml"
    file.write_text(f"[[gate.lists]]\n{text}\n")
    with pytest.raises(PolicyError, match=message):
        load(file)


SHOP = """
import os
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        offered = sorted(item.id for item in request.candidates)
        if "STALE" in os.environ and int(request.user[1:]) % 2:
            offered.reverse()
        return Recommendation(tuple(offered[: request.k]))
"""
TEST = """
from pytest_recsys_mt.oracles import complete_list

def test_lists(recsys):
    assert complete_list(recsys.run())
"""


def test_the_gate_fails_for_a_group(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytester.makepyfile(shop=SHOP, test_lists=TEST)
    pytester.path.joinpath("recsys.toml").write_text(
        '[[gate.lists]]\nagreement = 0.9\ngroup = "activity"\n',
    )
    options = ["--recsys-model=shop.py:Shop", "--recsys-users=200"]
    options += ["--recsys-slices=activity", "-p", "no:cacheprovider"]
    first = pytester.runpytest_subprocess(
        *options, "--recsys-json=old.json", "--recsys-keep=baseline"
    )
    assert first.ret == 0
    monkeypatch.setenv("STALE", "1")
    second = pytester.runpytest_subprocess(
        *options,
        "--recsys-baseline=old.json",
        "--recsys-mode=refresh",
    )
    printed = " ".join(second.stdout.str().split())
    assert second.ret == 1
    assert "other lists than the baseline" in printed
    assert "the lists of activity=" in printed
    assert "less than 0.9, which is demanded" in printed
