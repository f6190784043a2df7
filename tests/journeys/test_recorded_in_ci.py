"""Answers are recorded, committed and replayed where nothing can be asked."""

import pytest

from tests.journeys.pages import Journey


@pytest.mark.slow
def test_recorded_in_ci(journey: Journey) -> None:
    journey.follow("recorded-in-ci")
    record = journey.record("../ci/recsys.json")
    assert record["calls"]["made"] == 0
    assert record["seed"] == 1
    assert {row["status"] for row in record["results"]} == {"holds"}
    lines = (journey.folder / "answers.jsonl").read_text().splitlines()
    own = record["calls"]["cached"] + record["calls"]["controls"]
    assert len(lines) == 277 + own + 20  # asked again, of either run
