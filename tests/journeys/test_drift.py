"""A recommender that changes in the middle of a run: drift
is reported, no kept promise is blamed.
"""

import pytest

from tests.journeys.pages import Journey, rows_of, says

WORDS = "answers changed while we asked"
KEPT = (
    "shuffle_candidates", "extend_list(5)", "add_irrelevant_candidates(5)", "reorder_history",
    "duplicate_history", "rename_user", "scale_ratings(2)", "shift_ratings(1)",
)  # fmt: skip
COMMAND = (
    "pytest --pyargs pytest_recsys_mt.suites -k 'candidates or history or ratings' "
    "--recsys-model=shop.py:Shop --recsys-json=again.json"
)


def blamed(record: dict[str, object]) -> set[str]:
    """The relations that the shop keeps at any moment,
    and that are said to be violated.
    """
    return {row["relation"] for row in rows_of(record, status="violated")} & set(KEPT)


@pytest.mark.slow
def test_drift(journey: Journey) -> None:
    journey.follow("when-something-breaks#drift")
    drift, still = journey.record("drift.json"), journey.record("still.json")
    assert blamed(drift) == set()
    assert drift["gate"]["status"] == "failed"
    assert any(WORDS in reason for reason in drift["gate"]["reasons"])
    assert WORDS in drift["gate"]["sentence"]
    assert says(journey.printed[0], WORDS)
    assert (still["gate"]["status"], still["gate"]["reasons"]) == ("passed", [])
    assert {row["status"] for row in still["results"]} == {"holds", "not-applicable"}


@pytest.mark.slow
@pytest.mark.parametrize("moment", [50, 900])
@pytest.mark.parametrize("workers", ["", "-n 2"])
def test_no_moment_and_no_worker_blames_a_relation(
    journey: Journey,
    moment: int,
    workers: str,
) -> None:
    journey.make("when-something-breaks#drift", "shop.py")
    journey.enter(["pytest-xdist"])
    journey.run(f"sed -i 's/GOES_LIVE = 300/GOES_LIVE = {moment}/' shop.py")
    done = journey.run(f"{COMMAND} {workers}")
    assert done.returncode == 1, done.stdout
    assert blamed(journey.record("again.json")) == set()
    assert says(done.stdout, WORDS)
