"""Users whom a recommender refuses, or whose answer has no
score: no verdict leaves them out in silence.
"""

from typing import Any
from xml.etree import ElementTree

import pytest

from tests import accounts
from tests.journeys.pages import Journey, says

pytestmark = pytest.mark.slow

REFUSED = "10.5% of the users got a refusal, although the recommender answers others; the limit is 5.0%"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    """The commands of the page, run once for all tests of this module."""
    journey = Journey(tmp_path_factory.mktemp("users"))
    journey.follow("when-something-breaks#users-without-an-answer")
    return journey


def by_test(record: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of a record, by the end of the recommender's name and the oracle's."""
    accounts.add_up(record)
    return {
        (row["model"].rpartition(":")[2], row["oracle"].partition(":")[0]): row
        for row in record["results"]
    }


def counted(record: dict[str, Any]) -> dict[str, Any]:
    """What each row claims, of how much and of whom."""
    accounts.add_up(record)
    names = ("status", "estimate", "value", "interval", "p_value", "reason", "account")
    return {
        row["nodeid"]: [row.get(name) for name in names] for row in record["results"]
    }


def test_no_promise_holds_because_users_have_no_answer(story: Journey) -> None:
    """The refusing recommender gets no verdict, the score with gaps none that claims;
    the sound one keeps both.
    """
    rows = by_test(story.record("workers.json"))
    statuses = {test: row["status"] for test, row in rows.items()}
    assert statuses == {
        ("Shop", "same_ranking"): "holds",
        ("Shop", "at_least"): "holds",
        ("Careful", "same_ranking"): "error",
        ("Careful", "at_least"): "error",
        ("Vouchers", "same_ranking"): "holds",
        ("Vouchers", "at_least"): "inconclusive",
    }
    for oracle, refused in (("same_ranking", 13), ("at_least", 21)):
        row = rows["Careful", oracle]
        assert row["account"]["refused"] == row["errors"] == refused
        assert f"it knows five stars only ({refused}): {REFUSED}" in row["reason"]

    gaps = rows["Vouchers", "at_least"]
    assert {part: gaps["account"][part] for part in ("answered", "undefined", "left_out")} == {
        "answered": 117, "undefined": 57, "left_out": 26,
    }  # fmt: skip
    assert (
        "57 users of 200 got no number (the answer has no to_taste (57))"
        in gaps["reason"]
    )
    assert "26 users of 200 left out" in gaps["reason"]
    low, high = gaps["interval"]
    assert low < gaps["threshold"] < high, "the 57 users count at both ends"

    kept = rows["Shop", "at_least"]
    assert (kept["account"]["left_out"], kept["account"]["both_ends"]) == (26, 0)
    line = "users without a number: taste_is_met scale_ratings-2 of shop.py:Shop (26 left out of 200)"
    assert says(story.printed[0], f"{line}tried:"), (
        "no other verdict that holds lacks users"
    )


@pytest.mark.parametrize("run", ["one", "replayed", "reruns"])
def test_every_way_of_running_counts_the_same_users(story: Journey, run: str) -> None:
    """One process, a replay and tests that are tried again
    make the rows that two workers made.
    """
    first, again = story.record("workers.json"), story.record(f"{run}.json")
    assert counted(again) == counted(first)
    attempts = {row["attempts"] for row in again["results"] if row["status"] != "holds"}
    assert attempts == ({2} if run == "reruns" else {1})
    assert again["calls"]["made"] == (first["calls"]["made"] if run == "one" else 0)


def test_the_gate_refuses_a_release_that_refuses_users(story: Journey) -> None:
    """Against the sound recommender's record the gate
    fails, and says why in every place.
    """
    baseline, careful = story.record("shop.json"), story.record("careful.json")
    assert {row["status"] for row in baseline["results"]} == {"holds"}
    accounts.add_up(careful)
    for row in careful["results"]:
        assert (row["status"], row["account"]["refused"]) == ("error", 21)
    gate = careful["gate"]
    assert gate["status"] == "failed"
    (comparison,) = gate["comparisons"]
    assert (comparison["model"], comparison["against"]) == (
        "shop.py:Careful",
        "shop.py:Shop",
    )
    assert (comparison["refused"], comparison["counts"]) == ([], {"ungated": 2})
    assert all(REFUSED in each["reason"] for each in comparison["results"])
    assert any(says(text, gate["sentence"]) for text in story.printed)

    cases = {
        case.get("name"): case.find("failure")
        for case in ElementTree.parse(story.folder / "junit.xml").iter("testcase")
    }
    failures = {name: failure for name, failure in cases.items() if failure is not None}
    assert len(failures) == 3, "both tests and the gate"
    assert failures.pop("gate").get("message") == gate["sentence"]
    for failure in failures.values():
        assert f"it knows five stars only (21): {REFUSED}" in failure.get("message", "")
