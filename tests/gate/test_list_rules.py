"""Rules of a policy on how far lists agree with those of the baseline."""

import random
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.support.gate import ListsRule, claims_of, load, unshown

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
        "it is not shown that lists agree: those of all users agree"
    )


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
    assert "those of activity=" in printed
    assert "less than the policy demands" in printed
