"""What all runs on one folder of answers spend on a day (UTC): an account by model and command, with limits of its own."""

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_recsys_mt.calls.limits import Budget, Limits, lower
from pytest_recsys_mt.errors import CacheError
from pytest_recsys_mt.safety.files import require_own
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.wording import typed

AT_ONCE = 50
"""Calls to an endpoint that are booked and sent together: a process that dies leaves as many booked at most."""

_NAME = re.compile(r"day-(\d{4}-\d{2}-\d{2})\.json")


class Spent(NamedTuple):
    """What one model took in runs of one command on one day, with failed calls."""

    model: str
    command: str
    calls: int
    tokens: float
    usd: float  # of calls whose price is known


class DayAccount(Budget):
    """What has been spent since 00:00 UTC, by all runs that share a folder of answers.

    The file of a day lies in that folder and stays. A process that dies has booked the calls of its last batch as
    planned, up to `AT_ONCE`. Only runs that have a limit a day keep the account, so set one in the ini file of the project.

    Args:
        limits: Of one day.
        folder: Of the answers.
        command: How this run is called, in a line.
        now: Gives Unix seconds.
    """

    def __init__(
        self, limits: Limits, folder: Path, command: str, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(limits, folder)
        self._folder = folder
        self._command = command
        self._now = now
        self._rows: dict[tuple[str, str], list[float]] = {}

    def open(self) -> None:
        """Read what was spent today."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self._now()))
        self._path = self._folder / f"day-{day}.json"
        rows = _read(self._path)
        self._rows = {(each.model, each.command): [*each[2:]] for each in rows}
        self.calls = sum(each.calls for each in rows)
        self.tokens, self.usd = (
            math.fsum(each.tokens for each in rows),
            math.fsum(each.usd for each in rows),
        )

    def spend(self, tokens: float, usd: float, calls: int = 1, model: str = "") -> None:
        """Add the cost of a call, or of one more attempt at it (no `calls`)."""
        super().spend(tokens, usd, calls, model)
        row = self._rows.setdefault((model, self._command), [0, 0, 0.0])
        row[:] = [row[0] + calls, row[1] + tokens, row[2] + usd]

    def reserve(self, expected: Iterable[tuple[float, float]], model: str = "") -> None:
        """Write calls as spent before they are sent."""
        before = {who: [*row] for who, row in self._rows.items()}
        super().reserve(expected, model)
        self._rows = before

    def left(self) -> Limits:
        """What may still be spent today."""
        limits = self.limits
        return Limits(
            None if limits.calls is None else max(0, limits.calls - self.calls),
            None if limits.tokens is None else max(0, int(limits.tokens - self.tokens)),
            None if limits.usd is None else max(0.0, limits.usd - self.usd),
            limits.every_price,
        )

    def _written(self) -> object:
        return [[*who, *map(_finite, row)] for who, row in sorted(self._rows.items())]

    def _in_words(self, name: str, limit: float) -> str:
        return (
            f"{typed(f'{name}-a-day')}={limit} is reached: {self.calls:,} calls, {self.tokens:,.0f} tokens and "
            f"${self.usd:.2f} since 00:00 UTC, in all runs on {str(self._folder)!r}; recsys-mt cache spent lists them"
        )


class Accounts:
    """Several budgets that hold at once: that of the run and that of the day."""

    at_once = AT_ONCE

    def __init__(self, *budgets: Budget) -> None:
        self._budgets = budgets

    @property
    def limits(self) -> Limits:
        """The lower of each."""
        found = Limits()
        for budget in self._budgets:
            found = lower(found, budget.limits)
        return found

    @property
    def calls(self) -> int:
        """The calls of this run."""
        return self._budgets[0].calls

    @property
    def usd(self) -> float:
        """The cost of this run."""
        return self._budgets[0].usd

    def open(self) -> None:
        """See `Budget`."""
        for budget in self._budgets:
            budget.open()

    def close(self) -> None:
        """See `Budget`."""
        for budget in self._budgets:
            budget.close()

    def reserve(self, expected: Iterable[tuple[float, float]], model: str = "") -> None:
        """See `Budget`."""
        known = list(expected)
        for budget in self._budgets:
            budget.reserve(known, model)

    def spend(self, tokens: float, usd: float, calls: int = 1, model: str = "") -> None:
        """See `Budget`."""
        for budget in self._budgets:
            budget.spend(tokens, usd, calls, model)

    @property
    def reached(self) -> str:
        """The first limit that is reached, in words; empty if none is."""
        return next(filter(None, (budget.reached for budget in self._budgets)), "")

    def room(self, expected: Iterable[tuple[float, float]]) -> int:
        """See `Budget`; the least of all."""
        known = list(expected)
        return min(budget.room(known) for budget in self._budgets)


def days(folder: Path) -> Iterator[tuple[str, list[Spent]]]:
    """The accounts in a folder of answers, by day, the earliest first.

    Raises:
        CacheError: If one cannot be read.
    """
    for path in sorted(folder.glob("day-*.json")):
        if (named := _NAME.fullmatch(path.name)) is not None:
            yield named[1], _read(path)


def lines(accounts: Mapping[str, Iterable[Spent]]) -> Iterator[str]:
    """A table of what was spent, by day, model and command."""
    yield f"{'day':<10} {'calls':>8} {'tokens':>12} {'USD':>9}  model, command"
    for day, rows in accounts.items():
        for each in rows:
            who = one_line(f"{each.model}: {each.command}")
            amounts = f"{each.calls:>8,} {each.tokens:>12,.0f} {each.usd:>9.2f}"
            yield f"{day:<10} {amounts}  {who}"


def _read(path: Path) -> list[Spent]:
    require_own(path)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [
            Spent(str(model), str(command), int(calls), float(tokens), float(usd))
            for model, command, calls, tokens, usd in rows
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise CacheError(
            f"what was spent on a day cannot be read from {str(path)!r}: {error}; if the file is damaged, remove it: then "
            f"the day begins anew"
        ) from error


def _finite(number: float) -> float:
    """What JSON can say of a call whose cost has no upper bound."""
    return number if math.isfinite(number) else 0.0
