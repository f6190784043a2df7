"""Two prompts of one model: the one in use is a baseline, and a
shorter one is refused and shown beside it.
"""

import sys
from pathlib import Path

from tests.journeys.environments import ROOT
from tests.journeys.pages import Journey


def test_two_prompts(tmp_path: Path) -> None:
    # With the programs of this environment, as of a text model of one's own.
    journey = Journey(tmp_path, lambda needs: Path(sys.executable).parent)
    journey.environment["PYTHONPATH"] = str(ROOT)
    journey.follow("text-models#two-prompts")
