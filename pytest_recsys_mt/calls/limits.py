"""The limits of a run and its spending: one account for all its workers."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_recsys_mt.errors import CacheError
from pytest_recsys_mt.safety.files import require_own, written_whole
from pytest_recsys_mt.wording import typed


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend, on failed calls too; None stands for no limit.

    Unless `every_price`, what has no known price counts as free.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    every_price: bool = True

    def __bool__(self) -> bool:
        return self != Limits()


def lower(one: Limits, other: Limits) -> Limits:
    """Limits that hold what both hold."""
    calls, tokens, usd = (
        min((each for each in pair if each is not None), default=None)
        for pair in ((one.calls, other.calls), (one.tokens, other.tokens), (one.usd, other.usd))
    )
    priced = any(each.usd is not None and each.every_price for each in (one, other))
    return Limits(
        None if calls is None else int(calls),
        None if tokens is None else int(tokens),
        usd,
        priced or usd is None,
    )


class Budget:
    """What a run has spent of its limits.

    The account is a small file that all workers of a run share. The worker that holds the lock of
    the calls opens it, spends, and closes it. Answers from the cache cost nothing.

    Attributes:
        at_once: Most calls to an endpoint that are booked together; None for all that the limits leave room for.
    """

    at_once: int | None = None

    def __init__(self, limits: Limits, path: Path) -> None:
        self.limits = limits
        self._path = path
        self.calls = 0
        self.tokens: float = 0
        self.usd = 0.0
        self._untold = ""

    def open(self) -> None:
        """Read what the other workers have spent."""
        require_own(self._path)
        try:
            spent = json.loads(self._path.read_text(encoding="utf-8"))
            self.calls, self.tokens, self.usd = spent
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError) as error:
            raise CacheError(
                f"what this run has spent cannot be read from {str(self._path)!r}: {error}; start it "
                f"again, its answers are kept"
            ) from error

    def close(self) -> None:
        """Write the spending for the other workers; if this fails, this worker spends no more."""
        try:
            with written_whole(self._path) as stream:
                json.dump(self._written(), stream)
        except OSError as error:
            self._untold = (
                f"what this run has spent cannot be written to {str(self._path)!r}: "
                f"{error.strerror}; free some space, or name another folder with --recsys-cache"
            )

    def _written(self) -> object:
        """What the file of the account says."""
        return [self.calls, self.tokens, self.usd]

    def reserve(self, expected: Iterable[tuple[float, float]], model: str = "") -> None:
        """Write calls of a model as spent before they are sent: a process that dies with them paid for them."""
        spent = self.calls, self.tokens, self.usd
        for tokens, usd in expected:
            self.spend(tokens, usd, model=model)
        self.close()
        self.calls, self.tokens, self.usd = spent

    def spend(self, tokens: float, usd: float, calls: int = 1, model: str = "") -> None:
        """Add the cost of a call of a model, or of one more attempt at it (no `calls`)."""
        self.calls += calls
        self.tokens += tokens
        self.usd += usd

    @property
    def reached(self) -> str:
        """The limit that is reached, in the words of its option; empty if none is reached."""
        if self._untold:
            return self._untold
        for name in ("calls", "tokens", "usd"):
            limit = getattr(self.limits, name)
            if limit is not None and getattr(self, name) >= limit:
                return self._in_words(name, limit)
        return ""

    def _in_words(self, name: str, limit: float) -> str:
        return f"{typed(f'max-{name}')}={limit} is reached"

    def room(self, expected: Iterable[tuple[float, float]]) -> int:
        """How many of the next calls may be sent at once; at least 1 while no limit is reached.

        Calls are sent in batches whose calls together take at most what is left. So tokens and cost cannot run far
        beyond their limits before the next check. Each call is expected to take so many tokens and so many USD.
        """
        if self.reached:
            return 0
        limits, room = self.limits, 0
        tokens, usd = float(self.tokens), self.usd
        for more_tokens, more_usd in expected:
            tokens, usd = tokens + more_tokens, usd + more_usd
            too_many = limits.calls is not None and self.calls + room >= limits.calls
            too_long = limits.tokens is not None and tokens > limits.tokens
            too_dear = limits.usd is not None and usd > limits.usd
            if room and (too_many or too_long or too_dear):
                break
            room += 1
        return room


def account(cache: Path, run: str) -> Path:
    """The path of a run's account."""
    return cache / f"spent-{hashlib.sha256(run.encode()).hexdigest()[:16]}.json"
