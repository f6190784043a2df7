"""Which of a test's reports count: those of its last attempt.

pytest reports a test once for each phase, and more often where plugins run it again, where a part of it
is a subtest, or where the worker dies that ran it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.report.record import Row

OUTCOMES = ("passed", "failed", "skipped")
"""What pytest itself says of a report. Any other outcome says that the test is run again."""

CRASHED = "???"
"""The phase of the report that xdist makes of a test whose worker died."""


@dataclass
class Attempt:
    """One run of a test.

    Attributes:
        worker: Where it ran; None for this process.
        rows: What it found.
        failed: The phases that failed.
        ended: Whether the test's own code came to an end.
        repeated: Whether it was run again for what it reported.
        closed: Whether all its reports are in.
    """

    worker: object
    rows: list[Row] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    ended: bool = False
    repeated: bool = False
    closed: bool = False

    def take(self, report: Any) -> None:
        """Take in one of its reports."""
        if report.outcome not in OUTCOMES:
            self.repeated = True
        elif report.failed:
            self.failed.append(report.when)
        if report.when == "call" or report.skipped:
            self.ended = True
        if hasattr(report, "recsys_mt"):
            # A subtest carries the verdicts before it, the test that it is a part of carries all.
            self.rows = report.recsys_mt["rows"]
            for row in self.rows:
                row["outcome"] = outcome_of(report)  # failed subtests fail their test later
        self.closed = report.when in ("teardown", CRASHED)


@dataclass
class Result:
    """What the reports say of one test.

    Attributes:
        attempts: In the order they began.
    """

    attempts: list[Attempt] = field(default_factory=list)

    @property
    def counted(self) -> Attempt | None:
        """The last attempt that was not repeated; of several, which no plugin asked for, one that
        failed, because pytest fails for it. None where the last repetition never came.
        """
        final = [attempt for attempt in self.attempts if not attempt.repeated]
        return next((attempt for attempt in reversed(final) if attempt.failed), None) or (
            final[-1] if final else None
        )

    @property
    def rows(self) -> list[Row]:
        """The rows of the attempt that counts, each with the number of attempts there were."""
        counted = self.counted
        rows = [] if counted is None else counted.rows
        for row in rows:
            row["attempts"] = 1 + sum(attempt.repeated for attempt in self.attempts)
        return rows

    def take(self, report: Any) -> None:
        """Take in a report of any attempt."""
        worker = getattr(report, "node", None)
        mine = [attempt for attempt in self.attempts if attempt.worker is worker]
        if not mine or mine[-1].closed or report.when == "setup":
            mine = [Attempt(worker)]
            self.attempts += mine
        mine[-1].take(report)


def results_of(reports: Iterable[Any]) -> Mapping[str, Result]:
    """The tests that were reported, by their node ids.

    Args:
        reports: Of the tests, in the order they came in.
    """
    results: dict[str, Result] = {}
    for report in reports:
        results.setdefault(report.nodeid, Result()).take(report)
    return results


def outcome_of(report: Any) -> str:
    """The outcome of a test, as pytest's summary counts it."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return str(report.outcome)
