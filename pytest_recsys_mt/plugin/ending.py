"""The end of a run: whether answers drifted, the record, and the exit status."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt.engine.settings import every_option
from pytest_recsys_mt.plugin import state
from pytest_recsys_mt.plugin.reports import Reported
from pytest_recsys_mt.safety.files import MOST_TEXT, is_replaced

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.drift import Again
    from pytest_recsys_mt.engine.run import Run


NOT_ENDED = (
    "the run that writes it has not ended; where none is under way, it was killed"
)
"""The reason why no gate passes the record that is there while a run goes on."""

_SUCCESSES = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)

_NOTHING_PINNED = "--recsys-pin wrote nothing: no test of this run calls pinned(recsys.run(), FILE); write one"

_BEGUN_JUNIT = f"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="1" errors="1" failures="0" skipped="0" time="0">
<testcase classname="recsys_mt" name="run" time="0"><error message="{NOT_ENDED}" /></testcase>
</testsuite></testsuites>
"""


def never_ended(path: Path) -> bool:
    """Whether a file is the one of `begun_record`, which the
    end of its run should have replaced.
    """
    with suppress(OSError):
        is_short = path.is_file() and path.stat().st_size < MOST_TEXT
        return is_short and NOT_ENDED.encode() in path.read_bytes()
    return False


@contextmanager
def begun_record(config: pytest.Config, *, restore: bool = False) -> Iterator[None]:
    """Write a record that no gate passes where that of this run will be.

    Without it, a process that ends at once, as by ``os._exit(0)`` in a recommender,
    would leave the record of an older run, and exit status 0.

    Args:
        config: The configuration of the pytest run.
        restore: Whether the file that was there before comes back in any case; else
            only if the run is refused inside.

    Raises:
        pytest.UsageError: The file cannot be written.
    """
    settings = config.stash[state.SETTINGS]
    path = settings.json
    if path is None or settings.plan or not _begins(config) or not is_replaced(path):
        yield
        return
    from pytest_recsys_mt.report.record import Record

    begun = Record(
        settings,
        version("pytest-recsys-mt"),
        config.stash[state.STARTED],
        incomplete=[NOT_ENDED],
    )
    place = Path(os.path.realpath(config.invocation_params.dir / path))
    older = place.with_name(f".before-{os.getpid()}.json")
    try:
        try:
            with suppress(FileNotFoundError):
                os.replace(place, older)
            begun.write(place)
        except OSError as error:
            raise pytest.UsageError(
                f"--recsys-json={str(path)!r} cannot be written: {error.strerror or error}; free some space, or name another place",
            ) from error
        yield
    except pytest.UsageError:
        restore = True
        raise
    finally:
        # If the disk fails here too, this must not hide the cause of the end. The older
        # file then stays next to its place.
        with suppress(OSError):
            if not restore:
                older.unlink(missing_ok=True)
            elif older.exists():
                os.replace(older, place)
            else:
                place.unlink(missing_ok=True)


def begin_junit(config: pytest.Config) -> None:
    """Write a JUnit file with an error where pytest will write that of this run.

    The process may end before pytest writes its own.
    """
    junit = config.getoption("xmlpath", None)
    if not junit or not _begins(config):
        return
    path = config.invocation_params.dir / os.path.expanduser(os.path.expandvars(junit))
    with suppress(OSError):  # pytest reports the error when it writes the file
        if is_replaced(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # In place, not as a new file: pytest too keeps the mode of the file.
            path.write_text(_BEGUN_JUNIT, encoding="utf-8")


def _begins(config: pytest.Config) -> bool:
    """Whether this process is the one of a run that writes before its tests: the only
    one, or the first worker.
    """
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    return bool(worker == "gw0")


def conclude(
    session: pytest.Session,
    reported: Reported,
    junit_failure: OSError | None = None,
) -> None:
    """Write the record and the other reports, if the run sent requests.

    Args:
        session: The session. Its exit status becomes a failure if the gate does not
            pass.
        reported: The reports of all tests.
        junit_failure: Why pytest could not write the JUnit file, if it could not.
    """
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
    rows = [row for report in carrying for row in report.recsys_mt["rows"]]
    has_pinned = any(row["oracle"].startswith("pinned:") for row in rows)
    if settings.pin and session.exitstatus in _SUCCESSES and not has_pinned:
        config.stash[state.PROBLEMS].append(_NOTHING_PINNED)
        session.exitstatus = pytest.ExitCode.USAGE_ERROR
        return
    is_wanted = bool(rows) or _is_requested(config)
    if not is_wanted and not collected:
        return
    from pytest_recsys_mt.report.attempts import lost, results_of
    from pytest_recsys_mt.report.ending import finish

    results = results_of(reported.tests)
    carrying_ids = [report.nodeid for report in carrying]
    without_result = lost([*collected, *carrying_ids], results)
    if not is_wanted and not without_result:
        _remove_begun_record(config)
        return
    again = config.stash[state.AGAIN]
    record = finish(
        config,
        settings,
        carrying,
        results,
        config.stash[state.STARTED],
        baselines=config.stash[state.BASELINE],
        incomplete=_why_partial(session, reported, without_result),
        again=again,
        left_out=config.stash.get(state.LEFT_OUT, 0),
        junit_failure=junit_failure,
    )
    config.stash[state.RECORD] = record
    passed = record.document()["gate"]["status"] == "passed" and not record.unwritten
    if not passed and session.exitstatus in _SUCCESSES:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _why_partial(
    session: pytest.Session,
    reported: Reported,
    without_result: Sequence[str],
) -> list[str]:
    from pytest_recsys_mt.report.attempts import missing

    missed = missing(session, reported.uncollected)
    loaded = session.config.stash[state.LOADED]
    data = session.config.stash[state.SETTINGS].data_named
    return [*missed, *without_result, *other_rows(data, loaded)]


def other_rows(data: str, loaded: Mapping[str, str]) -> Iterator[str]:
    """Why results of workers do not belong together: one loaded other rows.

    Args:
        data: The data as they are named.
        loaded: The digest of what each worker loaded, by the worker.
    """
    if len(set(loaded.values())) > 1:
        workers = [f"{name} those of {loaded[name][:12]}" for name in sorted(loaded)]
        yield (
            f"the workers loaded other rows of {data!r}: {', '.join(workers)} by their digests; each process loads the data "
            f"itself, so make them the same in each, as with a fixed seed or from a file, or run without -n"
        )


def _remove_begun_record(config: pytest.Config) -> None:
    """Remove the file of `begun_record`: an option of the ini file writes a record only
    where something was judged.
    """
    path = config.invocation_params.dir / (config.stash[state.SETTINGS].json or "")
    if never_ended(path):
        path.unlink()


def report_end(session: pytest.Session, run: Run) -> None:
    """Check whether answers changed during the run, and count the calls that no test
    has counted.

    Such calls come, for example, from an interrupted test. A worker reports to the
    controller.
    """
    from pytest_recsys_mt.engine import run_facts

    config = session.config
    on_worker = hasattr(config, "workerinput")
    if on_worker and (digest := run_facts.loaded_digest(run)):
        config.workeroutput[state.DATA_KEY] = digest  # type: ignore[attr-defined]
    drifts = []
    planted = []
    run.causes.end()
    was_stopped = session.shouldstop or session.shouldfail
    ran_all = not was_stopped and session.exitstatus in (0, 1)
    try:
        if ran_all:
            with _captured(config):
                drifts = run_facts.drifts(run)
                planted = run_facts.planted(run, probes=True)
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    run.keep_rest()
    found: Again = {
        "drifts": drifts,
        **run.drain(),
        "notes": [*run.notes, *run.recommenders.notes],
        "planted": planted or run_facts.planted(run, probes=False),
        "lists": run_facts.lists(run),
        "groups": run_facts.groups(run),
        "varying": run_facts.varying(run),
    }
    if not any(found.values()):
        return
    if on_worker:
        config.workeroutput[state.AGAIN_KEY] = found  # type: ignore[attr-defined]
    else:
        config.stash[state.AGAIN].append(found)


@contextmanager
def _captured(config: pytest.Config) -> Iterator[None]:
    """Keep the output of a recommender off the terminal, as during
    a test, unless the user wants it (``-s``).
    """
    manager: Any = config.pluginmanager.getplugin("capturemanager")
    if manager is None or not manager.is_globally_capturing():
        yield
        return
    manager.resume_global_capture()
    try:
        yield
    finally:
        manager.suspend_global_capture(in_=False)
        manager.read_global_capture()  # drops the captured output


def _is_requested(config: pytest.Config) -> bool:
    """Whether the user wants a report on recommenders, whatever was collected.

    Options in the ini file apply to every command, so they do not count: a run of other
    tests gets no report.
    """
    switches = {option.switch for option in every_option() if option.asks_report}
    for argument in config.invocation_params.args:
        switch, _, _ = str(argument).partition("=")
        if switch in switches:
            return True
    return False
