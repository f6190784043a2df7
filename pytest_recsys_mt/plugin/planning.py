"""Connects pytest and the plan: ``--recsys-plan``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.plan import Plan, PlannedTest, UnplannedTest
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.plugin.items import fixtures_of, is_drawn, suite_of


class Planning:
    """A pytest plugin that plans the selected tests instead of running them.

    It sets up fixtures as in a run, since they may give the recommender or its address. It does not
    run the body of a test.

    Args:
        run: The run.
        running_test_of: Returns the running test of an item.
    """

    def __init__(self, run: Run, running_test_of: Callable[[pytest.Item], RunningTest]) -> None:
        self.plan = Plan(run)
        self._batch = run.settings.batch
        self._running_test_of = running_test_of

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out the tests that ask no recommender."""
        others = [item for item in items if not {"recsys", "recommender"} & fixtures_of(item)]
        items[:] = [item for item in items if item not in others]
        if others:
            config.hook.pytest_deselected(items=others)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Plan every test, and print the plan."""
        from pytest_recsys_mt.report.planned import print_plan

        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        for item, following in zip_longest(session.items, session.items[1:]):
            wrong = _planned(item, following)
            if wrong is not None:
                self.plan.unplanned.append(UnplannedTest(item.nodeid, _reason(wrong)))
        print_plan(session.config, self.plan)
        if self._batch is not None:
            self._write_batch(session.config, self._batch)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        """Plan a test instead of running its body."""
        running = self._running_test_of(pyfuncitem)
        running.require_readable_text()
        note = self._unplanned(pyfuncitem, running)
        if note:
            self.plan.unplanned.append(UnplannedTest(pyfuncitem.nodeid, note))
        if (
            running.transformation is not None
            and running.recsys is not None
            and not is_drawn(pyfuncitem)
        ):
            self.plan.tests.append(
                PlannedTest(
                    pyfuncitem.nodeid, suite_of(pyfuncitem), running.recsys, running.transformation
                )
            )
        return True

    def _write_batch(self, config: pytest.Config, path: Path) -> None:
        """Write the calls as files of the Batch API."""
        from pytest_recsys_mt.calls.batch_files import calls_file, write_batch

        planned = self.plan.to_make()
        try:
            files = write_batch(path, planned)
        except RecsysError as error:
            raise pytest.UsageError(f"--recsys-batch={str(path)!r}: {error}") from error
        reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        count = sum(len(pairs) for pairs in planned.values())
        reporter.write_line(
            f"{count:,} calls written to {', '.join(map(str, files)) or 'no file'}; their content "
            f"to {calls_file(path)}"
        )
        if files:
            reporter.write_line(
                f"when the batch is done: recsys-mt batch import OUTPUT --batch {path}"
            )

    def _unplanned(self, item: pytest.Function, running: RunningTest) -> str:
        """The calls of a test that are not planned, in words; empty if all are planned."""
        if running.recsys is None:
            return "asks the recommender itself: no bound is known"
        runner = running.recsys.runner
        bound = f"at most {len(runner.cases) * runner.replicates} calls each recsys.run()"
        if is_drawn(item):
            return f"@given draws what it asks: {bound}, and as many examples as hypothesis takes"
        if "recsys_arena" in fixtures_of(item):
            from pytest_recsys_mt.arena import QUESTIONS

            return (
                f"asks in its body: {bound}, and with all other tests of the arena at most "
                f"{QUESTIONS * len(runner.cases)} questions to the judge"
            )
        if running.transformation is None:
            return f"asks in its body: {bound}"
        if "recsys" in inspect.signature(item.obj).parameters:
            return f"may ask more in its body than its two sides: {bound}"
        return ""


def _planned(item: pytest.Item, following: pytest.Item | None) -> pytest.TestReport | None:
    """Set up, plan and tear down one test, without reporting it; the first report that is not good."""

    def phase(when: Literal["setup", "call", "teardown"], **arguments: object) -> pytest.TestReport:
        hook = getattr(item.ihook, f"pytest_runtest_{when}")
        call = pytest.CallInfo[None].from_call(
            lambda: hook(item=item, **arguments), when, (pytest.exit.Exception, KeyboardInterrupt)
        )
        report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
        return report

    reports = [phase("setup")]
    if reports[0].passed:
        reports.append(phase("call"))
    reports.append(phase("teardown", nextitem=following))
    return next((each for each in reports if not each.passed), None)


def _reason(report: pytest.TestReport) -> str:
    """Why a test cannot be planned, in one line."""
    if isinstance(report.longrepr, tuple):
        return f"skipped: {report.longrepr[2].removeprefix('Skipped: ')}"
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else crash.message
    lines = text.strip().splitlines() or ["no reason given"]
    return f"cannot be planned: {lines[0]}"
