"""The limits of a run, and what it has spent: one account for all its workers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_recsys_mt.errors import CacheError
from pytest_recsys_mt.files import require_own, written_whole


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend; None is no limit.

    Attributes:
        calls: Calls put, failed ones among them.
        tokens: Of prompts and answers.
        usd: Their cost.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def __bool__(self) -> bool:
        return self != Limits()


class Budget:
    """What a run has spent of its limits.

    The account is a small file that all workers of a run share; whoever holds the lock of the calls
    opens it, spends, and closes it. Answers from the cache cost nothing.

    Args:
        limits: Of the run.
        path: Of the account; the run's own.
    """

    def __init__(self, limits: Limits, path: Path) -> None:
        self.limits = limits
        self._path = path
        self.calls = 0
        self.tokens = 0
        self.usd = 0.0
        self._untold = ""

    def open(self) -> None:
        """Read what the other workers have spent.

        Raises:
            CacheError: If it cannot be read, or is not ours.
        """
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
        """Tell the other workers what was spent; where that cannot be written, no more is spent here."""
        try:
            with written_whole(self._path) as stream:
                json.dump([self.calls, self.tokens, self.usd], stream)
        except OSError as error:
            self._untold = (
                f"what this run has spent cannot be written to {str(self._path)!r}: "
                f"{error.strerror}; free some space, or name another folder with --recsys-cache"
            )

    def spend(self, tokens: int, usd: float, calls: int = 1) -> None:
        """Enter what a call took, or one more attempt at it (no `calls`)."""
        self.calls += calls
        self.tokens += tokens
        self.usd += usd

    @property
    def reached(self) -> str:
        """The limit that is reached, as the option says it; empty if there is none."""
        if self._untold:
            return self._untold
        limits = self.limits
        for name, spent, limit in (
            ("calls", self.calls, limits.calls),
            ("tokens", self.tokens, limits.tokens),
            ("usd", self.usd, limits.usd),
        ):
            if limit is not None and spent >= limit:
                return f"--recsys-max-{name}={limit} is reached"
        return ""

    def room(self, expected: Iterable[tuple[float, float]]) -> int:
        """How many of the next calls may be put at once; at least 1 while no limit is reached.

        Calls are put in batches, so that tokens and cost do not run far beyond their limits before
        anyone looks: all calls of a batch together take no more than what is left.

        Args:
            expected: Of each call in turn, the tokens and the USD that it may take.
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
    """Where the account of a run is kept."""
    return cache / f"spent-{hashlib.sha256(run.encode()).hexdigest()[:16]}.json"
