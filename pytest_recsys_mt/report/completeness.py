"""Whether a run completed all its tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pytest

from pytest_recsys_mt.gate.document import grouped
from pytest_recsys_mt.report.attempts import CRASHED, Attempt, Result

NAMED = 3
"""The number of tests to name if many share one fault; the others are counted."""


def missing(session: pytest.Session, uncollected: Sequence[str]) -> list[str]:
    """Why a run as a whole is partial, one sentence each; empty for a complete run.

    A run of selected tests (``-k``) is complete: a comparison sees which tests it lacks.
    """
    found = []
    stopped = session.shouldfail or session.shouldstop
    if stopped:
        found.append(f"it was stopped: {stopped}" if isinstance(stopped, str) else "it was stopped")
    elif session.exitstatus in (
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.INTERNAL_ERROR,
        pytest.ExitCode.USAGE_ERROR,
    ):
        found.append("it was interrupted")
    if uncollected:
        found.append(_told(uncollected, "file", "could not be collected"))
    return found


def lost(collected: Iterable[str], results: Mapping[str, Result]) -> list[str]:
    """The tests that should have given a verdict but have no row, one sentence per fault.

    A skipped test has a row. A test that passed without a verdict asked and judged by itself.
    """
    fault_of = lambda name: _fault(results.get(name, Result()).counted)
    found = grouped(dict.fromkeys(collected), fault_of)
    return [_told(names, "test", fault) for fault, names in found.items() if fault]


def _fault(attempt: Attempt | None) -> str:
    if attempt is None:
        return "gave no result"
    if CRASHED in attempt.failed:
        return "ended with the worker that ran them"
    if any(row["outcome"] == "failed" for row in attempt.rows):
        return ""
    if attempt.failed:
        return f"failed in {attempt.failed[0]}" if attempt.rows else "failed without a verdict"
    return "" if attempt.ended else "gave no result"


def _told(names: Sequence[str], kind: str, fault: str) -> str:
    shown = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names)} {kind}{'' if len(names) == 1 else 's'} {fault}: {shown}{more}"
