"""Counts the progress of a run: its phase, since when, and how far its calls are."""

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.safety.sanitize import one_line

LONGEST_NAME = 40
"""Characters of a phase that are shown; the end of a name
distinguishes it, so its middle is left out.
"""

WINDOW = 30.0
"""Seconds that count: an endpoint may become slower or faster."""

LEAST = 50
"""So many answers count, even if they took longer:
fewer say little about the next ones.
"""


class Rate:
    """The rate of the answers to one batch of calls."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # When the answers that count arrived, behind the time from which they are
        # counted.
        self._times = deque([clock()])

    def add(self) -> None:
        """Count an answer that arrives now."""
        now = self._clock()
        self._times.append(now)
        while len(self._times) - 1 > LEAST and self._times[1] < now - WINDOW:
            self._times.popleft()

    @property
    def per_second(self) -> float:
        """Answers per second; 0 before the first."""
        answers = len(self._times) - 1
        seconds = self._clock() - self._times[0]
        return answers / seconds if seconds > 0 else 0.0


@dataclass
class Phase:
    """A step of a run that takes time: a test, a training, the loading of data.

    Attributes:
        name: Its description, in a line.
        began: When it began, in seconds of the clock.
        detail: How far it is, in its own words; empty where calls show it.
        wanted: Calls that are sent in it.
        answered: Those that have an answer.
    """

    name: str
    began: float
    detail: str = ""
    wanted: int = 0
    answered: int = 0


@dataclass(frozen=True)
class Standing:
    """How far one process is, as plain data, so that a worker can post it.

    Attributes:
        name: That of its phase.
        detail: How far the phase is, in its own words.
        seconds: How long the phase has taken.
        wanted: Calls that are sent in the phase.
        answered: Those that have an answer.
        left: Seconds that the other calls will take; None if unknown.
        rate: Answers per second.
        more: Further facts, the most important first.
    """

    name: str
    detail: str
    seconds: float
    wanted: int = 0
    answered: int = 0
    left: float | None = None
    rate: float = 0.0
    more: Sequence[str] = field(default=())


class _Bound(NamedTuple):
    """An upper bound and its kind in a word; of several, the smallest is shown."""

    limit: float
    why: str


_UNBOUNDED = _Bound(math.inf, "")


class Progress:
    """Counts the calls of a process and holds its current phases."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._phases: list[Phase] = []
        self._rate = Rate(clock)
        self._model = ""
        self._calls = 0
        self._cached = 0
        self._failed = 0
        self._tokens = 0
        self._usd: float | None = 0.0
        self._calls_bound = _UNBOUNDED
        self._usd_bound = _UNBOUNDED

    @contextlib.contextmanager
    def doing(self, name: str) -> Iterator[None]:
        """Within it, the process is in this phase, which may be part of another one."""
        self._phases.append(Phase(one_line(name), self._clock()))
        try:
            yield
        finally:
            self._phases.pop()

    def report(self, detail: str) -> None:
        """Report how far the current phase is, in words: ``epoch 3 of 20``."""
        if self._phases:
            self._phases[-1].detail = one_line(detail)

    def at_most(self, calls: float | None, usd: float | None, why: str) -> None:
        """Show how much of an upper bound is used, ``planned`` or ``allowed``; of
        several, of the smallest.
        """
        most_calls = math.inf if calls is None else calls
        most_usd = math.inf if usd is None else usd
        self._calls_bound = min(self._calls_bound, _Bound(most_calls, why))
        self._usd_bound = min(self._usd_bound, _Bound(most_usd, why))

    def spent(self, calls: int, usd: float) -> None:
        """Set the amounts that the run has spent so far, in all its processes."""
        self._calls = calls
        self._usd = usd

    @contextlib.contextmanager
    def batch(self, model: str, calls: int) -> Iterator[None]:
        """Count `calls` calls to a recommender, which are
        sent inside, in the current phase.
        """
        with contextlib.nullcontext() if self._phases else self.doing(""):
            self._rate = Rate(self._clock)
            self._model = one_line(model)
            self.more(calls)
            yield

    def more(self, calls: int) -> None:
        """Count calls that join the batch being sent."""
        self._phases[-1].wanted += calls

    def found(self) -> None:
        """Count an answer from the cache."""
        self._cached += 1

    def add(self, answer: Mapping[str, Any], usd: float | None) -> None:
        """Count an answer that has arrived."""
        self._rate.add()
        self._phases[-1].answered += 1
        self._calls += 1
        if "error" in answer:
            self._failed += 1
        usage = answer.get("usage") or ()
        self._tokens += sum(usage[:2])
        if self._usd is not None:
            # The cost of a run is unknown as soon as that of one call is.
            self._usd = None if usd is None else self._usd + usd

    @property
    def standing(self) -> Standing | None:
        """How far this process is; None if it does nothing that is known."""
        try:
            phase = self._phases[-1]  # another thread may end it at any time
        except IndexError:
            return None
        waiting = phase.wanted - phase.answered
        rate = self._rate.per_second if waiting else 0.0
        return Standing(
            name=phase.name,
            detail=phase.detail,
            seconds=self._clock() - phase.began,
            wanted=phase.wanted,
            answered=phase.answered,
            left=waiting / rate if rate else None,
            rate=rate,
            more=self._figures(),
        )

    def _figures(self) -> list[str]:
        """Further facts on the calls, the most important first."""
        figures = [self._spent_of_bound(), self._model]
        if self._cached:
            figures.append(f"{self._cached} cached")
        if self._failed:
            figures.append(f"{self._failed} failed")
        if self._tokens:
            figures.append(f"{self._tokens} tokens")
        return _without_empty(figures)

    def _spent_of_bound(self) -> str:
        """The cost, or without any the calls, and how much they
        may be; empty if neither says anything.
        """
        is_usd_bound = 0 < self._usd_bound.limit < math.inf
        if self._usd is not None and (self._usd or is_usd_bound):
            spent = f"spent {dollars(self._usd)}"
            if self._usd_bound.limit == math.inf:
                return spent
            return f"{spent} of at most {dollars(self._usd_bound.limit)} {self._usd_bound.why}"
        if self._calls_bound.limit == math.inf:
            return ""
        return f"{self._calls} of at most {self._calls_bound.limit:g} calls {self._calls_bound.why}"


def line(standings: Sequence[Standing]) -> str:
    """How far the processes are, as one line, the most
    important first: a narrow terminal cuts the end.
    """
    if not standings:
        return ""
    elapsed = _minutes(max(standing.seconds for standing in standings))
    workers = f"{len(standings)} workers" if len(standings) > 1 else ""
    names = _names(standings)
    sending = [standing for standing in standings if standing.wanted]
    if not sending:
        return ", ".join(_without_empty([workers, *names, elapsed]))
    answered = sum(standing.answered for standing in sending)
    wanted = sum(standing.wanted for standing in sending)
    figures = max((standing.more for standing in sending), key=len)
    parts = [
        workers,
        f"{answered} of {wanted} answers",
        elapsed,
        _time_left(sending),
        *names,
        _rate(sending),
        *figures,
    ]
    return ", ".join(_without_empty(parts))


def _names(standings: Sequence[Standing]) -> list[str]:
    """The names of the phases, each once; that of a single process with how far it is."""
    if len(standings) == 1:
        standing = standings[0]
        return [" ".join(_without_empty([_shortened(standing.name), standing.detail]))]
    names = [_shortened(standing.name) for standing in standings]
    return list(dict.fromkeys(names))


def _time_left(sending: Sequence[Standing]) -> str:
    """As long as the slowest process will take; empty if unknown."""
    known = [standing.left for standing in sending if standing.left is not None]
    if not known:
        return ""
    return f"about {_minutes(max(known))} left"


def _rate(sending: Sequence[Standing]) -> str:
    rate = sum(standing.rate for standing in sending)
    return f"{rate:.1f}/s" if rate else ""


def _without_empty(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text]


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes:02}:{rest:02}"
