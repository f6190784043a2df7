"""The facts of each verdict for the reporters of others:
pytest-html, Allure, pytest-json-report.
"""

import importlib
import json
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_recsys_mt.safety.redaction import redact, without_keys
from pytest_recsys_mt.safety.sanitize import one_line, plain, sanitize
from pytest_recsys_mt.verdict.verdict import Verdict

FACTS = (
    "relation", "oracle", "metric", "status", "value", "threshold", "estimate", "interval", "margin", "p_value", "users",
)  # fmt: skip
"""The facts of each verdict; the record has all. Holm's
correction is known at the end of the run only.
"""
KEY = "recsys_mt"
"""Under which pytest-json-report keeps the verdicts of a test, in its metadata."""
ALLURE = "allure_listener"
"""The name under which allure-pytest registers itself if a run writes its results."""


def facts_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data: its sentence, and those of its `FACTS`
    that are known.
    """
    known = {name: getattr(verdict, name) for name in FACTS}
    present = {name: fact for name, fact in known.items() if fact not in (None, "")}
    return without_keys(plain({"sentence": verdict.summary, **present}, []))  # type: ignore[no-any-return]


def metadata_of(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The verdicts of a test, as its metadata for pytest-json-report."""
    return {KEY: [facts_of(verdict) for verdict in verdicts]} if verdicts else {}


def add_verdicts(
    report: pytest.TestReport,
    config: pytest.Config,
    verdicts: Sequence[Verdict],
) -> None:
    """Add the verdicts to a report for other reporters, and an attachment to Allure.

    A report that passed gets sections, which pytest itself shows with ``-rP`` alone.
    """
    if report.passed:
        for verdict in verdicts:
            title = f"recsys-mt: {one_line(verdict.relation or verdict.oracle)}"
            report.sections.append(
                (title, redact(sanitize(f"{verdict.summary}\n{verdict.numbers}"))),
            )
    if verdicts and config.pluginmanager.hasplugin(ALLURE):
        allure: Any = importlib.import_module("allure")
        text = json.dumps(
            [facts_of(verdict) for verdict in verdicts],
            indent=1,
            ensure_ascii=False,
        )
        allure.attach(
            text,
            name="recsys-mt",
            attachment_type=allure.attachment_type.JSON,
        )
