"""Counts what a run does: in which phase it is, since when, and how far its calls are."""

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.safety.sanitize import one_line

LONGEST_NAME = 40
"""Characters of a phase that are shown; the end of a name tells it from others, so its middle is left out."""

WINDOW = 30.0
"""Seconds that count: an endpoint may become slower or faster."""

LEAST = 50
"""So many answers count, even if they took longer: fewer say little about the next ones."""


class Rate:
    """The rate of the answers to one batch of calls."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._times = deque([clock()])  # of the answers that count, behind the start of their time

    def add(self) -> None:
        """Count an answer that arrives now."""
        now = self._clock()
        self._times.append(now)
        while len(self._times) - 1 > LEAST and self._times[1] < now - WINDOW:
            self._times.popleft()

    @property
    def per_second(self) -> float:
        """Answers per second; 0 before the first."""
        seconds = self._clock() - self._times[0]
        return (len(self._times) - 1) / seconds if seconds > 0 else 0.0


@dataclass
class Phase:
    """Something that takes its time: a test, a training, the loading of data."""

    name: str
    began: float
    detail: str = ""  # how far it is, in its own words; empty where calls say it
    wanted: int = 0
    answered: int = 0


@dataclass(frozen=True)
class Standing:
    """How far one process is, as plain data, so that a worker can post it."""

    name: str
    detail: str
    seconds: float
    wanted: int = 0
    answered: int = 0
    left: float | None = None  # seconds that the other calls will take; None if unknown
    rate: float = 0.0
    more: Sequence[str] = field(default=())  # what else is known, the most important first


class Progress:
    """Counts the calls of a process and knows what it is doing."""

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
        self._most_calls: tuple[float, str] = (math.inf, "")
        self._most_usd: tuple[float, str] = (math.inf, "")

    @contextlib.contextmanager
    def doing(self, name: str) -> Iterator[None]:
        """A phase: what is done inside. It may be part of another one."""
        self._phases.append(Phase(one_line(name), self._clock()))
        try:
            yield
        finally:
            self._phases.pop()

    def tell(self, detail: str) -> None:
        """Say how far the current phase is, in words: ``epoch 3 of 20``."""
        if self._phases:
            self._phases[-1].detail = one_line(detail)

    def at_most(self, calls: float | None, usd: float | None, why: str) -> None:
        """Show how much of an upper bound is used, ``planned`` or ``allowed``; of several, of the smallest."""
        self._most_calls = min(self._most_calls, (math.inf if calls is None else calls, why))
        self._most_usd = min(self._most_usd, (math.inf if usd is None else usd, why))

    def spent(self, calls: int, usd: float) -> None:
        """Set what the run has spent so far, in all its processes."""
        self._calls, self._usd = calls, usd

    @contextlib.contextmanager
    def batch(self, model: str, calls: int) -> Iterator[None]:
        """Count `calls` calls to a recommender, which are sent inside, in the current phase."""
        with contextlib.nullcontext() if self._phases else self.doing(""):
            self._rate, self._model = Rate(self._clock), one_line(model)
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
        self._failed += "error" in answer
        self._tokens += sum((answer.get("usage") or ())[:2])
        self._usd = None if usd is None or self._usd is None else self._usd + usd

    @property
    def standing(self) -> Standing | None:
        """How far this process is; None if it does nothing that is known."""
        try:
            phase = self._phases[-1]  # another thread may end it at any time
        except IndexError:
            return None
        waiting = phase.wanted - phase.answered
        rate = self._rate.per_second if waiting else 0.0
        more = [
            self._of_the_most,
            self._model,
            f"{self._cached} cached" if self._cached else "",
            f"{self._failed} failed" if self._failed else "",
            f"{self._tokens} tokens" if self._tokens else "",
        ]
        return Standing(
            phase.name,
            phase.detail,
            self._clock() - phase.began,
            phase.wanted,
            phase.answered,
            waiting / rate if rate else None,
            rate,
            [*filter(None, more)],
        )

    @property
    def _of_the_most(self) -> str:
        (usd, why), (calls, told) = self._most_usd, self._most_calls
        if self._usd is not None and (self._usd or 0 < usd < math.inf):
            spent = f"spent {dollars(self._usd)}"
            return spent if usd == math.inf else f"{spent} of at most {dollars(usd)} {why}"
        if calls == math.inf:
            return ""
        return f"{self._calls} of at most {calls:g} calls {told}"


def line(standings: Sequence[Standing]) -> str:
    """How far the processes are, as one line, the most important first: a narrow terminal cuts the end."""
    if not standings:
        return ""
    asking = [each for each in standings if each.wanted]
    if len(standings) == 1:
        (one,) = standings
        count, names = "", [" ".join(filter(None, (_shortened(one.name), one.detail)))]
    else:
        count, names = f"{len(standings)} workers", [_shortened(each.name) for each in standings]
    elapsed = _minutes(max(each.seconds for each in standings))
    if not asking:
        return ", ".join(filter(None, [count, *dict.fromkeys(names), elapsed]))
    answered, wanted = (sum(each.answered for each in asking), sum(each.wanted for each in asking))
    left = [each.left for each in asking if each.left is not None]
    rate = sum(each.rate for each in asking)
    parts = [
        count,
        f"{answered} of {wanted} answers",
        elapsed,
        f"about {_minutes(max(left))} left" if left else "",
        *dict.fromkeys(names),
        f"{rate:.1f}/s" if rate else "",
        *max((each.more for each in asking), key=len),
    ]
    return ", ".join(filter(None, parts))


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
