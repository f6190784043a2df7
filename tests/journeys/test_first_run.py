"""A first run: one broken promise, its evidence, its command, and the fix."""

import pytest

from tests.journeys.pages import Journey, rows_of


@pytest.mark.slow
def test_first_run(journey: Journey) -> None:
    journey.follow("first-run")
    before, after = journey.record("recsys.json"), journey.record("fixed.json")

    broken, *still, unforgotten, unread, older, oldest, alike = rows_of(
        before,
        status="violated",
    )
    assert [row["oracle"] for row in still] == ["few_unchanged"] * 3
    assert (broken["relation"], unread["relation"]) == (
        "swap_history",
        "invert_ratings",
    )
    assert (unforgotten["relation"], alike["metric"]) == ("forget_item", "oic@5")
    for row in (broken, unforgotten, unread):
        assert all(
            example["source"] == example["followup"] for example in row["examples"]
        )
    assert {older["relation"], oldest["relation"]} == {
        "truncate_history(20)",
        "truncate_history(50)",
    }
    constant = [broken, *still, unread, older, oldest]
    assert before["gate"]["violated"] == [row["nodeid"] for row in constant]
    assert "7 violated (swap_history, 2 times; " in before["gate"]["sentence"]
    assert broken["reproduce"] in journey.printed[0]
    assert {row["vacuous"] for row in rows_of(before, suite="metamorphic", status="holds")} == {
        "", "history", "ratings", "titles", "user",
    }  # fmt: skip
    unclear = rows_of(before, status="inconclusive")
    assert {row.get("metric") for row in unclear} == {"hit@5", "ndcg@5", "mrr@5"}

    assert {row["status"] for row in after["results"]} == {"holds", "not-applicable"}
    assert (after["gate"]["status"], after["gate"]["reasons"]) == ("passed", [])
    reasons = {row["reason"] for row in rows_of(after, status="not-applicable")}
    assert all(reasons), "what is skipped says why"


@pytest.mark.slow  # plugin/test_reproduce runs such commands in a shell
def test_the_command_of_a_failure_shows_that_failure(journey: Journey) -> None:
    """What a record says how to reproduce, a shell in the same folder does."""
    journey.make("first-run", "shop.py")
    journey.run(
        "pytest --pyargs pytest_recsys_mt.suites -k 'another_history or mrr' "
        "--recsys-model=shop.py:Shop --recsys-json=recsys.json --recsys-seed=0 --recsys-users=200",
    )
    rows = rows_of(journey.record("recsys.json"))
    assert {row["status"] for row in rows} == {"violated", "inconclusive"}
    for row in rows:
        again = journey.run(f"{row['reproduce']} --recsys-json=again.json")
        assert again.returncode == 1, again.stdout
        (same,) = rows_of(journey.record("again.json"))
        told = ("model", "oracle", "status")
        assert [same[name] for name in told] == [row[name] for name in told]
        # A violation is asked on until it stands among all tests of the run, which are
        # more than this.
        shared = same["per_user"].keys() & row["per_user"].keys()
        assert shared
        assert all(same["per_user"][user] == row["per_user"][user] for user in shared)
