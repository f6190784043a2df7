"""Pinned lists: what a file says that the lists of named users must have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import pinned
from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Context
from tests.laws import over
from tests.oracles.support import FakeAnswers, FakeNamed, ask
from tests.support.oracles_pins import read, rendered, rewritten, updated

ITEMS = {name: Item(name, f"Film {name.upper()}", 2000) for name in "abcdefgh"}


def judged(
    folder: Path,
    text: str,
    lists: Mapping[str, Sequence[Sequence[str]]],
    **context: object,
) -> Verdict:
    """The verdict on a file of this text, of users with these answers, one a replicate."""
    file = folder / "pinned.toml"
    file.write_text(text)
    facts = Context(items=ITEMS, named=FakeNamed(*lists, k=3), deterministic=True)
    asked = [replace(each, request=each.request.replace(user=user))
             for user, each in zip(lists, ask(list(lists.values()), 3), strict=True) if user != "lost0"]  # fmt: skip
    errors = {"429": 1} if "lost0" in text else {}
    return pinned(FakeAnswers(asked, replace(facts, **context), errors=errors), file)  # type: ignore[arg-type]


BROKEN = {
    "contains = ['a', 'h']": "user 'u1' lacks Film H (2000) ('h')",
    "excludes = ['b', 'h']": "user 'u1' has Film B (2000) ('b'), which is excluded",
    "begins = ['b', 'a']": "has Film A (2000) ('a') at place 1, not Film B (2000) ('b')",
    "begins = ['a', 'h']": "user 'u1' lacks Film H (2000) ('h')",
    "equals = ['a', 'b', 'd']": (
        "user 'u1' lacks Film D (2000) ('d'), has Film C (2000) ('c'), which is not pinned"
    ),
    "equals = ['a', 'c', 'b']": "user 'u1' has Film B (2000) ('b') at place 2, not Film C (2000) ('c')",
}


@over("pin", BROKEN)
def test_a_broken_pin_says_what_is_missing_or_too_much(pin: str) -> None:
    with TemporaryDirectory() as folder:  # `over` has no fixtures
        kept = judged(Path(folder), "[users.u1]\ncontains = ['c']\n", {"u1": ["abc"]})
        verdict = judged(Path(folder), f"[users.u1]\n{pin}\n", {"u1": ["abc"]})
    assert (kept.status, kept.p_value) == ("holds", 1.0)
    assert (verdict.status, verdict.p_value, verdict.estimate) == ("violated", 0.0, 1.0)
    assert BROKEN[pin] in verdict.reason


def test_three_users_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    text = "".join(f"[users.u{n}]\ncontains = ['h']\n" for n in range(5))
    verdict = judged(tmp_path, text, {f"u{n}": ["abc"] for n in range(5)})
    assert verdict.reason.startswith("5 of 5 pinned lists are broken: user 'u0' lacks")
    assert verdict.reason.endswith("user 'u2' lacks Film H (2000) ('h'); and 2 more")
    assert verdict.details["pinned"]["broken"].keys() == {f"u{n}" for n in range(5)}


def test_everything_wrong_with_a_file_is_one_error(tmp_path: Path) -> None:
    text = """
        [user.u1]
        [users.u1]
        contain = ['a']
        [users.u2]
        contains = ['a', 'b', 'c', 'd']
        [users.u3]
        contains = ['a']
        excludes = ['a', 'z']
        [users.u44]
        begins = ['a']
        k = 0
        [users.u5]
        equals = ['a', 'b']
        [users.v6]
        begins = ['a']
        [users.u7]
        excludes = ['a', 'a']
        """
    lists = {f"u{n}": ["abc"] for n in range(1, 8)}
    with pytest.raises(OracleError) as caught:
        judged(tmp_path, text, lists)
    told = str(caught.value)
    for part in (
        "has 10 mistakes:",
        "no table 'user'; write one [users.ID] for each user; did you mean 'users'?",
        "no key 'contain'; choose from begins, contains, equals, excludes, k, candidates, strict; did you mean 'contains'?",
        "users.u1: it pins nothing; give it one of begins, contains, equals, excludes",
        "users.u2: 4 items must be in a list of k = 3; raise k",
        "users.u3: item 'a' must be in the list and is excluded",
        "users.u3: excludes: there is no item 'z'; the data have 8, such as 'a', 'b', 'c'",
        "users.u44: k must be a whole number from 1, got 0",
        "users.u5: equals names 2 items, and lists have 3; name 3, say k = 2, or use begins",
        "users.v6: there is no such user",
        "users.u7: excludes names 'a' twice",
    ):
        assert part in told


def noisy(kept: int, of: int) -> list[str]:
    return ["abc"] * kept + ["bcd"] * (of - kept)


@over(
    "case",
    [
        # answers that keep it, of so many, strict, status
        (2, 2, "false", "holds"),
        (1, 2, "false", "inconclusive"),
        (1, 2, "true", "violated"),
        (0, 2, "false", "inconclusive"),  # two answers show no majority
        (0, 8, "false", "violated"),
        (1, 8, "false", "violated"),
        (2, 8, "false", "inconclusive"),
        (7, 8, "false", "holds"),
        (6, 8, "false", "inconclusive"),
        (7, 8, "true", "violated"),
    ],
)
def test_noise_breaks_a_pin_if_most_answers_do_or_if_it_is_strict(
    case: tuple[int, int, str, str],
) -> None:
    kept, of, strict, status = case
    text = f"[users.u1]\ncontains = ['a']\nstrict = {strict}\n"
    with TemporaryDirectory() as folder:
        verdict = judged(
            Path(folder),
            text,
            {"u1": noisy(kept, of)},
            deterministic=False,
        )
    assert verdict.status == status
    if status != "holds":
        assert f"(kept in {kept} of {of} answers)" in verdict.reason


def test_more_noisy_users_need_more_answers_for_the_same_claim(tmp_path: Path) -> None:
    text = "".join(f"[users.u{n}]\ncontains = ['a']\n" for n in range(10))
    lists = {f"u{n}": noisy(0 if n == 3 else 5, 5) for n in range(10)}
    verdict = judged(tmp_path, text, lists, deterministic=False)
    assert verdict.status == "inconclusive", (
        "1 / 32 is below 0.05, but ten users are looked at"
    )
    assert "--recsys-replicates=10" in verdict.reason
    lists |= {"u3": noisy(0, 8)}
    assert judged(tmp_path, text, lists, deterministic=False).status == "violated"
    unsure = judged(
        tmp_path,
        text,
        lists,
        deterministic=False,
        unsure=lambda: "a cache",
    )
    assert (unsure.status, "a cache" in unsure.reason) == ("inconclusive", True)


def test_users_without_a_list_are_never_silent(tmp_path: Path) -> None:
    text = "[users.u1]\ncontains = ['a']\n[users.u2]\nexcludes = ['h']\n"
    lost = f"{text}[users.lost0]\nexcludes = ['h']\n"
    lists = {"u1": ["abc"], "u2": ["abc"], "lost0": []}
    failed = judged(tmp_path, lost, lists)
    assert failed.status == "error"
    assert "1 of 3 users have no list (user 'lost0': 429)" in failed.reason
    assert judged(tmp_path, lost, lists, error_limit=0.5).status == "inconclusive"
    broken = judged(tmp_path, lost, lists | {"u1": ["bcd"]})
    assert broken.status == "violated", "a broken list stays one, whoever else failed"
    assert (broken.account["failed"], broken.account["drawn"]) == (1, 3)
    empty = judged(tmp_path, text, lists | {"u2": [""]}, error_limit=0.5)
    assert empty.status == "inconclusive", "a list without items excludes nothing"
    short = judged(tmp_path, text, lists | {"u2": ["ab"]})
    assert short.status == "holds"
    assert "1 of 2 users got too few items ('u2' got 2 of 3)" in short.reason


OWN = """\
# ours

[users."u 1"]  # a loyal one
equals = [
    "a",  # Film A
    "b",
]
excludes = ["h"]  # sold out

[users.u2]
begins = ["c", "d"] # opens so
k = 4
"""


def test_lists_are_written_anew_and_all_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "pinned.toml"
    file.write_text(OWN)
    pins, wrong = read(file)
    assert not wrong
    answered = {
        user: (Request(user, (), Scale(), None, k), [Recommendation(tuple(now))])
        for user, k, now in (("u 1", 2, "bc"), ("u2", 4, "dcab"))
    }
    found = updated(pins, answered, {}, ITEMS)
    assert found.changes == {
        "u 1": "came: Film C (2000) ('c'); went: Film A (2000) ('a')",
        "u2": "the same items in another order",
    }
    made = rewritten(OWN, found.pins, ITEMS)
    assert made is not None
    assert made == OWN.replace(
        '    "a",  # Film A\n    "b",\n',
        '    "b",  # Film B (2000)\n    "c",  # Film C (2000)\n',
    ).replace(
        '["c", "d"] # opens so',
        '[\n    "d",  # Film D (2000)\n    "c",  # Film C (2000)\n]',
    )
    file.write_text(rendered(found.pins, ITEMS))
    assert read(file) == (found.pins, [])
    assert (
        rewritten(
            "users = {u2 = {begins = ['c', 'd']}}",
            {"u2": found.pins["u2"]},
            ITEMS,
        )
        is None
    )


def test_no_list_is_written_that_would_claim_too_much(tmp_path: Path) -> None:
    file = tmp_path / "pinned.toml"
    file.write_text("".join(f"[users.u{n}]\nequals = ['a', 'b']\n" for n in range(5)) +
                    "[users.u5]\nbegins = ['a', 'b']\nexcludes = ['h']\n")  # fmt: skip
    pins, _ = read(file)
    lists = {"u1": ["ab", "ba"], "u2": ["a"], "u3": ["aa"], "u4": ["ab"], "u5": ["ha"]}
    answered = {
        user: (
            Request(user, (), Scale(), None, 2),
            [Recommendation(tuple(answer)) for answer in answers],
        )
        for user, answers in lists.items()
    }
    found = updated(pins, answered, {"u0": "429"}, ITEMS)
    assert (found.pins, found.changes, found.of) == (pins, {}, 6)
    assert found.kept == {
        "u0": "429",
        "u1": "its 2 answers differ",
        "u2": "the list has 1 of 2 items",
        "u3": "the list names an item twice, or one that is not offered",
        "u5": (
            "the current list contradicts the entry: item 'h' must be in the list and is excluded; leave one of them out"
        ),
    }
