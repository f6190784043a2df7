"""A paid run is stopped twice and resumed: the bill is what
the records say, and no answer is paid twice.
"""

import os
import signal
import subprocess
import time

import pytest

from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import Journey

IN_FLIGHT = 4
ANSWERED = 60
A_DAY = 150
INTERRUPTED = "pytest --recsys-max-usd=20 --recsys-json=interrupted.json"


@pytest.mark.slow
def test_spending_limit(journey: Journey, endpoint: Endpoint) -> None:
    journey.environment["OPENAI_API_KEY"] = KEY
    bills: dict[str, float] = {}
    limited = "pytest --recsys-max-usd=0.8 --recsys-json=stopped.json"

    def billed() -> None:
        bills["stopped"] = endpoint.billed
        endpoint.answer_only(ANSWERED)

    def press_ctrl_c(run: subprocess.Popen[str]) -> None:
        while run.poll() is None and endpoint.waiting < IN_FLIGHT:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)

    journey.during[INTERRUPTED] = press_ctrl_c
    journey.meanwhile = {limited: billed, INTERRUPTED: endpoint.release}
    try:
        journey.follow("spending-limit")
    finally:
        endpoint.release()
    records = [
        journey.record(f"{name}.json")
        for name in ("stopped", "interrupted", "resumed", "replayed")
    ]
    stopped, interrupted, resumed, replayed = (record["calls"] for record in records)
    assert 0.79 < stopped["usd"] < 0.82
    assert stopped["usd"] == pytest.approx(bills["stopped"]), "what the provider bills"
    assert {row["status"] for row in records[0]["results"]} == {"holds", "inconclusive"}
    assert interrupted["cached"] == stopped["made"]
    assert interrupted["attempts"] == ANSWERED + IN_FLIGHT
    assert (interrupted["usd"], interrupted["unknown_cost"]) == (None, IN_FLIGHT)
    assert resumed["cached"] == stopped["made"] + interrupted["made"]
    assert resumed["made"] > 0
    assert replayed["cached"] == resumed["cached"] + resumed["made"]
    assert {row["status"] for row in records[3]["results"]} == {"holds"}
    morning, evening = (
        journey.record(f"{name}.json")["calls"] for name in ("morning", "evening")
    )
    assert 0 < morning["attempts"] <= A_DAY
    assert evening["attempts"] == 0
    requests = sum(
        each["attempts"] for each in (stopped, interrupted, resumed, morning)
    )
    assert requests == endpoint.asked, "answered or not, each request is in a record"
    paid = stopped["usd"] + interrupted["usd_at_most"] + resumed["usd"] + morning["usd"]
    assert endpoint.billed <= paid < endpoint.billed + 0.05
    assert (replayed["usd"], replayed["attempts"]) == (0, 0)
    for calls in (stopped, interrupted, resumed, replayed):
        for column in (
            "made",
            "cached",
            "failed",
            "attempts",
            "retries",
            "prompt_tokens",
        ):
            assert calls[column] == sum(row[column] for row in calls["by"])
    suites = {(row["suite"], row["purpose"]) for row in resumed["by"]}
    assert ("lists", "source") in suites
    assert ("taste", "source") not in suites, (
        "the source is asked once, for the first suite"
    )
