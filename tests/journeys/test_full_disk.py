"""A disk that is full: what was answered is judged, nothing
more is paid for, and a later run goes on.
"""

import sys

import pytest

from tests.journeys.pages import Journey


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are of POSIX")
@pytest.mark.slow  # durability/test_bad_disks shows each step alone
def test_full_disk(journey: Journey) -> None:
    journey.follow("when-something-breaks#full-disk")
    record = journey.record("full.json")
    assert record["calls"]["made"] == 60
    assert {row["status"] for row in record["results"]} == {"holds"}
    again = (journey.folder / "asked.txt").read_text().count("\n") - 60
    assert again > 0, "what was not on the disk is asked again"
    assert not (journey.folder / "report.html").exists()
