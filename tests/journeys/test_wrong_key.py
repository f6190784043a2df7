"""A key that the provider refuses: one cause, no answer
kept, no key shown; the right one is enough.
"""

import pytest

from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import Journey


@pytest.mark.slow  # models/test_openai_faults refuses keys, and durability/test_secrets looks for them
def test_wrong_key(journey: Journey, endpoint: Endpoint) -> None:
    journey.follow("when-something-breaks#wrong-key")
    wrong, right = journey.record("wrong.json"), journey.record("right.json")
    assert (wrong["calls"]["made"], wrong["calls"]["usd"]) == (0, 0)
    assert [row["status"] for row in wrong["results"]] == ["error"]
    assert wrong["calls"]["failed"] == endpoint.asked - endpoint.answered, (
        "each is refused once"
    )
    assert right["calls"]["made"] > right["calls"]["failed"] == 0
    assert right["gate"]["status"] == "passed"
    shown = "".join(journey.printed).encode()
    kept = [path.read_bytes() for path in journey.folder.rglob("*") if path.is_file()]
    assert not any(KEY[:12].encode() in text for text in (shown, *kept))
