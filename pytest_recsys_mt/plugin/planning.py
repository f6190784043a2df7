"""Connects pytest and the plan: ``--recsys-plan``."""

from __future__ import annotations

import gc
import inspect
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_recsys_mt.calls.answer import describe_failure
from pytest_recsys_mt.engine.plan import Plan
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.run_facts import drifts
from pytest_recsys_mt.engine.source import Branches
from pytest_recsys_mt.plugin.collection import sends_requests
from pytest_recsys_mt.plugin.items import fixtures_of, is_drawn, names_in, suite_of
from pytest_recsys_mt.plugin.preflight import named
from pytest_recsys_mt.plugin.state import running_test_of
from pytest_recsys_mt.safety.errors import DataError, NotApplicable
from pytest_recsys_mt.safety.files import written_or
from pytest_recsys_mt.safety.sanitize import Safe

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.ledger import RunningTest
    from pytest_recsys_mt.report.planned_papers import PlannedTest

OWN = "pytest_recsys_mt."


class Planning:
    """A pytest plugin that runs the selected tests on made-up answers, and reports no
    outcome.

    Args:
        run: The run to plan.

    Attributes:
        plan: The calls that the run would make.
        unplanned: By a test's id, why not all its calls are known.
        tests: What says which tables of papers the run fills.
    """

    def __init__(self, run: Run) -> None:
        self.plan: Plan = run.plan
        self.unplanned: dict[str, str] = {}
        self.tests: list[PlannedTest] = []
        self._run = run
        self._batch = run.settings.batch

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self,
        config: pytest.Config,
        items: list[pytest.Item],
    ) -> None:
        """Deselect the tests that send no requests."""
        asking, others = [], []
        for item in items:
            if sends_requests(item) or "recommender" in fixtures_of(item):
                asking.append(item)
            else:
                others.append(item)
        items[:] = asking
        if others:
            config.hook.pytest_deselected(items=others)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Plan every test, and print the plan."""
        from pytest_recsys_mt.report.planned import print_plan

        if (
            session.testsfailed
            and not session.config.option.continue_on_collection_errors
        ):
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        with _rare_collections():
            for item, following in zip_longest(session.items, session.items[1:]):
                self.plan.begin(item.nodeid, suite_of(item))
                with self._run.progress.doing(f"planning {item.name}"):
                    failed_phase = _run(item, following)
                if failed_phase is not None:
                    self.unplanned[item.nodeid] = _reason(failed_phase)
                self.tests.append(self._planned(item))
        self.plan.begin()  # the calls from here on belong to no test
        drifts(self._run)
        self.plan.calibrate()
        print_plan(
            session.config,
            self.plan,
            self.unplanned,
            self._run.settings,
            self.tests,
        )
        if self._batch is not None:
            self._write_batch(session.config, self._batch)
        if self._run.settings.json is not None:
            self._write_sums(session.config, self._run.settings.json)
        return True

    def _planned(self, item: pytest.Item) -> PlannedTest:
        from pytest_recsys_mt.report.planned import SKIPPED
        from pytest_recsys_mt.report.planned_papers import PlannedTest

        running = running_test_of(item)
        reason = self.unplanned.get(item.nodeid, "")
        skipped = reason.removeprefix(SKIPPED) if reason.startswith(SKIPPED) else ""
        return PlannedTest(
            item.nodeid,
            suite_of(item),
            running.model,
            tuple(running.verdicts),
            skipped,
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run the body of a test on made-up answers; both
        ways, if it branches on a verdict.
        """
        running = running_test_of(pyfuncitem)
        nodeid = pyfuncitem.nodeid
        if inspect.iscoroutinefunction(pyfuncitem.obj):
            return None  # pytest names the missing fixture
        if _calls_recommender(pyfuncitem):
            self.unplanned[nodeid] = "asks the recommender itself, not through recsys"
            return True
        if is_drawn(pyfuncitem):
            self.plan.bounded[nodeid] = (
                "@given draws what it asks; more if an example fails"
            )
            self._run_drawn(pyfuncitem)
            return True
        self._run_both_ways(pyfuncitem, running)
        if running.recsys is not None:
            runner = running.recsys.runner
            if runner.settings.shrink:
                calls = runner.settings.shrink * len(running.verdicts)
                runner.plan_again(calls, "smallest examples")
        return True

    def _run_both_ways(self, item: pytest.Function, running: RunningTest) -> None:
        """Run a body as if all verdicts held, and once more as
        if none did, if it branches on one.
        """
        for all_hold in (True, False):
            branches = Branches(all_hold)
            running.branches = branches
            try:
                self._run_body(item)
            except NotApplicable as reason:
                pytest.skip(str(reason))
            except Exception as error:  # noqa: BLE001 - it was given made-up answers
                if all_hold:  # where none holds, a body may raise on purpose
                    self.unplanned[item.nodeid] = (
                        f"its body ended on made-up answers, so calls after that are not counted "
                        f"({describe_failure(error)})"
                    )
            if not branches.met:
                break
            self.plan.bounded[item.nodeid] = "what it asks depends on a verdict"
            if running.recsys is not None:
                running.recsys.rewind()

    def _run_body(self, item: pytest.Function) -> None:
        names = getattr(item, "_fixtureinfo").argnames  # noqa: B009 - pytest's own way
        item.obj(**{name: item.funcargs[name] for name in names})

    def _run_drawn(self, item: pytest.Function) -> None:
        """Run a test of hypothesis, and plan as many examples as it
        may draw, each as large as the largest.
        """
        from hypothesis.errors import HypothesisException

        handle: Any = item.obj.hypothesis
        body = handle.inner_test
        calls_of_largest = 0

        def counted_body(*arguments: Any, **keywords: Any) -> None:
            nonlocal calls_of_largest
            calls_before = self.plan.total
            try:
                body(*arguments, **keywords)
            except HypothesisException:
                raise
            except Exception:  # noqa: BLE001, S110 - what it finds was made up
                pass
            calls_of_largest = max(calls_of_largest, self.plan.total - calls_before)

        handle.inner_test = counted_body
        try:
            self._run_body(item)
        finally:
            handle.inner_test = body
        most_examples = item.obj._hypothesis_internal_use_settings.max_examples
        self.plan.at_least(calls_of_largest * most_examples)

    def _write_sums(self, config: pytest.Config, path: Path) -> None:
        """Write the plan's sums to the file of ``--recsys-json``."""
        sums = json.dumps({"schema": "recsys-mt-plan/1", **self.plan.sums()})
        absolute = config.invocation_params.dir / path
        with named("json", str(path)), written_or(DataError, absolute, 0o644) as stream:
            stream.write(sums + "\n")

    def _write_batch(self, config: pytest.Config, path: Path) -> None:
        from pytest_recsys_mt.calls.batch_files import calls_file, write_batch

        planned = self.plan.to_make()
        with named("batch", str(path)):
            files = write_batch(path, planned)
        reporter = Safe(config.pluginmanager.get_plugin("terminalreporter"))
        call_count = sum(len(calls) for calls in planned.values())
        file_names = ", ".join(str(file) for file in files) or "no file"
        reporter.write_line(
            f"{call_count:,} calls written to {file_names}; their content to {calls_file(path)}",
        )
        if files:
            reporter.write_line(
                f"when the batch is done: recsys-mt batch import OUTPUT --batch {path}",
            )


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Run the garbage collector rarely: the many requests and
    made-up answers of a plan stay until its end.
    """
    gc.freeze()  # the collector need not look at modules that are imported by now
    usual_threshold = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual_threshold)
        gc.unfreeze()


def _calls_recommender(item: pytest.Function) -> bool:
    """Whether a test, or a fixture of the user's that it may
    use, calls the recommender directly.
    """
    info = getattr(item, "_fixtureinfo")  # noqa: B009 - pytest has no public access to it
    if "recommender" in info.argnames or "getfixturevalue" in names_in(item.obj):
        return True
    for name, definitions in info.name2fixturedefs.items():
        closest = definitions[-1]
        is_users = name != "recommender" and not closest.func.__module__.startswith(OWN)
        if is_users and "recommender" in closest.argnames:
            return True
    return False


def _run(item: pytest.Item, following: pytest.Item | None) -> pytest.TestReport | None:
    """Run a test without reporting it; returns the report of
    the first phase that did not pass, if any.
    """

    def phase(
        when: Literal["setup", "call", "teardown"],
        **arguments: object,
    ) -> pytest.TestReport:
        hook = getattr(item.ihook, f"pytest_runtest_{when}")
        call = pytest.CallInfo[None].from_call(
            lambda: hook(item=item, **arguments),
            when,
            (pytest.exit.Exception, KeyboardInterrupt),
        )
        report: pytest.TestReport = item.ihook.pytest_runtest_makereport(
            item=item,
            call=call,
        )
        return report

    reports = [phase("setup")]
    if reports[0].passed:
        reports.append(phase("call"))
    reports.append(phase("teardown", nextitem=following))
    not_passed = [report for report in reports if not report.passed]
    return not_passed[0] if not_passed else None


def _reason(report: pytest.TestReport) -> str:
    """Why a test cannot be planned, from the report of the phase that did not pass."""
    if isinstance(report.longrepr, tuple):  # of a file, a line and a reason
        reason = report.longrepr[2].removeprefix("Skipped: ")
        return f"skipped: {reason}"
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else crash.message
    lines = text.strip().splitlines() or ["no reason given"]
    return f"cannot be planned: {lines[0]}"
