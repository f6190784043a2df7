"""The hooks of a test that runs: its answers, its verdicts, its report."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt.engine.skips import (
    LONGEST,
    DoesNotApply,
    SkippedByVerdict,
    show_at_test,
)
from pytest_recsys_mt.plugin import collection, state
from pytest_recsys_mt.plugin.ahead import send_ahead, takes_begun
from pytest_recsys_mt.plugin.items import time_limit
from pytest_recsys_mt.plugin.reports import safe
from pytest_recsys_mt.safety.errors import (
    NotApplicable,
    OwnCodeError,
    RecsysError,
    UnreachableError,
)
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.ledger import RunningTest
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.engine.run import Run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin a test without verdicts.

    A plugin may run a failed test again; then the verdicts of the earlier attempt are
    dropped.
    """
    run = item.config.stash.get(state.RUN, None)
    if state.RUNNING_TEST in item.stash:
        del item.stash[state.RUNNING_TEST]
    elif run is not None:
        run.recommenders.begin()
    if run is not None:
        state.sends_now(item, run)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Free the requests and the answers of a test once its last attempt is reported.

    They take most of the memory of a run, and each full garbage collection would go
    through those of all earlier tests.
    """
    try:
        return (yield)
    finally:
        if state.RUNNING_TEST in item.stash:
            del item.stash[state.RUNNING_TEST]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object],
) -> Generator[None, object, object]:
    """Skip a test if a fixture of the user raises that
    something does not apply, as if the test did.
    """
    try:
        return (yield)
    except NotApplicable as error:
        reason = one_line(str(error)[:LONGEST]) or "no reason given"
        outcome: BaseException = DoesNotApply(reason)
    except UnreachableError as error:
        text = f"{type(error).__name__}: {redact(str(error))}"
        outcome = pytest.fail.Exception(text, pytrace=False)
    # A fixture of several tests is set up for the first alone: for the others, pytest
    # raises the exception that it keeps here.
    if fixturedef.cached_result is not None:
        _, key, _ = fixturedef.cached_result
        fixturedef.cached_result = (None, key, (outcome, None))
    raise outcome from None


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Give a metamorphic test its answers, and check every test against
    its verdicts.
    """
    running = pyfuncitem.stash.get(state.RUNNING_TEST, None)
    if running is None or running.recsys is None:
        return (yield)
    __tracebackhide__ = True
    settings = pyfuncitem.config.stash[state.SETTINGS]
    running.require_what_it_needs()
    if not settings.plan:
        _send_before(pyfuncitem, running, running.recsys)
    if running.transformation is not None:
        source, followup = running.both_sides()
        pyfuncitem.funcargs.update(source=source, followup=followup)
    if settings.plan:
        return (yield)
    try:
        is_begun = state.BEGUN in pyfuncitem.stash
        taking = takes_begun(pyfuncitem) if is_begun else nullcontext()
        with running.held_to_verdicts(), taking:
            return (yield)
    finally:
        if running.to_shrink:
            from pytest_recsys_mt.plugin.shrinking import shrink

            progress = pyfuncitem.config.stash[state.PROGRESS]
            with progress.doing("looking for the smallest example"):
                shrink(pyfuncitem, running, settings)


def _send_before(item: pytest.Function, running: RunningTest, recsys: Recsys) -> None:
    """Send the requests that come before the body of a test:
    those of earlier examples, and of other tests.
    """
    __tracebackhide__ = True
    run = item.config.stash[state.RUN]
    earlier: Any = item.config.pluginmanager.getplugin(state.EARLIER)
    if earlier is not None:
        with time_limit(item, counts=False):
            earlier.replay(item, recsys, run)
    if _may_send_ahead(item, recsys, run):
        running.ahead = send_ahead(item, running, run)


def _may_send_ahead(item: pytest.Function, recsys: Recsys, run: Run) -> bool:
    """Whether answers that come before their test are there for it."""
    # Each worker would send requests again whose answers only this process has. A
    # recommender that reads no prompt and stores nothing runs in this process anyway: a
    # larger batch gains nothing.
    subject = recsys.runner.subject
    on_worker = hasattr(item.config, "workerinput")
    answers_are_kept = subject.durable or (subject.reads_text and not on_worker)
    return answers_are_kept and run.settings.mode != "replay"


@pytest.hookimpl(tryfirst=True)
def pytest_warning_recorded(warning_message: warnings.WarningMessage) -> None:
    """Make a warning safe for the terminal: its text may be a server's."""
    message = warning_message.message
    if not isinstance(message, Warning):
        return
    message.args = safe(message.args)
    text = str(message)
    safe_text = safe(text)
    if (
        safe_text != text
    ):  # a class of warnings may make its text of other attributes than `args`
        warning_message.message = UserWarning(safe_text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the rows and the calls to the test report,
    which travels to the controller.
    """
    report = yield
    if call.excinfo is not None:
        _shorten_traceback(report, item, call)
    asks_recommender = state.RUNNING_TEST in item.stash or collection.sends_requests(
        item
    )
    if asks_recommender and report.when == "setup" and report.passed:
        _forget_earlier_attempt(item)
    if asks_recommender:
        for name in _SHOWN_PARTS & vars(report).keys():
            setattr(report, name, safe(getattr(report, name)))
    is_outcome = report.when == "call" or (report.when == "setup" and not report.passed)
    is_planned = item.config.stash[state.SETTINGS].plan  # a plan reports no test
    if asks_recommender and is_outcome and not is_planned:
        _attach_results(report, item, call)
    return report


def _forget_earlier_attempt(item: pytest.Item) -> None:
    """Let the attempt that begins print its evidence in full, as
    the earlier one of a rerun is not printed.
    """
    if getattr(item, "execution_count", 1) > 1:  # set by pytest-rerunfailures
        from pytest_recsys_mt.report.short_failures import SHOWN, forget

        forget(item.config.stash.get(SHOWN, {}), item.nodeid)


_SHOWN_PARTS = frozenset({"longrepr", "sections", "user_properties", "wasxfail"})
"""The attributes of a test report whose texts pytest or another plugin prints."""


def _shorten_traceback(
    report: pytest.TestReport,
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> None:
    """Leave the lines of this plugin out of the traceback of a test that raised."""
    assert call.excinfo is not None
    raised = call.excinfo.value
    if isinstance(raised, OwnCodeError):
        # Drop the plugin's own lines; those of the user's code are reported below, once
        # a run.
        report.longrepr = call.excinfo.getrepr(style="value", chain=False)
    elif (
        isinstance(raised, RecsysError)
        and item.config.getoption("tbstyle", "auto") == "auto"
    ):
        from pytest_recsys_mt.report.short_failures import without_our_lines

        report.longrepr = without_our_lines(call.excinfo)
    if isinstance(raised, AssertionError) and call.when == "call":
        from pytest_recsys_mt.report.short_failures import short_traceback

        running = item.stash.get(state.RUNNING_TEST, None)
        verdicts = () if running is None else running.verdicts
        report.longrepr = (
            short_traceback(call.excinfo, item, verdicts) or report.longrepr
        )
    if isinstance(raised, SkippedByVerdict):
        show_at_test(report, item, raised)


def _attach_results(
    report: pytest.TestReport,
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> None:
    """Attach the results of a test to its report, for the
    controller and for the reports of other plugins.
    """
    from pytest_recsys_mt.plugin.reproduce import command
    from pytest_recsys_mt.plugin.shrinking import explain
    from pytest_recsys_mt.report.other_reporters import add_verdicts
    from pytest_recsys_mt.report.sections import attach
    from pytest_recsys_mt.report.short_failures import SHOWN

    settings = item.config.stash[state.SETTINGS]
    running = state.running_test_of(item)
    # The time that the body took before its test counts; the time in which it sent
    # requests of other tests does not.
    report.duration += running.beforehand - running.ahead
    attach(
        report,
        item,
        running,
        settings,
        item.config.stash.get(state.RUN, None),
        reproduce=partial(command, item, settings),
        explain=partial(explain, running, settings),
        shown=item.config.stash.setdefault(SHOWN, {}),
    )
    add_verdicts(report, item.config, running.verdicts)
    does_not_apply = call.excinfo is not None and isinstance(
        call.excinfo.value,
        DoesNotApply,
    )
    report.recsys_mt["does_not_apply"] = does_not_apply


@pytest.hookimpl(optionalhook=True)
def pytest_json_runtest_metadata(
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> dict[str, Any]:
    """Give pytest-json-report the verdicts of a test."""
    if call.when != "call" or state.RUNNING_TEST not in item.stash:
        return {}
    from pytest_recsys_mt.report.other_reporters import metadata_of

    return metadata_of(item.stash[state.RUNNING_TEST].verdicts)
