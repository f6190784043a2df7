"""An endpoint that hangs: it is given up for all calls at
once, and what it had answered is kept.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.hostile.server import Ask, HostileServer, good, response
from tests.journeys.pages import Journey

ANSWERED = 40


@pytest.mark.slow  # engine/test_timeout shows each step alone
def test_hanging_endpoint(journey: Journey) -> None:
    def hang(ask: Ask) -> Iterator[Any]:
        if ask.number >= ANSWERED:
            ask.wait()
        yield response(good(ask))

    with HostileServer({"hangs after a while": hang}) as server:
        journey.environment["OPENAI_BASE_URL"] = server.url
        journey.meanwhile["echo $?"] = lambda: setattr(server, "share", 0.0)
        journey.follow("when-something-breaks#hanging-endpoint")
    hung, answered = journey.record("hung.json"), journey.record("answered.json")

    (row,) = hung["results"]
    assert row["status"] == "error"
    assert hung["gate"]["status"] == "failed"
    assert (hung["calls"]["made"], hung["calls"]["failed"]) == (ANSWERED, 40)
    assert (answered["calls"]["cached"], answered["calls"]["made"]) == (ANSWERED, 40)
    # 40 calls of 4 at a time would hang in 10 rounds, and each of them 5 times.
    again = answered["calls"]["again"]
    assert server.asked < ANSWERED + 20 + answered["calls"]["made"] + again
