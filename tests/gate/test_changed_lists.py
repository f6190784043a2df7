"""A comparison says which lists differ, although every promise holds as before."""

from typing import Any

from pytest_recsys_mt.gate.changed_lists import changed_lists, in_words

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
    assert said(old, new).endswith("the recommender varies, so lists change without a cause too")


def test_records_that_hold_fewer_places_are_compared_as_far_as_they_go() -> None:
    assert "the first 3 places" in said(record({"a": FILMS[:3]}), record({"a": FILMS}))
    assert "are as they were" in said(record({"a": FILMS[:3]}), record({"a": FILMS}))


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert said(record({}), record({"a": FILMS})) == ""
    assert said({"results": []}, record({"a": FILMS})) == ""
