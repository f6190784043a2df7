"""The end of a run: whether answers drifted, the record, and the exit status."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt.engine.settings import OPTIONS
from pytest_recsys_mt.plugin import state
from pytest_recsys_mt.plugin.reports import Reported
from pytest_recsys_mt.safety.files import MOST_TEXT, is_replaced

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.drift import Again
    from pytest_recsys_mt.engine.run import Run


NOT_ENDED = "the run that writes it has not ended; where none is under way, it was killed"
_BEGUN_JUNIT = f"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="1" errors="1" failures="0" skipped="0" time="0">
<testcase classname="recsys_mt" name="run" time="0"><error message="{NOT_ENDED}" /></testcase>
</testsuite></testsuites>
"""


def never_ended(path: Path) -> bool:
    """Whether a file is what `begin_record` wrote, which the end of its run should have replaced."""
    with suppress(OSError):
        short = path.is_file() and path.stat().st_size < MOST_TEXT
        return short and NOT_ENDED.encode() in path.read_bytes()
    return False


@contextmanager
def begun_record(config: pytest.Config, *, put_back: bool = False) -> Iterator[None]:
    """Put a record that no gate passes where that of this run will be; if the run is refused inside, or with
    `put_back`, what was there comes back.

    Else a process that ends without a word, as by ``os._exit(0)`` in a recommender, leaves an older one, and exit status 0.
    """
    settings, path = config.stash[state.SETTINGS], config.stash[state.SETTINGS].json
    if path is None or settings.plan or not _begins(config) or not is_replaced(path):
        yield
        return
    from pytest_recsys_mt.report.record import Record

    begun = Record(
        settings, version("pytest-recsys-mt"), config.stash[state.STARTED], incomplete=[NOT_ENDED]
    )
    place = Path(os.path.realpath(config.invocation_params.dir / path))
    before = place.with_name(f".before-{os.getpid()}.json")
    try:
        try:
            with suppress(FileNotFoundError):
                os.replace(place, before)
            begun.write(place)
        except OSError as error:
            raise pytest.UsageError(
                f"--recsys-json={str(path)!r} cannot be written: {error.strerror or error}; free some space, or name another place"
            ) from error
        yield
    except pytest.UsageError:
        put_back = True
        raise
    finally:
        # A disk that fails here too must not hide what ended the run; what could not be put back stays beside its place.
        with suppress(OSError):
            if put_back and before.exists():
                os.replace(before, place)
            elif put_back:
                place.unlink(missing_ok=True)
            else:
                before.unlink(missing_ok=True)


def begin_junit(config: pytest.Config) -> None:
    """Put a JUnit file with an error where pytest will write that of this run, which may end without a word."""
    junit = config.getoption("xmlpath", None)
    if not junit or not _begins(config):
        return
    path = config.invocation_params.dir / os.path.expanduser(os.path.expandvars(junit))
    with suppress(OSError):  # which pytest will say
        if is_replaced(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                _BEGUN_JUNIT, encoding="utf-8"
            )  # in place and in the mode of pytest's own


def _begins(config: pytest.Config) -> bool:
    return bool(getattr(config, "workerinput", {}).get("workerid", "gw0") == "gw0")


def conclude(session: pytest.Session, reported: Reported) -> None:
    """Write the record and the other reports, if the run asked a recommender."""
    config = session.config
    collected = reported.collected(session)
    settings = config.stash[state.SETTINGS]
    if settings.list or settings.plan or state.runs_nothing(config):
        return
    if config.stash[state.PROBLEMS]:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR
    if session.exitstatus == pytest.ExitCode.USAGE_ERROR:
        return
    carrying = [report for report in reported.tests if hasattr(report, "recsys_mt")]
    judged = any(report.recsys_mt["rows"] for report in carrying)
    if not judged and not collected and not _asked_for(config):
        return
    from pytest_recsys_mt.report.attempts import lost, missing, results_of
    from pytest_recsys_mt.report.ending import finish

    results, again = results_of(reported.tests), config.stash[state.AGAIN]
    wanting = lost([*collected, *(report.nodeid for report in carrying)], results)
    if not judged and not wanting and not _asked_for(config):
        begun = config.invocation_params.dir / (settings.json or "")
        if never_ended(
            begun
        ):  # an option of the ini file writes a record only where something was judged
            begun.unlink()
        return
    record = config.stash[state.RECORD] = finish(
        config,
        settings,
        carrying,
        results,
        config.stash[state.STARTED],
        config.stash[state.BASELINE],
        [*missing(session, reported.uncollected), *wanting],
        again,
        config.stash.get(state.LEFT_OUT, 0),
    )
    passed = record.document()["gate"]["status"] == "passed" and not record.unwritten
    if not passed and session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def report_end(session: pytest.Session, run: Run) -> None:
    """Check whether answers changed during the run, and count the calls that no test has counted.

    Such calls come, for example, from an interrupted test. A worker reports to the controller.
    """
    config, drifts, planted = session.config, [], []
    run.causes.end()
    stopped = session.shouldstop or session.shouldfail
    try:
        if not stopped and session.exitstatus in (0, 1):
            with _captured(config):
                drifts = run.drifts()
                planted = run.planted()
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    run.keep_rest()
    found: Again = {
        "drifts": drifts,
        **run.drain(),
        "notes": [*run.notes, *run.roster.notes],
        "planted": planted or run.roster.planted,
        "lists": run.lists(),
    }
    if not any(found.values()):
        return
    if hasattr(config, "workerinput"):
        config.workeroutput[state.AGAIN_KEY] = found  # type: ignore[attr-defined]
    else:
        config.stash[state.AGAIN].append(found)


@contextmanager
def _captured(config: pytest.Config) -> Iterator[None]:
    """Keep what a recommender prints off the terminal, as during a test, unless the user wants it (``-s``)."""
    manager: Any = config.pluginmanager.getplugin("capturemanager")
    if manager is None or not manager.is_globally_capturing():
        yield
        return
    manager.resume_global_capture()
    try:
        yield
    finally:
        manager.suspend_global_capture(in_=False)
        manager.read_global_capture()  # and forget it


def _asked_for(config: pytest.Config) -> bool:
    """Whether the user wants a report on recommenders, whatever was collected. Options in the ini file apply to every
    command, so they do not count: a run of other tests gets no report.
    """
    switches = {option.switch for option in OPTIONS if option.asks_report}
    return any(str(arg).partition("=")[0] in switches for arg in config.invocation_params.args)
