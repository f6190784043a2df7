"""The contents of a test report: the rows for the record, and the
evidence for people.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.calls.failures import Failure
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.metamorphic import name_of
from pytest_recsys_mt.report.attempts import outcome_of
from pytest_recsys_mt.report.relation_list import promise_of
from pytest_recsys_mt.report.rows import row_of
from pytest_recsys_mt.report.short_failures import (
    Shown,
    evidence_once,
    is_first_of_its_kind,
)
from pytest_recsys_mt.safety.errors import RecsysError
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line, sanitize
from pytest_recsys_mt.verdict.verdict import Status, Verdict

UNSETTLED = ("violated", "inconclusive", "error")
"""Verdicts that a user wants to reproduce."""

SHRINK = 200
"""Calls that the command spends which looks for a smallest example."""


def attach(
    report: Any,
    item: pytest.Item,
    running: RunningTest,
    settings: Settings,
    run: Run | None,
    *,
    reproduce: Callable[[bool, int], str],
    explain: Callable[[Failure], None],
    shown: Shown,
) -> None:
    """Attach the rows of a test and its calls to the report, and the evidence below a
    failure.

    The rows travel in the report's own attributes, which xdist sends to the controller
    unchanged, so they hold only plain data.

    Args:
        report: The report of the test's call, or of the phase that failed or skipped
            before it.
        item: The test.
        running: The verdicts of the test so far.
        settings: The settings of the run.
        run: The run of the process; None if it could not begin.
        reproduce: Makes the command that runs the test again, from whether all answers
            are on disk and how many calls to spend on smallest examples.
        explain: Takes each failure of users' code that the test names.
        shown: The evidence that this process has printed so far.
    """
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    # The model is unknown if the test ended before its fixture ran.
    model = running.model or parameters.get("recsys_model", "")
    rows = _rows_of(report, item, running, model)
    if run is not None and settings.policy is not None:
        _excuse(report, rows, settings.policy)
    executor = run.executor if run is not None and running.recsys is not None else None
    # Answers on disk do not show again how long their calls took.
    is_timed = running.recsys is not None and running.recsys.runner.timed
    are_answers_on_disk = executor is not None and executor.replayable and not is_timed
    _add_command(rows, partial(reproduce, are_answers_on_disk, 0))
    for row in rows:
        row["outcome"] = outcome_of(report)
    drained = {"calls": {}, "causes": []} if run is None else run.drain()
    report.recsys_mt = {
        "rows": rows,
        **drained,
        "planned": running.unasked(),
        "data_digest": "" if run is None else run.data_digest,
        "requests": _requests(running, run),
        "ahead": running.ahead,
        "readings": {} if executor is None else executor.readings.drain(),
    }
    if report.failed:
        if run is not None:
            _attach_failures(report, run, model, rows, explain)
        smaller = sanitize(reproduce(False, SHRINK)) if running.unsearched else ""
        whole_record = str(settings.html or settings.json or "")
        report.sections += _evidence_of(running, rows, smaller, whole_record, shown)


def _add_command(rows: Sequence[Row], reproduce: Callable[[], str]) -> None:
    """Add the command that runs the test again to its unsettled rows."""
    unsettled = [row for row in rows if row["status"] in UNSETTLED]
    if not unsettled:
        return
    command = sanitize(reproduce())
    for row in unsettled:
        row["reproduce"] = command


def _rows_of(
    report: Any,
    item: pytest.Item,
    running: RunningTest,
    model: str,
) -> list[Row]:
    """The rows of a test's verdicts; without any, one that
    says why a test failed or was skipped.
    """
    place = {
        "nodeid": report.nodeid,
        "suite": Path(item.path).parent.name,
        "model": model,
    }
    fingerprint = None if running.recsys is None else running.recsys.fingerprint
    rows = []
    for number, verdict in enumerate(running.verdicts):
        promise = promise_of(
            item,
            running.transformation,
            verdict.oracle,
            verdict.allowed,
        )
        row = row_of(
            verdict,
            expected=running.expectation(verdict),
            fingerprint=fingerprint,
            promise=promise,
            shrunk=running.counterexamples.get(number),
            **place,
        )
        rows.append(row)
    if rows or not (report.failed or report.skipped):
        return rows
    # A test that failed without a verdict, a relation or a reason has judged nothing,
    # and gets no row.
    if report.skipped or running.transformation is not None or running.reason:
        relation = (
            "" if running.transformation is None else name_of(running.transformation)
        )
        status: Status = "error" if report.failed else "not-applicable"
        reason = running.reason or _first_line(report)
        unjudged = Verdict(status, "", relation, reason=reason)
        promise = promise_of(item, running.transformation, "")
        rows.append(row_of(unjudged, expected="holds", promise=promise, **place))
    return rows


def _attach_failures(
    report: Any,
    run: Run,
    model: str,
    rows: Sequence[Row],
    explain: Callable[[Failure], None],
) -> None:
    """Attach the failures of users' code that a failed test names, and explain each."""
    reasons = [row["reason"] for row in rows]
    text = "\n".join([report.longreprtext, *reasons])
    failures = run.raised(text, model)
    for failure in failures:
        explain(failure)
    report.recsys_mt["raised"] = [failure.reported() for failure in failures]


def _evidence_of(
    running: RunningTest,
    rows: Sequence[Row],
    smaller: str,
    whole_record: str,
    shown: Shown,
) -> Iterator[tuple[str, str]]:
    """The sections of a failed test: a title and a text for
    each verdict to which the failure is due.
    """
    is_unexpected = [row["status"] != row["expected"] for row in rows]
    # Not strict: a test without verdicts may have the one row that says why.
    for number, (verdict, row) in enumerate(zip(running.verdicts, rows, strict=False)):
        if any(is_unexpected) and not is_unexpected[number]:
            continue  # the test failed for another verdict
        is_first = is_first_of_its_kind(row, shown)
        evidence = evidence_once(row, whole_record, shown)
        lines = textwrap.wrap(verdict.summary, 79)
        if is_first:
            lines.append(verdict.numbers)
        lines += evidence
        if row["reproduce"]:
            if is_first:
                lines.append("to run this test again:")
            lines.append(row["reproduce"])
        if smaller and is_first and number in running.to_shrink:
            lines.append(
                f"to look for the smallest example, with at most {SHRINK} more calls:",
            )
            lines.append(smaller)
        name = one_line(verdict.relation or verdict.oracle)
        yield f"recsys-mt: {name}", redact(sanitize("\n".join(lines)))


def _excuse(report: Any, rows: Sequence[Row], policy: Policy) -> None:
    """Let a test that failed only by verdicts that do not gate fail nothing."""
    if report.failed and _of_verdict(report) and _passes(rows, policy):
        # As pytest's own xfail does: it is reported.
        report.outcome = "skipped"
        report.wasxfail = "does not gate (recsys.toml)"


def _of_verdict(report: Any) -> bool:
    """Whether a test failed at an assertion, and not at an error of its code."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash is None or crash.message.startswith(
        ("assert", "AssertionError", "Failed"),
    )


def _passes(rows: Sequence[Row], policy: Policy) -> bool:
    """Whether there are unexpected verdicts, and none of them gates."""
    unexpected = [row for row in rows if row["status"] != row["expected"]]
    return bool(unexpected) and not any(policy.rule(row).gates for row in unexpected)


def _requests(running: RunningTest, run: Run | None) -> str:
    """The digest of the requests; empty if nothing is recorded."""
    if run is None or running.recsys is None or not run.settings.is_recorded:
        return ""
    try:
        return running.recsys.runner.digest
    except RecsysError:
        # The data have no two users for requests, which the test itself reports.
        return ""


def _first_line(report: Any) -> str:
    """The first line of a report's text on a failure or a skip."""
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        text = crash.message
    elif isinstance(longrepr, tuple):
        text = longrepr[2].removeprefix("Skipped: ")
    else:
        text = str(longrepr)
    line = text.strip().splitlines()[0] if text.strip() else ""
    return re.sub(r"^(?:\w+\.)+(?=\w+: )", "", line)  # the module of an exception
