"""The hooks at the end of a run: the results of workers,
the reports that are written, and the summary.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt.plugin import state
from pytest_recsys_mt.plugin.ending import conclude, report_end
from pytest_recsys_mt.plugin.reports import Reported
from pytest_recsys_mt.safety.sanitize import Safe

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.run import Run


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take from a worker its run, its results at the end, and the
    errors in the tests.
    """
    node.config.stash[state.RUN_NAMES].add(node.workerinput["testrunuid"])
    output = getattr(node, "workeroutput", {})
    if state.AGAIN_KEY in output:
        node.config.stash[state.AGAIN].append(output.pop(state.AGAIN_KEY))
    if state.DATA_KEY in output:
        worker = node.workerinput["workerid"]
        node.config.stash[state.LOADED][worker] = output[state.DATA_KEY]
    if state.LEFT_OUT_KEY in output:
        node.config.stash[state.LEFT_OUT] = output[state.LEFT_OUT_KEY]
    problem = output.get(state.PROBLEMS_KEY)
    # All workers collect the same tests and so find the same problems: those of one are
    # enough.
    if problem is not None and not node.config.stash[state.PROBLEMS]:
        node.config.stash[state.PROBLEMS].append(problem)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Write the record, and add the facts to the JUnit file, when all
    results are in.
    """
    config = session.config
    run = config.stash.get(state.RUN, None)
    reported = config.stash.get(state.REPORTED, None)
    failure: OSError | None = None
    try:
        _end_tests(session, run, reported)
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    try:
        yield
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
    except (
        OSError
    ) as error:  # raised by pytest itself if it cannot write the JUnit file
        failure = error
    if reported is not None:
        for node in reported.nodes:  # those that ended after xdist stopped listening
            pytest_testnodedown(node, None)
    if run is not None:
        run.close()
    if not hasattr(config, "workerinput"):
        _remove_accounts(config)
    if reported is not None:  # not a worker
        with config.stash[state.PROGRESS].doing("writing the reports"):
            conclude(
                session,
                reported,
                failure if _is_of_junit(config, failure) else None,
            )
    record = config.stash.get(state.RECORD, None)
    is_failure_reported = record is not None and record.unwritten
    if failure is not None and not is_failure_reported:
        raise failure


def _is_of_junit(config: pytest.Config, failure: OSError | None) -> bool:
    """Whether a failure is that of writing the JUnit file; one
    that happens within the writing names no file.
    """
    junit = config.getoption("xmlpath", None)
    if failure is None or not junit:
        return False
    # Absolute, as a recommender may have changed the folder.
    path = config.invocation_params.dir / os.path.expanduser(os.path.expandvars(junit))
    return failure.filename is None or os.path.normpath(
        failure.filename,
    ) == os.path.normpath(path)


def _end_tests(
    session: pytest.Session,
    run: Run | None,
    reported: Reported | None,
) -> None:
    """Report the findings of this process beyond its tests; if the
    run is interrupted, end the workers.
    """
    config = session.config
    if run is not None:
        from pytest_recsys_mt.plugin.ahead import end_begun

        end_begun(session)
        report_end(session, run)
    if state.INTERRUPTIONS not in config.stash:
        return
    config.stash[
        state.INTERRUPTIONS
    ].finish()  # a Ctrl-C from here on would lose the JUnit file
    if session.exitstatus == pytest.ExitCode.INTERRUPTED and reported is not None:
        from pytest_recsys_mt.engine.drift import unreported
        from pytest_recsys_mt.plugin.interruptions import end_workers

        killed = end_workers(reported.nodes)
        if killed:
            config.stash[state.AGAIN].append(unreported(killed))


def _remove_accounts(config: pytest.Config) -> None:
    """Remove the files in which the processes of this run counted its
    calls and costs.
    """
    if not config.stash[state.RUN_NAMES]:
        return
    from pytest_recsys_mt.calls.limits import account

    for name in config.stash[state.RUN_NAMES]:
        kept = account(config.stash[state.SETTINGS].cache, name)
        with suppress(
            OSError,
        ):  # a process may have one open, which Windows then refuses to remove
            for path in kept.parent.glob(f"{kept.stem}*"):
                path.unlink(missing_ok=True)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the summary, or the errors in the tests."""
    reporter = Safe(terminalreporter)
    for problem in config.stash[state.PROBLEMS]:
        reporter.write_line(f"ERROR: {problem}", red=True)
    if state.RECORD in config.stash:
        _summarise_record(reporter, config)
    prompts = config.stash[state.SETTINGS].prompts
    if prompts is not None and prompts.note:
        reporter.write_line(prompts.note)
    if state.LEFT_OUT in config.stash:
        from pytest_recsys_mt.report.terminal import left_out_of

        effort = config.stash[state.SETTINGS].effort
        for line in left_out_of(effort, config.stash[state.LEFT_OUT]):
            reporter.write_line(line)


def _summarise_record(reporter: Safe, config: pytest.Config) -> None:
    from pytest_recsys_mt.report.terminal import summarise

    record = config.stash[state.RECORD]
    summarise(reporter, record)
    if config.stash[state.UNENDED]:
        reporter.write_line("the run before that was to write this record never ended")
    for place in record.logged:
        reporter.write_line(f"logged: {place}")
    if record.written:
        written = f"wrote {', '.join(record.written)}"
        for line in textwrap.wrap(
            written,
            80,
            subsequent_indent="    ",
            break_long_words=False,
        ):
            reporter.write_line(line)
