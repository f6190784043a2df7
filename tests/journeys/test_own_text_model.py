"""A text model of one's own: from `complete(prompts)` to a
verdict, and what a fingerprint keeps.
"""

import sys
from pathlib import Path

from tests.journeys.environments import ROOT
from tests.journeys.pages import Journey


def test_own_text_model(tmp_path: Path) -> None:
    # With the programs of this environment: what the core alone can do is seen by the
    # longer stories.
    journey = Journey(tmp_path, lambda needs: Path(sys.executable).parent)
    journey.environment["PYTHONPATH"] = str(ROOT)
    journey.follow("text-models#own-text-model")
    first, again, changed = (
        journey.record(f"{name}.json") for name in ("first", "again", "changed")
    )
    assert [record["results"][0]["status"] for record in (first, again, changed)] == [
        "holds", "holds", "violated",
    ]  # fmt: skip
    assert (again["calls"]["made"], again["calls"]["cached"]) == (
        0,
        first["calls"]["made"],
    )
    assert changed["calls"]["cached"] == 0
