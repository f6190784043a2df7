"""The limits of a run, and what it has spent: one account for all its workers."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

from pytest_recsys_mt.errors import CacheError
from pytest_recsys_mt.files import written_whole
from pytest_recsys_mt.private import require_own


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

    def spend(self, tokens: int, usd: float) -> None:
        """Enter one call."""
        self.calls += 1
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

    def room(self, tokens: float, usd: float) -> int:
        """How many more calls may be put at once; at least 1 while no limit is reached.

        Calls are put in batches, so that tokens and cost do not run far beyond their limits before
        anyone looks; each batch is no larger than what is left allows.

        Args:
            tokens: That a call is expected to take.
            usd: That it is expected to cost.
        """
        if self.reached:
            return 0
        limits = self.limits
        room = [2**31]
        if limits.calls is not None:
            room.append(limits.calls - self.calls)
        if limits.tokens is not None and tokens > 0:
            room.append(max(1, math.floor((limits.tokens - self.tokens) / tokens)))
        if limits.usd is not None and usd > 0:
            room.append(max(1, math.floor((limits.usd - self.usd) / usd)))
        return min(room)


def account(cache: Path, run: str) -> Path:
    """Where the account of a run is kept."""
    return cache / f"spent-{hashlib.sha256(run.encode()).hexdigest()[:16]}.json"
