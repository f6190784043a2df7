"""A model of another API: a limit, a run that goes on, a replay without the key, and a
gate that refuses a model.
"""

import re

from tests.journeys.pages import Journey
from tests.models.dialects import KEYS, provider


def test_another_api(journey: Journey) -> None:
    key = "ANTHROPIC_API_KEY"
    with provider() as (asked, address):
        journey.environment |= {"ANTHROPIC_API_BASE": address, key: KEYS[key]}
        journey.follow("text-models#another-api")
        said = " ".join(" ".join(journey.printed).split())
        counts = re.findall(r"(\d+) (?:made,|asked again|more, sent)", said)
        assert asked.answered == sum(map(int, counts)) > 480, (
            "each answer is in one bill"
        )
    kept = [path for path in journey.folder.parent.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if KEYS[key].encode() in path.read_bytes()]
