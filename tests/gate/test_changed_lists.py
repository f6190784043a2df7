"""A comparison says which lists differ, although every promise holds as before."""

from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.support.gate import Gate, Policy, changed_lists, in_words, load

FILMS = ["Heat", "Babe", "Ran", "Brazil", "Fargo"]


def record(lists: dict[str, list[str]], floor: float = 1.0) -> Any:
    return {"lists": {"shop": lists}, "results": [{"model": "shop", "floor": floor}]}


def said(old: Any, new: Any) -> str:
    return in_words(changed_lists(old, new, "shop", "shop"))


def test_the_lists_that_differ_are_counted() -> None:
    old = record({"a": FILMS, "b": FILMS, "gone": FILMS})
    new = record({"a": FILMS, "b": [*FILMS[:3], "Alien", "Jaws"], "new": FILMS})
    assert said(old, new) == (
        "lists: the first 5 places of the unchanged requests' lists differ for 1 of 2 users; they share 80% of "
        "their titles"
    )


def test_equal_lists_are_said_to_be_equal() -> None:
    same = record({"a": FILMS, "b": []})
    assert said(same, same).endswith("are as they were for all 2 users")


def test_a_recommender_that_varies_is_no_proof_of_a_change() -> None:
    old, new = record({"a": FILMS}), record({"a": FILMS[::-1]}, floor=0.9)
    assert said(old, new).endswith(
        "the recommender varies, so lists change without a cause too",
    )


def test_records_that_hold_fewer_places_are_compared_as_far_as_they_go() -> None:
    assert "the first 3 places" in said(record({"a": FILMS[:3]}), record({"a": FILMS}))
    assert "are as they were" in said(record({"a": FILMS[:3]}), record({"a": FILMS}))


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert said(record({}), record({"a": FILMS})) == ""
    assert said({"results": []}, record({"a": FILMS})) == ""


def decided(
    changed: int,
    users: int,
    *,
    floor: float = 1.0,
    inconclusive: str = "fail",
) -> str:
    """The sentence of a gate that allows a share of 0.05."""
    row: dict[str, Any] = {
        "nodeid": "t.py::test_x[shop]", "suite": "s", "model": "shop", "relation": "r", "oracle": "o",
        "status": "holds", "outcome": "passed", "expected": "holds", "reason": "", "allowed": "at most",
        "per_user": {}, "reach": None, "floor": floor, "vacuous": "", "details": {}, "slices": [],
    }  # fmt: skip
    lists = {f"u{number}": FILMS for number in range(users)}
    other = {
        user: FILMS[::-1] if n < changed else FILMS for n, user in enumerate(lists)
    }
    old: Any = {
        "results": [row],
        "models": ["shop"],
        "settings": {},
        "lists": {"shop": lists},
    }
    new: Any = {**old, "lists": {"shop": other}}
    gate = Gate(Policy(changed_lists=0.05), True, 0.05, inconclusive, ("old.json", old))
    found = gate._other_lists(
        [
            {
                "model": "shop", "against": "shop", "baseline": "old.json", "refused": [], "counts": {},
                "bounds": "", "results": [], "lists": changed_lists(old, new, "shop", "shop"),
            },
        ],
    )  # fmt: skip
    return "; ".join(reason.name for reason in found)


def test_a_policy_fails_the_gate_if_too_many_lists_differ_or_that_is_not_excluded() -> (
    None
):
    assert decided(0, 200) == ""
    assert decided(40, 200) == "shop: 40 of 200 differ, and 0.05 of all may"
    assert decided(8, 200).startswith("shop: it is not shown that few differ: 8 of 200")
    assert decided(8, 200, inconclusive="skip") == ""
    assert decided(40, 200, inconclusive="skip").startswith("shop: 40 of 200")
    assert "served_as_trained" in decided(40, 200, floor=0.9)


def test_the_share_of_a_policy_is_one(tmp_path: Path) -> None:
    file = tmp_path / "recsys.toml"
    file.write_text("[gate]\nchanged_lists = 5\n")
    with pytest.raises(
        PolicyError,
        match="changed_lists is 5; it must be a share between 0 and 1",
    ):
        load(file)
    file.write_text("[gate]\nchanged_lists = 0.05\n")
    assert load(file).changed_lists == 0.05
