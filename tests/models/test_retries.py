import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime

import aiohttp
import httpx2
import openai
import pytest
from aiohttp.http_exceptions import BadStatusLine
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from tests.models.test_pacing import Clock
from tests.support.llm_api import (
    ATTEMPTS,
    Pace,
    PassingError,
    UnavailableError,
    persist,
    retry_after,
    setback,
)

NOW = 1_800_000_000.0
REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1")


def failure(
    status: int,
    code: str | None = None,
    **headers: str,
) -> openai.APIStatusError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx2.Response(status, headers=named, request=REQUEST)
    return openai.APIStatusError("no", response=response, body={"code": code})


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        (
            {
                "retry-after": format_datetime(
                    datetime.fromtimestamp(NOW + 90, UTC),
                    True,
                ),
            },
            90.0,
        ),
        (
            {
                "retry-after": format_datetime(
                    datetime.fromtimestamp(NOW - 90, UTC),
                    True,
                ),
            },
            0.0,
        ),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Fri, 99 Jan 2027 00:00:00 GMT"}, None),
    ],
)
def test_a_wait_is_read_from_seconds_and_dates(
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
def test_what_the_call_itself_did_wrong_is_not_repeated(status: int) -> None:
    assert setback(failure(status)) is None


@pytest.mark.parametrize(
    ("status", "shared"),
    [(408, False), (409, False), (429, True), (500, False), (503, True)],
)
def test_what_may_pass_is_repeated(status: int, shared: bool) -> None:
    found = setback(failure(status))
    assert found is not None
    assert found.shared is shared


def test_a_server_may_say_what_is_worth_repeating() -> None:
    assert setback(failure(503, x_should_retry="false")) is None
    assert setback(failure(400, x_should_retry="true")) is not None
    assert setback(failure(429, "insufficient_quota")) is None
    waits = setback(failure(500, retry_after="3"))
    assert waits is not None
    assert (waits.shared, waits.asked) == (True, 3.0)


def no_http() -> aiohttp.ClientResponseError:
    asked = aiohttp.RequestInfo(
        URL("http://127.0.0.1/v1"),
        "POST",
        CIMultiDictProxy(CIMultiDict()),
    )
    error = aiohttp.ClientResponseError(asked, (), status=400, message="Bad")
    error.__cause__ = BadStatusLine("hello")
    return error


@pytest.mark.parametrize("passing", [PassingError("overloaded"), no_http()])
def test_failures_without_a_status_of_failure_are_repeated(passing: Exception) -> None:
    _, call = attempts(passing, "done")
    assert call() == "done"


def broken(cause: Exception) -> httpx2.TransportError:
    error = httpx2.ReadError("broken")
    error.__cause__ = cause
    return error


def test_a_body_that_breaks_off_is_no_silence() -> None:
    within = setback(broken(aiohttp.ClientPayloadError("Not enough data")))
    before = setback(broken(aiohttp.ServerDisconnectedError()))
    assert within is not None
    assert before is not None
    assert (within.answered, before.answered) == (True, False)


def test_silence_of_the_endpoint_is_counted_for_all_calls() -> None:
    clock, call = attempts(TimeoutError(), max_wait=3.0)
    with pytest.raises(UnavailableError):
        call()
    assert clock.now < 5.0


def attempts(
    *outcomes: Exception | str,
    max_wait: float = 120.0,
    ceiling: int = 4,
) -> tuple[Clock, Callable[[], str]]:
    """Run one call whose attempts end so; the last outcome repeats."""
    clock, left = Clock(), list(outcomes)
    pace = Pace(ceiling, max_wait, clock=clock, sleep=clock.sleep, draw=lambda: 0.0)

    async def attempt() -> str:
        clock.now += 1.0
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return clock, lambda: asyncio.run(persist(attempt, pace, str))


def test_failures_of_a_call_are_waited_out_with_growing_waits() -> None:
    clock, call = attempts(failure(500), failure(408), failure(409), "done")
    assert call() == "done"
    assert [nap for nap in clock.naps if nap] == [0.25, 0.5, 1.0]


def test_a_call_has_so_many_attempts() -> None:
    clock, call = attempts(failure(500))
    with pytest.raises(openai.APIStatusError):
        call()
    assert clock.now == pytest.approx(ATTEMPTS + 0.25 + 0.5 + 1 + 2)


def test_a_storm_of_refusals_is_waited_out() -> None:
    clock, call = attempts(*[failure(429)] * 8, "done")
    assert call() == "done"
    assert len(clock.naps) >= 8


def test_a_storm_without_end_is_given_up() -> None:
    clock, call = attempts(failure(429))
    with pytest.raises(UnavailableError):
        call()
    assert 60 < clock.now <= 121


def test_a_wait_within_reason_is_obeyed() -> None:
    clock, call = attempts(failure(429, retry_after="100"), "done")
    assert call() == "done"
    assert clock.now == 102.0


def test_a_wait_out_of_reason_is_not_waited_for() -> None:
    clock, call = attempts(failure(429, retry_after="1e9"), "done")
    assert call() == "done"
    assert clock.now == pytest.approx(2.25)
    clock, call = attempts(failure(429, retry_after="3600"))
    with pytest.raises(UnavailableError) as raised:
        call()
    assert raised.value.asked == 3600.0
    assert clock.now < 10.0


def test_no_patience_means_one_attempt() -> None:
    clock, call = attempts(failure(503), max_wait=0)
    with pytest.raises(openai.APIStatusError):
        call()
    assert clock.now == 1.0
