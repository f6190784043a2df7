"""The files that are written when a run ends: the record,
the page, JUnit properties, the kept run.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from pytest_recsys_mt.safety.errors import RecsysError
from pytest_recsys_mt.safety.files import RUNS, is_replaced
from pytest_recsys_mt.safety.sanitize import Safe

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.drift import Again


DIED = "a worker died: what it paid for since its last test that ended is not in these sums; answers that arrived are kept"

"""The note of a run one of whose workers died."""

_ADDED = ("calls", "causes", "planned", "data_digest", "requests", "ahead", "readings")
"""The contents of a test report that a record adds up."""


def finish(
    config: pytest.Config,
    settings: Settings,
    reports: Sequence[Any],
    results: Mapping[str, Result],
    started: float,
    *,
    baselines: Sequence[tuple[str, Document]] = (),
    incomplete: Sequence[str] = (),
    again: Sequence[Again] = (),
    left_out: int = 0,
    junit_failure: OSError | None = None,
) -> Record:
    """Collect the contents of the test reports, and write the requested files.

    A file that cannot be written is reported on the terminal and in the record's
    `unwritten`, and the others are still written.

    Args:
        config: Pytest's configuration.
        settings: The settings of the run.
        reports: All test reports, with the contents that `sections.attach` gave them.
        results: By test id, its attempts and the rows that count.
        started: When the run began, as `time.time` says it.
        baselines: The records to compare with, each with its name.
        incomplete: Why the run is partial, if it is.
        again: The result of each process for the requests that it sent again.
        left_out: How many selected tests the effort left out.
        junit_failure: Why pytest could not write the JUnit file, if it could not.
    """
    record = Record(
        settings,
        version("pytest-recsys-mt"),
        started,
        baselines=baselines,
        incomplete=incomplete,
        drifts=_merged(drift for process in again for drift in process["drifts"]),
        left_out=left_out,
    )
    _collect(record, reports, results, again)
    reporter = Safe(config.pluginmanager.get_plugin("terminalreporter"))
    _write_files(config, settings, record, reporter, junit_failure)
    number = None
    if settings.keep != "no" and settings.wrapper is None and record.rows:
        number = _keep(config.rootpath, settings, record, reporter)
    if settings.log and record.rows:
        _log(config, settings, record, reporter, number)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary and (record.rows or record.incomplete):
        _append_summary(summary, record, reporter)
    return record


def _collect(
    record: Record,
    reports: Sequence[Any],
    results: Mapping[str, Result],
    again: Sequence[Again],
) -> None:
    """Add the contents of the test reports, and the findings
    of each process that sent some requests again.
    """
    # A test has several reports, and the rows of its last attempt count once.
    for nodeid in dict.fromkeys(report.nodeid for report in reports):
        record.judge(results[nodeid].rows)
    for process in again:
        record.add(process["calls"], process["causes"])
        record.notes.update(process["notes"])
        record.planted += process["planted"]
        for model, lists_by_user in process["lists"].items():
            record.lists.setdefault(model, {}).update(lists_by_user)
        for slicing, group_by_user in process["groups"].items():
            record.groups.setdefault(slicing, {}).update(group_by_user)
        record.varying.update(process["varying"])
    for report in reports:
        record.add(**{name: report.recsys_mt[name] for name in _ADDED})
    attempts = (attempt for result in results.values() for attempt in result.attempts)
    if any(CRASHED in attempt.failed for attempt in attempts):
        record.notes.add(DIED)


def _write_files(
    config: pytest.Config,
    settings: Settings,
    record: Record,
    reporter: Safe,
    junit_failure: OSError | None,
) -> None:
    """Write the record, the facts into the JUnit file, and
    the page, as far as they were requested.
    """

    def add_facts(path: Path) -> None:
        if (
            junit_failure is not None
        ):  # the file that is there says that the run has not ended
            raise junit_failure
        annotate(path, record.document(), config, gate=settings.ask_everybody)

    def draw(path: Path) -> None:
        write_report(record.document(), path)

    # The record first: the others are made of it.
    wanted: tuple[tuple[str, Path | str | None, Callable[[Path], None]], ...] = (
        ("--recsys-json", settings.json, record.write),
        ("--junitxml", _junit_file(config, record, reporter), add_facts),
        ("--recsys-html", settings.html, draw),
    )
    for option, path, write in wanted:
        if path is None:
            continue
        try:
            # Absolute, as a recommender may have changed the folder.
            write(config.invocation_params.dir / path)
            record.written.append(str(path))
        except (OSError, ParseError, MemoryError) as error:
            why = str(error) or "memory is short"
            record.unwritten.append(
                f"{option}={str(path)!r} cannot be written: {why}; free some space, or name "
                f"another place, and run again: answers in the cache are not asked again",
            )
            reporter.write_line(f"\nERROR: recsys-mt: {record.unwritten[-1]}", red=True)


def _junit_file(
    config: pytest.Config,
    record: Record,
    reporter: Safe,
) -> Path | str | None:
    """The JUnit file that pytest has written; None if there is none, or a pipe or
    device that holds nothing to add to.
    """
    junit: str | None = config.getoption("xmlpath", None)
    if not junit:
        return junit  # an empty name is reported with the files that cannot be written
    with contextlib.suppress(OSError):  # the attempt to write reports it
        if record.rows and not is_replaced(Path(junit)):
            reporter.write_line(
                f"recsys-mt: --junitxml={junit!r} is no file, so no facts are added to it",
            )
            return None
    return Path(junit)


def _keep(
    root: Path,
    settings: Settings,
    record: Record,
    reporter: Safe,
) -> int | None:
    """Keep the run in the project's store; returns its number, None if it is not kept."""
    lines = lines_of(record.document())
    try:
        return Store.of(root).keep(
            record.document(),
            lines,
            root,
            everybody=settings.ask_everybody,
        )
    except (OSError, MemoryError) as error:
        reporter.write_line(
            f"recsys-mt: this run is not kept in {str(root / RUNS)!r}: {error}; --recsys-keep=no keeps none",
        )
        return None


def _log(
    config: pytest.Config,
    settings: Settings,
    record: Record,
    reporter: Safe,
    number: int | None,
) -> None:
    """Log the run with trackers of experiments; one that does not take it changes
    neither the record nor the exit status.

    Args:
        config: Pytest's configuration.
        settings: The settings of the run.
        record: The record.
        reporter: Pytest's terminal reporter.
        number: The number of the kept run; None if it is not kept.
    """
    from pytest_recsys_mt.report.trackers import send, waits

    files = [config.invocation_params.dir / path for path in record.written]
    for name in settings.log:
        if waiting := waits(name):
            reporter.write_line(f"recsys-mt: {waiting}")
        try:
            record.logged.append(send(name, record.document(), files))
        except (RecsysError, OSError, MemoryError) as error:
            kept = number if settings.json is None else settings.json
            later = (
                "the run is not kept either; give --recsys-json=FILE"
                if kept is None
                else f"log it later with: recsys-mt log {kept} --to={name}"
            )
            reporter.write_line(
                f"\nERROR: recsys-mt: --recsys-log={name}: this run is not logged: {error}; the record and the exit "
                f"status are unaffected; {later}",
                red=True,
            )


def _append_summary(summary: str, record: Record, reporter: Safe) -> None:
    """Append to the summary of a GitHub job."""
    try:
        append(Path(summary), record.document(), record.written)
    except OSError as error:
        reporter.write_line(
            f"recsys-mt: GITHUB_STEP_SUMMARY={summary!r} cannot be written: {error.strerror}; the "
            f"record and the gate are unaffected",
            red=True,
        )


__all__ = ["Record", "finish", "lost", "missing", "results_of"]


def _merged(found: Iterable[Drift]) -> list[Drift]:
    """The drift of each model: one that fails the gate if any process found one, else
    that of the largest effect.
    """
    by_model = grouped(found, lambda drift: drift["model"])
    worst = []
    for _, drifts in sorted(by_model.items()):
        worst.append(max(drifts, key=lambda each: (each["drifted"], each["effect"])))
    return worst
