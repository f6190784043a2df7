"""The hooks of a test that runs: its answers, its verdicts, its report."""

import warnings
from collections.abc import Generator
from functools import partial
from typing import Any

import pytest

from pytest_recsys_mt.engine.skips import LONGEST, DoesNotApply, SkippedByVerdict, show_at_test
from pytest_recsys_mt.errors import NotApplicable, OwnCodeError
from pytest_recsys_mt.plugin import collection, state
from pytest_recsys_mt.plugin.reports import safe
from pytest_recsys_mt.safety.sanitize import one_line


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start afresh: plugins may run a failed test again, which forgets the verdicts of the earlier attempt."""
    run = item.config.stash.get(state.RUN, None)
    if state.RUNNING_TEST in item.stash:
        del item.stash[state.RUNNING_TEST]
    elif run is not None:
        run.roster.begin()
    if run is not None:
        state.asks_now(item, run)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    """A fixture of the user's says, as a test does, that something does not apply."""
    try:
        return (yield)
    except NotApplicable as reason:
        raise DoesNotApply(one_line(str(reason)[:LONGEST]) or "no reason given") from None


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Give a metamorphic test its answers, and check every test against its verdicts."""
    running = pyfuncitem.stash.get(state.RUNNING_TEST, None)
    if running is None or running.recsys is None:
        return (yield)
    __tracebackhide__ = True
    from pytest_recsys_mt.plugin.ahead import ask_ahead, takes_begun, time_limit

    settings = pyfuncitem.config.stash[state.SETTINGS]
    running.require_what_it_needs()
    if not settings.plan:
        run = state.run_of(pyfuncitem.config)
        earlier: Any = pyfuncitem.config.pluginmanager.getplugin(state.EARLIER)
        if earlier is not None:
            with time_limit(pyfuncitem, counts=False):
                earlier.replay(pyfuncitem, running.recsys, run)
        running.ahead = ask_ahead(pyfuncitem, running, run)
    if running.transformation is not None:
        source, followup = running.both_sides()
        pyfuncitem.funcargs.update(source=source, followup=followup)
    if settings.plan:
        return (yield)
    try:
        with running.held_to_verdicts(), takes_begun(pyfuncitem):
            return (yield)
    finally:
        if running.to_shrink:
            from pytest_recsys_mt.plugin.shrinking import shrink

            with pyfuncitem.config.stash[state.PROGRESS].doing("looking for the smallest example"):
                shrink(pyfuncitem, running, settings)


@pytest.hookimpl(tryfirst=True)
def pytest_warning_recorded(warning_message: warnings.WarningMessage) -> None:
    """Make a warning safe for the terminal: its text may be a server's."""
    message = warning_message.message
    if not isinstance(message, Warning):
        return
    message.args = safe(message.args)
    told = str(message)
    if (text := safe(told)) != told:  # a class of its own may write what it keeps elsewhere
        warning_message.message = UserWarning(text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the rows and the calls to the test report, which travels to the controller."""
    report = yield
    raised = None if call.excinfo is None else call.excinfo.value
    if call.excinfo is not None and isinstance(raised, OwnCodeError):
        # Drop the plugin's own lines; those of the user's code are reported below, once a run.
        report.longrepr = call.excinfo.getrepr(style="value", chain=False)
    if call.excinfo is not None and isinstance(raised, AssertionError) and call.when == "call":
        from pytest_recsys_mt.report.short_failures import short_traceback

        verdicts = state.running_test_of(item).verdicts if state.RUNNING_TEST in item.stash else ()
        report.longrepr = short_traceback(call.excinfo, item, verdicts) or report.longrepr
    if isinstance(raised, SkippedByVerdict):
        show_at_test(report, item, raised)
    if state.RUNNING_TEST in item.stash or collection.asks(item):
        for name in {"longrepr", "sections", "user_properties", "wasxfail"} & vars(report).keys():
            setattr(report, name, safe(getattr(report, name)))
    settled = (report.when != "call" and report.passed) or report.when == "teardown"
    if settled or item.config.stash[state.SETTINGS].plan:  # which reports no test
        return report
    if state.RUNNING_TEST in item.stash or collection.asks(item):
        from pytest_recsys_mt.plugin.reproduce import command
        from pytest_recsys_mt.plugin.shrinking import explain
        from pytest_recsys_mt.report.other_reporters import tell
        from pytest_recsys_mt.report.sections import attach
        from pytest_recsys_mt.report.short_failures import SHOWN

        settings, run = item.config.stash[state.SETTINGS], item.config.stash.get(state.RUN, None)
        running = state.running_test_of(item)
        report.duration += running.beforehand - running.ahead
        again = partial(command, item, settings)
        attach(
            report,
            item,
            running,
            settings,
            run,
            again,
            partial(explain, running, settings),
            item.config.stash.setdefault(SHOWN, {}),
        )
        tell(report, item.config, running.verdicts)
        report.recsys_mt["does_not_apply"] = isinstance(raised, DoesNotApply)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_json_runtest_metadata(item: pytest.Item, call: pytest.CallInfo[None]) -> dict[str, Any]:
    """Give pytest-json-report the verdicts of a test."""
    if call.when != "call" or state.RUNNING_TEST not in item.stash:
        return {}
    from pytest_recsys_mt.report.other_reporters import metadata_of

    return metadata_of(item.stash[state.RUNNING_TEST].verdicts)
