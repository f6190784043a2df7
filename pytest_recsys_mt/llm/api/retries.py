"""Which failed attempts are repeated, and when."""

import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from pytest_recsys_mt.llm.api.pacing import Pace, UnavailableError

T = TypeVar("T")

ATTEMPTS = 5
"""The most attempts of a call whose failures are its own, not those of the endpoint."""

_FIRST_WAIT = 0.5  # seconds before the second of them; doubled for each further one


@dataclass(frozen=True, slots=True)
class Setback:
    """A failure that may be temporary."""

    shared: bool  # whether the endpoint failed, not this call: busy, starting, gone
    overload: bool = False  # whether fewer calls at a time may help
    asked: float | None = None  # seconds that the server asked to wait
    answered: bool = True  # whether a server answered at all, in HTTP
    hangs: bool = False  # whether the server accepted the call and did not answer

    @property
    def refused(self) -> bool:
        """Whether a server answered that it takes no call now."""
        return self.shared and self.answered


@dataclass(slots=True)
class Earlier:
    """The attempts at a call that failed before the one that was answered.

    Attributes:
        failed: Their number.
        refused: Those of them that the endpoint refused: it was busy (429), not ready
            (502, 503), or asked to wait.
    """

    failed: int = 0
    refused: int = 0

    def add(self, found: Setback) -> None:
        """Count one more."""
        self.failed += 1
        self.refused += found.refused


class PassingError(ValueError):
    """An answer that reports a failure with a success status; the text says which."""


def setback(error: BaseException) -> Setback | None:
    """The kind of a failed attempt; None if another attempt would fail too, as after a
    refused certificate, a used-up quota and most statuses.
    """
    import aiohttp
    import httpx2
    import openai

    if isinstance(error, PassingError):
        return Setback(shared=False)
    if is_unreachable(error):
        return Setback(shared=True, answered=False)
    if isinstance(error, TimeoutError):
        return Setback(shared=False, overload=True, answered=False, hangs=True)
    if isinstance(error, (httpx2.TransportError, aiohttp.ClientError)):
        if is_caused_by(error, ssl.SSLCertVerificationError):
            return None
        # A body that breaks off came after a status, so the endpoint is not silent.
        return Setback(
            shared=False,
            answered=is_caused_by(error, aiohttp.ClientPayloadError),
        )
    if not isinstance(error, (openai.APIStatusError, httpx2.HTTPStatusError)):
        return None
    status, headers = error.response.status_code, error.response.headers
    said = headers.get("x-should-retry")
    if said == "false" or getattr(error, "code", None) == "insufficient_quota":
        return None
    if said != "true" and status not in (408, 409, 429) and status < 500:
        return None
    asked = retry_after(headers, time.time())
    return Setback(
        shared=asked is not None or status in (429, 502, 503),
        overload=status in (429, 503, 504),
        asked=asked,
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a response asks to wait, or None if it gives none in a known form.

    It is ``retry-after-ms``, or ``retry-after`` in seconds or as a date (RFC 9110,
    10.2.3), `now` in Unix time.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(
            0.0,
            parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now,
        )
    except (ValueError, OverflowError):
        return None


def is_unreachable(error: BaseException) -> bool:
    """Whether the connection failed for another reason than an untrusted certificate."""
    import aiohttp

    lost = is_caused_by(
        error,
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
    )
    return lost and not is_caused_by(error, ssl.SSLCertVerificationError)


def chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and its causes, outermost first."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def is_caused_by(error: BaseException, *kinds: type[BaseException]) -> bool:
    """Whether an exception or one of its causes is of one of these kinds."""
    return any(isinstance(cause, kinds) for cause in chain(error))


async def persist(
    attempt: Callable[[], Awaitable[T]],
    pace: Pace,
    describe: Callable[[Exception], str],
    earlier: Earlier | None = None,
) -> T:
    """Attempt until it succeeds or a further attempt is useless.

    After its first failure, a call is tried for `pace.max_wait` seconds. It may have
    `ATTEMPTS` failures of its own; `pace` counts those of the endpoint, including
    silence, for all calls together. `earlier` counts each that may be followed by
    another one.

    Raises:
        UnavailableError: If the endpoint asks for too long a wait, or was unreachable
            for too long.
        Exception: The exception of the last attempt.
    """
    deadline: float | None = None
    failures = 0
    while True:
        wait = 0.0
        turn = await pace.enter()
        try:
            answer = await attempt()
        except Exception as error:
            found = setback(error)
            if found is None:
                pace.seen()
                raise
            if earlier is not None:
                earlier.add(found)
            now = pace.clock()
            deadline = now + pace.max_wait if deadline is None else deadline
            overlong = pace.overlong(found.asked, first=failures == 0)
            if found.shared and not overlong:
                pace.alive = pace.alive or found.answered
                pace.refused(turn, describe(error), found.asked)
            else:
                if found.overload:
                    pace.slow_down(turn)
                if found.answered:
                    if not overlong:
                        pace.seen()
                elif pace.unanswered(turn, describe(error), hangs=found.hangs):
                    raise UnavailableError(describe(error), None) from error
                failures += 1
                wait = _FIRST_WAIT * 2.0 ** (failures - 1) * (1 + pace.draw()) / 2
            if failures == ATTEMPTS or now + wait >= deadline:
                if overlong:
                    raise UnavailableError(describe(error), found.asked) from error
                raise
        else:
            pace.answered(turn)
            return answer
        finally:
            pace.leave(turn)
        await pace.sleep(wait)
