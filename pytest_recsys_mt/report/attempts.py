"""Which of a test's reports count: those of its last attempt.

pytest reports a phase each, and more if a plugin runs the test again, a part is a subtest, or its worker dies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.gate.document import Row

OUTCOMES = ("passed", "failed", "skipped")
"""pytest's own outcomes of a report. Any other outcome means that the test runs again."""

CRASHED = "???"
"""The phase in xdist's report of a test whose worker died."""


@dataclass
class Attempt:
    """One run of a test."""

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
            # A subtest carries the verdicts before it; its parent test carries all verdicts.
            self.rows = report.recsys_mt["rows"]
            for row in self.rows:
                row["outcome"] = outcome_of(report)  # failed subtests fail their test later
        self.closed = report.when in ("teardown", CRASHED)


@dataclass
class Result:
    """The result of one test."""

    attempts: list[Attempt] = field(default_factory=list)

    @property
    def counted(self) -> Attempt | None:
        """The last attempt that was not repeated.

        If there are several without a plugin's request, a failed one, because pytest fails for it.
        None if the last repetition never came.
        """
        final = [attempt for attempt in self.attempts if not attempt.repeated]
        return next((attempt for attempt in reversed(final) if attempt.failed), None) or (
            final[-1] if final else None
        )

    @property
    def rows(self) -> list[Row]:
        """The rows of the counted attempt, each with the number of attempts."""
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
    """The reported tests by their node ids, from the reports in the order of arrival."""
    results: dict[str, Result] = {}
    for report in reports:
        results.setdefault(report.nodeid, Result()).take(report)
    return results


def outcome_of(report: Any) -> str:
    """The outcome of a test, as pytest's summary counts it."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return str(report.outcome)
