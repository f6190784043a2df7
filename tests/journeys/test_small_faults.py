"""Small faults around a sound model: each is red by its own test, then fixed or
declared, and brought back.
"""

from typing import Any

import pytest

from tests.extras import need
from tests.journeys.pages import Journey, rows_of


@pytest.mark.slow
def test_small_faults(journey: Journey) -> None:
    need("pytest_rerunfailures")
    journey.follow("small-faults")
    first, again, second, replayed, third = (
        journey.record(f"{name}.json")
        for name in ("first", "again", "second", "replayed", "third")
    )

    red = {row["relation"] for row in rows_of(first, outcome="failed")}
    assert red == {
        "scale_ratings(0.5)", "truncate_history(50)", "spell_titles('plain')", "spell_titles('decomposed')",
        "replace_namesakes('namesakes')",
    }  # fmt: skip
    (tried_again,) = rows_of(again, outcome="failed")
    assert tried_again["attempts"] == 2

    assert not rows_of(second, outcome="failed")
    (declared,) = rows_of(second, relation="truncate_history(50)")
    assert (declared["oracle"], declared["status"]) == ("never_differs", "holds")
    assert replayed["calls"]["made"] == 0

    def verdicts(record: dict[str, Any]) -> list[tuple[str, ...]]:
        return sorted(
            (row["nodeid"], row["status"], row["reason"]) for row in record["results"]
        )

    assert verdicts(replayed) == verdicts(second)
    (back,) = rows_of(third, outcome="failed")
    assert back["relation"] == "scale_ratings(0.5)"
