"""What is written when a run ends: the record, the page, JUnit properties, the kept run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import pytest

from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.gate.document import Document, Drift
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.gate.store import Store
from pytest_recsys_mt.report.attempts import CRASHED, Result, lost, missing, results_of
from pytest_recsys_mt.report.html import write_report
from pytest_recsys_mt.report.junit import annotate
from pytest_recsys_mt.report.record import Record
from pytest_recsys_mt.report.rows import lines_of
from pytest_recsys_mt.report.step_summary import append
from pytest_recsys_mt.safety.files import RUNS, is_replaced
from pytest_recsys_mt.safety.sanitize import Safe

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.drift import Again


DIED = "a worker died: what it paid for since its last test that ended is not in these sums; answers that arrived are kept"


def finish(
    config: pytest.Config,
    settings: Settings,
    reports: Sequence[Any],
    results: Mapping[str, Result],
    started: float,
    baselines: Sequence[tuple[str, Document]] = (),
    incomplete: Sequence[str] = (),
    again: Sequence[Again] = (),
    left_out: int = 0,
) -> Record:
    """Collect the contents of the test reports, and write the requested files."""
    drifts = _merged(drift for found in again for drift in found["drifts"])
    own = version("pytest-recsys-mt")
    record = Record(settings, own, started, baselines, incomplete, drifts, left_out)
    for nodeid in dict.fromkeys(report.nodeid for report in reports):
        record.judge(results[nodeid].rows)
    for found in again:
        record.add(found["calls"], found["causes"])
        record.notes.update(found["notes"])
        record.planted += found["planted"]
        for model, users in found["lists"].items():
            record.lists.setdefault(model, {}).update(users)
    counted = ("calls", "causes", "planned", "data_digest", "requests", "ahead", "readings")
    for report in reports:
        record.add(**{name: report.recsys_mt[name] for name in counted})
    if any(CRASHED in each.failed for result in results.values() for each in result.attempts):
        record.notes.add(DIED)
    reporter = Safe(config.pluginmanager.get_plugin("terminalreporter"))
    junit = config.getoption("xmlpath", None)
    gate = settings.ask_everybody
    add_facts = lambda path: annotate(path, record.document(), config, gate=gate)
    draw = lambda path: write_report(record.document(), path)
    with contextlib.suppress(OSError):  # which the writing below says
        if junit and record.rows and not is_replaced(Path(junit)):
            reporter.write_line(
                f"recsys-mt: --junitxml={junit!r} is no file, so no facts are added to it"
            )
            junit = None
    for option, path, write in (
        ("--recsys-json", settings.json, record.write),
        ("--junitxml", junit and Path(junit), add_facts),
        ("--recsys-html", settings.html, draw),
    ):
        try:
            if path is not None:  # absolute, as a recommender may have changed the folder
                write(config.invocation_params.dir / path)
                record.written.append(str(path))
        except (OSError, ParseError, MemoryError) as error:
            why = str(error) or "memory is short"
            record.unwritten.append(
                f"{option}={str(path)!r} cannot be written: {why}; free some space, or name "
                f"another place, and run again: answers in the cache are not asked again"
            )
            reporter.write_line(f"\nERROR: recsys-mt: {record.unwritten[-1]}", red=True)
    if settings.keep != "no" and settings.fault is None and record.rows:
        root, lines = config.rootpath, lines_of(record.document())
        try:
            Store.of(root).keep(record.document(), lines, root, everybody=settings.ask_everybody)
        except (OSError, MemoryError) as error:
            reporter.write_line(
                f"recsys-mt: this run is not kept in {str(root / RUNS)!r}: {error}; --recsys-keep=no keeps none"
            )
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary and (record.rows or record.incomplete):
        try:
            append(Path(summary), record.document(), record.written)
        except OSError as error:
            reporter.write_line(
                f"recsys-mt: GITHUB_STEP_SUMMARY={summary!r} cannot be written: {error.strerror}; the "
                f"record and the gate are unaffected",
                red=True,
            )
    return record


__all__ = ["Record", "finish", "lost", "missing", "results_of"]


def _merged(found: Iterable[Drift]) -> list[Drift]:
    by_model = grouped(found, lambda drift: drift["model"])
    return [
        max(drifts, key=lambda each: (each["drifted"], each["effect"]))
        for _, drifts in sorted(by_model.items())
    ]
