"""Which of a test's reports count, those of its last attempt, and whether a run
completed all its tests.

pytest reports a phase each, and more if a plugin runs the test again, a part is a
subtest, or its worker dies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import grouped

OUTCOMES = ("passed", "failed", "skipped")
"""pytest's own outcomes of a report. Any other outcome means that the
test runs again.
"""

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
            # A subtest carries the verdicts before it; its parent test carries all
            # verdicts.
            self.rows = report.recsys_mt["rows"]
            for row in self.rows:
                row["outcome"] = outcome_of(
                    report,
                )  # failed subtests fail their test later
        self.closed = report.when in ("teardown", CRASHED)


@dataclass
class Result:
    """The result of one test."""

    attempts: list[Attempt] = field(default_factory=list)

    @property
    def counted(self) -> Attempt | None:
        """The last attempt that was not repeated.

        If there are several without a plugin's request, a failed one, because pytest
        fails for it. None if the last repetition never came.
        """
        final = [attempt for attempt in self.attempts if not attempt.repeated]
        return max(
            reversed(final),
            key=lambda attempt: bool(attempt.failed),
            default=None,
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
    """The reported tests by their node ids, from the reports in the
    order of arrival.
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


NAMED = 3
"""The number of tests to name if many share one fault; the others are counted."""


def missing(session: pytest.Session, uncollected: Sequence[str]) -> list[str]:
    """Why a run as a whole is partial, one sentence each; empty for a complete run.

    A run of selected tests (``-k``) is complete: a comparison sees which tests it
    lacks.
    """
    found = []
    stopped = session.shouldfail or session.shouldstop
    if stopped:
        found.append(
            f"it was stopped: {stopped}"
            if isinstance(stopped, str)
            else "it was stopped",
        )
    elif session.exitstatus in (
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.INTERNAL_ERROR,
        pytest.ExitCode.USAGE_ERROR,
    ):
        found.append("it was interrupted")
    if uncollected:
        found.append(_sentence(uncollected, "file", "could not be collected"))
    return found


def lost(collected: Iterable[str], results: Mapping[str, Result]) -> list[str]:
    """The tests that should have given a verdict but have no row, one sentence per
    fault.

    A skipped test has a row. A test that passed without a verdict sent and judged
    requests by itself.
    """
    fault_of = lambda name: _fault(results.get(name, Result()).counted)
    found = grouped(dict.fromkeys(collected), fault_of)
    return [_sentence(names, "test", fault) for fault, names in found.items() if fault]


def _fault(attempt: Attempt | None) -> str:
    if attempt is None:
        return "gave no result"
    if CRASHED in attempt.failed:
        return "ended with the worker that ran them"
    if any(row["outcome"] == "failed" for row in attempt.rows):
        return ""
    if attempt.failed:
        return (
            f"failed in {attempt.failed[0]}"
            if attempt.rows
            else "failed without a verdict"
        )
    return "" if attempt.ended else "gave no result"


def _sentence(names: Sequence[str], kind: str, fault: str) -> str:
    shown = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names)} {kind}{'' if len(names) == 1 else 's'} {fault}: {shown}{more}"
