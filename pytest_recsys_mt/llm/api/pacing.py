"""How many calls an endpoint gets at a time, and when calls pause."""

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_recsys_mt.requests.specs import Rule

FIRST, MOST = 8, 64
"""Calls in flight at the start, and the most that are tried if the spec sets none."""

MOST_GIVEN = 4096
"""The most calls in flight that a spec may set."""

MAX_WAIT = 120.0
"""Seconds to wait for an unavailable endpoint, if neither run nor spec says."""

_SLOWER = 2.0  # more calls at a time are tried while answers take at most this multiple of the shortest time

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds; the pause doubles from the first to the
longest while an endpoint keeps refusing.
"""

_STRANGER = 5.0
"""Seconds to wait for an endpoint that never answered: the address is probably wrong."""

_BELIEVED = 8
"""Number of calls in a row that are asked to wait longer than `Pace.max_wait`, or break
off while that is 0, before this counts for all calls: a single one may be an error of
one of many servers behind an address.
"""


def pace_rules(
    concurrency: int | None,
    timeout: float,
    max_wait: float | None,
) -> tuple[Rule, ...]:
    """The rules for the arguments of a model that is paced; see `specs.check`."""
    calls, wait = 1 if concurrency is None else concurrency, max_wait or 0
    return (
        ("concurrency", concurrency, 1 <= calls <= MOST_GIVEN, f"in 1..{MOST_GIVEN}"),
        ("timeout", timeout, 0 < timeout < math.inf, "a number of seconds above 0"),
        ("max_wait", max_wait, 0 <= wait < math.inf, "a number of seconds from 0"),
    )


class UnavailableError(Exception):
    """An endpoint is not worth waiting for: its last error, and
    the seconds that it asked for, if too many.
    """

    def __init__(self, reason: str, asked: float | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.asked = asked


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One attempt in flight: its start, and the number of refusals handled before."""

    began: float
    refusals: int


class Pace:
    """Additive increase, multiplicative decrease, for the calls of one model at one
    endpoint.

    The limit doubles with every limit-many answers up to the first refusal. Later it
    grows by one, and only while answers do not take longer than with fewer calls (Chiu
    and Jain 1989, "Analysis of the increase and decrease algorithms for congestion
    avoidance"; Jacobson 1988 for the start). A refusal halves it and pauses all calls.
    Refusals of calls that were in flight by then are the same event and only affect the
    pause. An endpoint that is silent for too long is given up, and all its calls fail
    at once; after a pause, a call may still try again.

    A pace belongs to one event loop. Without a `ceiling` it starts with `FIRST` calls
    and tries up to `MOST`. `draw` returns a number in [0, 1), so that many clients do
    not return together. `limit` calls may be in flight now; `alive` says whether the
    endpoint has ever answered, even by a refusal.
    """

    def __init__(
        self,
        ceiling: int | None,
        max_wait: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.limit = FIRST if ceiling is None else ceiling
        self.alive = False
        self.max_wait = max_wait
        self.clock = clock
        self.sleep = sleep
        self.draw = draw
        self.ceiling = MOST if ceiling is None else ceiling
        self._flying: set[Turn] = set()
        self._queue: deque[asyncio.Future[None]] = deque()
        self._open_at = float("-inf")
        self._refusals = 0
        self._in_a_row = 0
        self._answered_at = float("-inf")
        self._began: float | None = None
        self._failing_since: float | None = None
        self._unanswered = 0
        self._silent_at = float("-inf")
        self._given_up = 0
        self._overlong: list[float] = []
        self._refused_at = float("-inf")
        self._reason = ""
        self._asked: float | None = None
        self._steep = True
        self._times: list[float] = []
        self._shortest = float("inf")

    async def enter(self) -> Turn:
        """Wait for a place among the calls in flight; end every turn by `leave`.

        Raises:
            UnavailableError: If the endpoint asks for too long a wait, or was
                unreachable for too long.
        """
        while True:
            left = self._open_at - self.clock()
            if left > 0:
                if self._is_hopeless(left):
                    self._wake(len(self._queue))
                    asked = self._asked if left > self.max_wait else None
                    raise UnavailableError(self._reason, asked)
                await self.sleep(left)
            elif len(self._flying) < self.limit:
                turn = Turn(self.clock(), self._refusals)
                self._began = turn.began if self._began is None else self._began
                self._flying.add(turn)
                return turn
            else:
                place = asyncio.get_running_loop().create_future()
                self._queue.append(place)
                await place

    def leave(self, turn: Turn) -> None:
        """End a turn with any result."""
        self._flying.remove(turn)
        self._wake(self.limit - len(self._flying))

    def time_limit(self, timeout: float) -> float:
        """Seconds that an attempt which begins now may take: no more
        than the patience with a silent endpoint.
        """
        since = self._failing_since
        if since is None and not self.alive:
            since = self._began
        left = 0.0 if since is None else since + self.max_wait - self.clock()
        return min(timeout, left) if left > 0 else timeout

    def seen(self) -> None:
        """Record that the endpoint works, with any result of the call."""
        self.alive = True
        self._answered_at = self.clock()
        self._in_a_row = self._unanswered = self._given_up = 0
        self._overlong.clear()
        self._failing_since = None

    def unanswered(self, turn: Turn, reason: str, *, hangs: bool) -> bool:
        """Record an attempt without an answer; returns whether the endpoint is given
        up.

        If other calls were answered meanwhile, the failure is the call's own. Otherwise
        the endpoint is silent, and is given up if that lasts too long. One that `hangs`
        accepted the call, as one that is still loading a model does. Where no time has
        to pass, the calls that were in flight at the first failure have to end without
        an answer too, and connections that break have to be many in a row.
        """
        if self._answered_at > turn.began:
            return False
        now = self.clock()
        since = (
            turn.began
            if self._failing_since is None
            else min(self._failing_since, turn.began)
        )
        self._failing_since = since
        self._unanswered += 1
        if self._unanswered == 1:
            self._silent_at = now
        patience = self.max_wait if hangs else self._patience
        # A single call may hang because of its content.
        proven = self._unanswered > 1 or (patience > 0 and not self.alive)
        if patience == 0:
            proven = self._unanswered >= (
                2 if hangs else _BELIEVED
            ) and not self._awaits(
                turn,
            )
        if now - since < patience or not proven:
            return False
        self.limit, self._refused_at = 1, now
        pause = max(_LONGEST_PAUSE, self.max_wait) * 2.0**self._given_up
        self._given_up += 1
        self._open_at, self._reason, self._asked = now + pause, reason, None
        self._wake(len(self._queue))
        return True

    def overlong(self, asked: float | None, *, first: bool) -> bool:
        """Whether a requested wait is too long, and does not yet count for all calls.

        It counts for all once many calls in a row were asked for it at their `first`
        failure, and no older call is in flight.
        """
        if asked is None or asked <= self.max_wait:
            return False
        if first or not self._overlong:
            self._overlong.append(self.clock())
        oldest = min(turn.began for turn in self._flying)
        return len(self._overlong) < _BELIEVED or oldest <= self._overlong[0]

    def answered(self, turn: Turn) -> None:
        """Record an answer and its duration."""
        self.seen()
        if turn.refusals != self._refusals:
            return
        self._times.append(self.clock() - turn.began)
        if len(self._times) < self.limit:
            return
        usual = sum(self._times) / len(self._times)
        self._times.clear()
        self._shortest = min(self._shortest, usual)
        if usual <= _SLOWER * self._shortest:
            more = self.limit if self._steep else 1
            self.limit = min(self.ceiling, self.limit + more)

    def slow_down(self, turn: Turn) -> None:
        """Halve the limit, once for all the calls that were in flight together."""
        if turn.refusals == self._refusals:
            self._refusals += 1
            self._steep = False
            self._times.clear()
            self.limit = max(1, self.limit // 2)

    def refused(self, turn: Turn, reason: str, asked: float | None) -> None:
        """Pause the calls to the endpoint, for `asked`
        seconds or as long as the pace chooses.
        """
        now = self.clock()
        is_new = turn.refusals == self._refusals
        self.slow_down(turn)
        self._refused_at = now
        if self._failing_since is None:
            self._failing_since = max(turn.began, self._answered_at)
        if asked is not None:
            pause = asked + min(1.0, asked / 10) * self.draw()
        elif is_new:
            pause = (
                min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**self._in_a_row)
                * (1 + self.draw())
                / 2
            )
        else:
            return
        self._in_a_row += is_new
        if now + pause > self._open_at:
            self._open_at, self._reason, self._asked = now + pause, reason, asked

    def _awaits(self, turn: Turn) -> bool:
        """Whether a call but this one, in flight since before the
        endpoint fell silent, may be answered yet.
        """
        return any(
            each.began < self._silent_at for each in self._flying if each is not turn
        )

    @property
    def _patience(self) -> float:
        return self.max_wait if self.alive else min(self.max_wait, _STRANGER)

    def _is_hopeless(self, left: float) -> bool:
        if left > self.max_wait:
            return True
        since = self._failing_since
        return since is not None and self._refused_at - since + left > self._patience

    def _wake(self, places: int) -> None:
        while places > 0 and self._queue:
            place = self._queue.popleft()
            if not place.done():
                place.set_result(None)
                places -= 1
