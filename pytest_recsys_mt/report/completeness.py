"""Whether a run did all that it set out to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def missing(session: pytest.Session, reports: Sequence[Any]) -> list[str]:
    """Why a run is a partial one, one sentence each; empty for a whole one.

    A run of chosen tests (``-k``) is whole: a comparison sees which tests it lacks.

    Args:
        session: At its end.
        reports: Of its tests and of its collection.
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
    uncollected = [
        report for report in reports if isinstance(report, pytest.CollectReport) and report.failed
    ]
    if uncollected:
        found.append(f"{len(uncollected)} files could not be collected")
    silent = [
        report.nodeid
        for report in reports
        if getattr(report, "failed", False)
        and hasattr(report, "recsys_mt")
        and not report.recsys_mt["rows"]
    ]
    if silent:
        found.append(f"{len(silent)} tests failed without a verdict, as {silent[0]}")
    return found
