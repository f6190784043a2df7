"""The spending of all runs on one folder of answers on a day (UTC), by model and
command, with limits of its own.
"""

import json
import math
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from pytest_recsys_mt.calls.limits import Budget, Limits, lower
from pytest_recsys_mt.safety.errors import CacheError
from pytest_recsys_mt.safety.files import require_own
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import typed

AT_ONCE = 50
"""Calls to an endpoint that are booked and sent together: a
process that dies leaves as many booked at most.
"""

_NAME = re.compile(r"day-(\d{4}-\d{2}-\d{2})\.json")


class Spent(NamedTuple):
    """The spending on one model in runs of one command on one day, with failed calls.

    Attributes:
        model: The name of the recommender.
        command: How the runs were called, in a line.
        calls: Calls that were sent.
        tokens: Their tokens.
        usd: The cost of those whose price is known.
    """

    model: str
    command: str
    calls: int
    tokens: float
    usd: float


@dataclass(slots=True)
class _Row:
    """The amounts spent on one model by one command."""

    calls: int = 0
    tokens: float = 0
    usd: float = 0.0


class DayAccount(Budget):
    """The amounts spent since 00:00 UTC, by all runs that share a folder of answers.

    The file of a day lies in that folder and stays. A process that dies has booked the
    calls of its last batch as planned, up to `AT_ONCE`. Only runs that have a limit a
    day keep the account, so set one in the ini file of the project.

    Args:
        limits: Of one day.
        folder: Of the answers.
        command: How this run is called, in a line.
        now: Gives Unix seconds.
    """

    def __init__(
        self,
        limits: Limits,
        folder: Path,
        command: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(limits, folder)
        self._folder = folder
        self._command = command
        self._now = now
        self._rows: dict[tuple[str, str], _Row] = {}  # by model and command

    def open(self) -> None:
        """Read the amounts spent today."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self._now()))
        self._path = self._folder / f"day-{day}.json"
        spent = _read(self._path)
        self._rows = {
            (each.model, each.command): _Row(each.calls, each.tokens, each.usd)
            for each in spent
        }
        self.calls = sum(each.calls for each in spent)
        self.tokens = math.fsum(each.tokens for each in spent)
        self.usd = math.fsum(each.usd for each in spent)

    def spend(self, tokens: float, usd: float, calls: int = 1, model: str = "") -> None:
        """Add the cost of a call, or of one more attempt at it (no `calls`)."""
        super().spend(tokens, usd, calls, model)
        row = self._rows.setdefault((model, self._command), _Row())
        row.calls += calls
        row.tokens += tokens
        row.usd += usd

    def reserve(self, expected: Iterable[tuple[float, float]], model: str = "") -> None:
        """Write calls as spent before they are sent."""
        rows_before = {key: replace(row) for key, row in self._rows.items()}
        super().reserve(expected, model)
        self._rows = rows_before

    def left(self) -> Limits:
        """The amounts that may still be spent today."""
        limits = self.limits
        return Limits(
            None if limits.calls is None else max(0, limits.calls - self.calls),
            None if limits.tokens is None else max(0, int(limits.tokens - self.tokens)),
            None if limits.usd is None else max(0.0, limits.usd - self.usd),
            limits.every_price,
        )

    def _written(self) -> object:
        return [
            [model, command, row.calls, _finite(row.tokens), _finite(row.usd)]
            for (model, command), row in sorted(self._rows.items(), key=itemgetter(0))
        ]

    def _in_words(self, name: str, limit: float) -> str:
        return (
            f"{typed(f'{name}-a-day')}={limit} is reached: {self.calls:,} calls, {self.tokens:,.0f} tokens and "
            f"${self.usd:.2f} since 00:00 UTC, in all runs on {str(self._folder)!r}; "
            f"recsys-mt cache spent --cache {shlex.quote(str(self._folder))} lists them"
        )


class Accounts:
    """Several budgets that hold at once: that of the run and that of the day."""

    at_once = AT_ONCE

    def __init__(self, *budgets: Budget) -> None:
        self._budgets = budgets

    @property
    def limits(self) -> Limits:
        """The lower of each."""
        limits = Limits()
        for budget in self._budgets:
            limits = lower(limits, budget.limits)
        return limits

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
        expected = list(expected)  # each budget reads it
        for budget in self._budgets:
            budget.reserve(expected, model)

    def spend(self, tokens: float, usd: float, calls: int = 1, model: str = "") -> None:
        """See `Budget`."""
        for budget in self._budgets:
            budget.spend(tokens, usd, calls, model)

    @property
    def reached(self) -> str:
        """The first limit that is reached, in words; empty if none is."""
        for budget in self._budgets:
            reached = budget.reached
            if reached:
                return reached
        return ""

    def room(self, expected: Iterable[tuple[float, float]]) -> int:
        """See `Budget`; the least of all."""
        expected = list(expected)  # each budget reads it
        return min(budget.room(expected) for budget in self._budgets)


def days(folder: Path) -> Iterator[tuple[str, list[Spent]]]:
    """The accounts in a folder of answers, by day, the earliest first.

    Raises:
        CacheError: If one cannot be read.
    """
    for path in sorted(folder.glob("day-*.json")):
        match = _NAME.fullmatch(path.name)
        if match is not None:
            yield match[1], _read(path)


def lines(accounts: Mapping[str, Iterable[Spent]]) -> Iterator[str]:
    """A table of the amounts spent, by day, model and command."""
    yield f"{'day':<10} {'calls':>8} {'tokens':>12} {'USD':>9}  model, command"
    for day, rows in accounts.items():
        for spent in rows:
            amounts = f"{spent.calls:>8,} {spent.tokens:>12,.0f} {spent.usd:>9.2f}"
            source = one_line(f"{spent.model}: {spent.command}")
            yield f"{day:<10} {amounts}  {source}"


def _read(path: Path) -> list[Spent]:
    """The account of one day; empty if there is none."""
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
            f"the day begins anew",
        ) from error


def _finite(number: float) -> float:
    """A value of JSON for a call whose cost has no upper bound."""
    return number if math.isfinite(number) else 0.0
