"""The limits of a run and its spending: one account for all its workers."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pytest_recsys_mt.safety.errors import CacheError
from pytest_recsys_mt.safety.files import require_own, written_whole
from pytest_recsys_mt.verdict.wording import typed


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run, on failed calls too; None stands for no limit.

    Attributes:
        calls: Most calls.
        tokens: Most tokens, of prompts and answers together.
        usd: Most USD.
        every_price: Whether all that is sent must have a known price; else what has
            none counts as free.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    every_price: bool = True

    def __bool__(self) -> bool:
        return self != Limits()


def lower(one: Limits, other: Limits) -> Limits:
    """The limits of both."""
    usd = _lower_limit(one.usd, other.usd)
    needs_prices = any(
        limits.usd is not None and limits.every_price for limits in (one, other)
    )
    return Limits(
        calls=_lower_limit(one.calls, other.calls),
        tokens=_lower_limit(one.tokens, other.tokens),
        usd=usd,
        every_price=needs_prices or usd is None,
    )


Number = TypeVar("Number", int, float)


def _lower_limit(one: Number | None, other: Number | None) -> Number | None:
    if one is None:
        return other
    if other is None:
        return one
    return min(one, other)


class Budget:
    """The amounts that a run has spent of its limits.

    The account is a small file that all workers of a run share. The worker that holds
    the lock of the calls opens it, spends, and closes it. Answers from the cache cost
    nothing.

    Args:
        limits: The limits of the run.
        path: Of the account; see `account`.

    Attributes:
        limits: The limits of the run.
        calls: Calls that were sent, also those that failed.
        tokens: Their tokens, as reported or expected; infinity if there is no upper
            bound.
        usd: Their cost, like their tokens.
        at_once: Most calls to an endpoint that are booked together; None for all that
            the limits leave room for.
    """

    at_once: int | None = None

    def __init__(self, limits: Limits, path: Path) -> None:
        self.limits = limits
        self._path = path
        self.calls = 0
        self.tokens: float = 0
        self.usd = 0.0
        self._write_error = ""

    def open(self) -> None:
        """Read the amounts that the other workers have spent."""
        require_own(self._path)
        try:
            self.calls, self.tokens, self.usd = json.loads(
                self._path.read_text(encoding="utf-8"),
            )
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError) as error:
            raise CacheError(
                f"what this run has spent cannot be read from {str(self._path)!r}: {error}; start it "
                f"again, its answers are kept",
            ) from error

    def close(self) -> None:
        """Write the spending for the other workers; if this
        fails, this worker spends no more.
        """
        try:
            with written_whole(self._path) as stream:
                json.dump(self._written(), stream)
        except OSError as error:
            self._write_error = (
                f"what this run has spent cannot be written to {str(self._path)!r}: "
                f"{error.strerror}; free some space, or name another folder with --recsys-cache"
            )

    def _written(self) -> object:
        """The contents of the file of the account."""
        return [self.calls, self.tokens, self.usd]

    def reserve(self, expected: Iterable[tuple[float, float]], model: str = "") -> None:
        """Write calls of a model as spent before they are sent: a process that dies
        with them paid for them.

        Args:
            expected: The tokens and the USD that each call may take.
            model: The name of the recommender that they are sent to.
        """
        spent_before = (self.calls, self.tokens, self.usd)
        for tokens, usd in expected:
            self.spend(tokens, usd, model=model)
        self.close()
        self.calls, self.tokens, self.usd = spent_before

    def spend(self, tokens: float, usd: float, calls: int = 1, model: str = "") -> None:
        """Add the cost of a call of a model, or of one more attempt at it (no `calls`)."""
        self.calls += calls
        self.tokens += tokens
        self.usd += usd

    @property
    def reached(self) -> str:
        """The limit that is reached, in the words of its
        option; empty if none is reached.
        """
        if self._write_error:
            return self._write_error
        for name in ("calls", "tokens", "usd"):
            limit = getattr(self.limits, name)
            spent = getattr(self, name)
            if limit is not None and spent >= limit:
                return self._in_words(name, limit)
        return ""

    def _in_words(self, name: str, limit: float) -> str:
        return f"{typed(f'max-{name}')}={limit} is reached"

    def room(self, expected: Iterable[tuple[float, float]]) -> int:
        """How many of the next calls may be sent at once; at least 1 while no limit is
        reached.

        Calls are sent in batches whose calls together take at most the rest. So
        tokens and cost cannot run far beyond their limits before the next check.

        Args:
            expected: The tokens and the USD that each call may take, in their order.
        """
        if self.reached:
            return 0
        room = 0
        tokens = float(self.tokens)
        usd = self.usd
        for call_tokens, call_usd in expected:
            tokens += call_tokens
            usd += call_usd
            # The first call is sent in any case: no limit is reached yet, and a batch
            # of none would not end.
            if room and self._exceeds(self.calls + room + 1, tokens, usd):
                break
            room += 1
        return room

    def _exceeds(self, calls: int, tokens: float, usd: float) -> bool:
        limits = self.limits
        if limits.calls is not None and calls > limits.calls:
            return True
        if limits.tokens is not None and tokens > limits.tokens:
            return True
        return limits.usd is not None and usd > limits.usd


def account(cache: Path, run: str) -> Path:
    """The path of a run's account."""
    digest = hashlib.sha256(run.encode()).hexdigest()[:16]
    return cache / f"spent-{digest}.json"
