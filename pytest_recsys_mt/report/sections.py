"""What a test report carries: the rows for the record, and the evidence for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.llm.sanitize import sanitize
from pytest_recsys_mt.metamorphic import name_of
from pytest_recsys_mt.report.record import Row, row_of
from pytest_recsys_mt.report.shrunk import side_by_side
from pytest_recsys_mt.session import Session
from pytest_recsys_mt.trial import Trial
from pytest_recsys_mt.verdict import Status, Verdict


def attach(report: Any, item: pytest.Item, trial: Trial, session: Session | None) -> None:
    """Put the rows of a test and its calls on the report, and the evidence of a failure below it.

    The rows travel in the report's own attributes, which xdist carries to the controller as they
    are, so they hold plain data only.
    """
    place = {"nodeid": report.nodeid, "suite": Path(item.path).parent.name, "model": trial.model}
    rows = [
        row_of(
            verdict,
            expected=trial.expectation(verdict),
            shrunk=trial.counterexamples.get(number),
            **place,
        )
        for number, verdict in enumerate(trial.verdicts)
    ]
    if not rows and (report.failed or report.skipped) and trial.transformation is not None:
        relation = name_of(trial.transformation)
        status: Status = "error" if report.failed else "not-applicable"
        reason = trial.reason or _first_line(report)
        nothing = Verdict(status, "", relation, reason=reason)
        rows = [row_of(nothing, expected="holds", **place)]
    for row in rows:
        row["outcome"] = _outcome(report)
    calls = session.executor.drain() if session is not None and trial.recsys is not None else {}
    report.recsys_mt = {"rows": rows, "calls": calls}
    if report.failed:
        for number, verdict in enumerate(trial.verdicts):
            found = trial.counterexamples.get(number)
            lines = [] if found is None else side_by_side(found)
            text = "\n".join([evidence(verdict), *map(sanitize, lines)])
            report.sections.append((f"recsys-mt: {verdict.relation}", text))


def evidence(verdict: Verdict) -> str:
    """A verdict with its worst examples, as lines of text."""
    lines = [verdict.summary]
    for example in verdict.examples:
        score = "" if example.score is None else f", agreement {example.score:.2f}"
        lines.append(f"user {example.user}{score}")
        lines.append(f"  source:    {_listed(example.source)}")
        lines.append(f"  follow-up: {_listed(example.followup)}")
    return sanitize("\n".join(lines))


def _listed(titles: tuple[str, ...]) -> str:
    return " | ".join(titles) if titles else "(nothing)"


def _outcome(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return str(report.outcome)


def _first_line(report: Any) -> str:
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        text = crash.message
    elif isinstance(longrepr, tuple):
        text = longrepr[2].removeprefix("Skipped: ")
    else:
        text = str(longrepr)
    return text.strip().splitlines()[0] if text.strip() else ""


__all__ = ["Row", "attach", "evidence"]
