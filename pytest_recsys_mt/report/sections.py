"""The contents of a test report: the rows for the record, and the evidence for people."""

import contextlib
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.calls.failures import Failure
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.metamorphic import name_of
from pytest_recsys_mt.report.attempts import outcome_of
from pytest_recsys_mt.report.relation_list import promise_of
from pytest_recsys_mt.report.rows import row_of
from pytest_recsys_mt.report.short_failures import Shown, evidence_once, is_first_of_its_kind
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line, sanitize
from pytest_recsys_mt.verdict import Status, Verdict

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
    reproduce: Callable[[bool, int], str],
    explain: Callable[[Failure], None],
    shown: Shown,
) -> None:
    """Attach the rows of a test and its calls to the report, and the evidence below a failure.

    The rows travel in the report's own attributes, which xdist sends to the controller unchanged,
    so they hold only plain data. `shown` is what this process has printed so far. The arguments of `reproduce` say whether all answers are on disk, and
    how many calls to spend on smallest examples.
    """
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    model = running.model or parameters.get("recsys_model", "")  # "" before its fixture ran
    place = {"nodeid": report.nodeid, "suite": Path(item.path).parent.name, "model": model}
    fingerprint = None if running.recsys is None else running.recsys.fingerprint
    rows = [
        row_of(
            verdict,
            expected=running.expectation(verdict),
            fingerprint=fingerprint,
            promise=promise_of(item, running.transformation, verdict.oracle, verdict.allowed),
            shrunk=running.counterexamples.get(number),
            **place,
        )
        for number, verdict in enumerate(running.verdicts)
    ]
    told = report.skipped or running.transformation is not None or running.reason
    if not rows and (report.failed or report.skipped) and told:
        relation = "" if running.transformation is None else name_of(running.transformation)
        status: Status = "error" if report.failed else "not-applicable"
        reason = running.reason or _first_line(report)
        nothing = Verdict(status, "", relation, reason=reason)
        promise = promise_of(item, running.transformation, "")
        rows = [row_of(nothing, expected="holds", promise=promise, **place)]
    policy = None if run is None else settings.policy
    if policy is not None and report.failed and _of_verdict(report) and _passes(rows, policy):
        # As pytest's own xfail does: a verdict that does not gate is reported and fails nothing.
        report.outcome = "skipped"
        report.wasxfail = "does not gate (recsys.toml)"
    executor = run.executor if run is not None and running.recsys is not None else None
    unsettled = [row for row in rows if row["status"] in UNSETTLED]
    if unsettled:
        again = sanitize(reproduce(executor is not None and executor.replayable, 0))
        for row in unsettled:
            row["reproduce"] = again
    for row in rows:
        row["outcome"] = outcome_of(report)
    report.recsys_mt = {
        "rows": rows,
        **({"calls": {}, "causes": []} if run is None else run.drain()),
        "planned": running.unasked(),
        "data_digest": "" if run is None else run.data_digest,
        "requests": _requests(running, run),
        "ahead": running.ahead,
        "readings": {} if executor is None else executor.readings.drain(),
    }
    if report.failed:
        if run is not None:
            text = "\n".join([report.longreprtext, *(row["reason"] for row in rows)])
            failures = run.raised(text, model)
            for failure in failures:
                explain(failure)
            report.recsys_mt["raised"] = [failure.told() for failure in failures]
        smaller = sanitize(reproduce(False, SHRINK)) if running.unsearched else ""
        whole = str(settings.html or settings.json or "")
        report.sections += _evidence_of(running, rows, smaller, whole, shown)


def _evidence_of(
    running: RunningTest, rows: Sequence[Row], smaller: str, whole: str, shown: Shown
) -> Iterator[tuple[str, str]]:
    wanting = any(row["status"] != row["expected"] for row in rows)
    for number, (verdict, row) in enumerate(zip(running.verdicts, rows, strict=False)):
        if wanting and row["status"] == row["expected"]:
            continue  # the test failed for another verdict
        first = is_first_of_its_kind(row, shown)
        told = evidence_once(row, whole, shown)
        lines = textwrap.wrap(verdict.summary, 79)
        if first:
            lines += [verdict.numbers, *told]
            lines += ["to run this test again:"] if row["reproduce"] else []
        else:
            lines += told
        lines += [row["reproduce"]] if row["reproduce"] else []
        if smaller and number in running.to_shrink and first:
            more = f"to look for the smallest example, with at most {SHRINK} more calls:"
            lines += [more, smaller]
        name = one_line(verdict.relation or verdict.oracle)
        yield f"recsys-mt: {name}", redact(sanitize("\n".join(lines)))


def _of_verdict(report: Any) -> bool:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash is None or crash.message.startswith(("assert", "AssertionError", "Failed"))


def _passes(rows: list[Row], policy: Policy) -> bool:
    wanting = [row for row in rows if row["status"] != row["expected"]]
    return bool(wanting) and not any(policy.rule(row).gates for row in wanting)


def _requests(running: RunningTest, run: Run | None) -> str:
    if run is None or running.recsys is None or not run.settings.is_recorded:
        return ""
    with contextlib.suppress(
        RecsysError
    ):  # the data have no two users who can be asked; the test says so
        return running.recsys.runner.digest
    return ""


def _first_line(report: Any) -> str:
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
