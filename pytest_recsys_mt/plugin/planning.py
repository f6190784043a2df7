"""Connects pytest and the plan: ``--recsys-plan``."""

import gc
import inspect
import json
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_recsys_mt.calls.answer import describe_failure
from pytest_recsys_mt.engine.plan import Plan
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.source import Branches
from pytest_recsys_mt.errors import DataError, NotApplicable
from pytest_recsys_mt.plugin.items import fixtures_of, is_drawn, names_in, suite_of
from pytest_recsys_mt.plugin.preflight import named
from pytest_recsys_mt.plugin.state import running_test_of
from pytest_recsys_mt.safety.files import written_or
from pytest_recsys_mt.safety.sanitize import Safe

OWN = "pytest_recsys_mt."


class Planning:
    """A pytest plugin that runs the selected tests on made-up answers, and reports no outcome."""

    def __init__(self, run: Run) -> None:
        self.plan: Plan = run.plan
        self.unplanned: dict[str, str] = {}  # by a test's id, why not all its calls are known
        self._run = run
        self._batch = run.settings.batch

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
        gc.freeze()  # spares the collector, which so many made-up answers call, what is imported by now
        usual = gc.get_threshold()
        gc.set_threshold(50_000, 20, 50)  # their requests stay, so that there is little to collect
        try:
            for item, following in zip_longest(session.items, session.items[1:]):
                self.plan.begin(item.nodeid, suite_of(item))
                with self._run.progress.doing(f"planning {item.name}"):
                    wrong = _run(item, following)
                if wrong is not None:
                    self.unplanned[item.nodeid] = _reason(wrong)
        finally:  # Ctrl-C, too
            gc.set_threshold(*usual)
            gc.unfreeze()
        self.plan.begin()
        self._run.drifts()
        self.plan.calibrate()
        print_plan(session.config, self.plan, self.unplanned, self._run.settings)
        if self._batch is not None:
            self._write_batch(session.config, self._batch)
        path = self._run.settings.json
        if path is not None:
            sums = json.dumps({"schema": "recsys-mt-plan/1", **self.plan.sums()})
            file = session.config.invocation_params.dir / path
            with named("json", str(path)), written_or(DataError, file, 0o644) as stream:
                stream.write(sums + "\n")
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run the body of a test on made-up answers; both ways, if it branches on a verdict."""
        running, nodeid = running_test_of(pyfuncitem), pyfuncitem.nodeid
        if inspect.iscoroutinefunction(pyfuncitem.obj):
            return None  # pytest says what is missing
        if _asks_itself(pyfuncitem):
            self.unplanned[nodeid] = "asks the recommender itself, not through recsys"
            return True
        if "recsys_judge" in fixtures_of(pyfuncitem):
            self.plan.bounded[nodeid] = "which questions a judge gets depends on answers"
        if is_drawn(pyfuncitem):
            self.plan.bounded[nodeid] = "@given draws what it asks; more if an example fails"
            self._run_drawn(pyfuncitem)
            return True
        for way in (True, False):
            branches = running.branches = Branches(way)
            try:
                self._run_body(pyfuncitem)
            except NotApplicable as reason:
                pytest.skip(str(reason))
            except Exception as error:  # noqa: BLE001 - it was given made-up answers
                if way:
                    self.unplanned[nodeid] = (
                        f"its body ended on made-up answers, so calls after that are not counted "
                        f"({describe_failure(error)})"
                    )
            if not branches.met:
                break
            self.plan.bounded[nodeid] = "what it asks depends on a verdict"
            if running.recsys is not None:
                running.recsys.rewind()
        if running.recsys is not None and (most := running.recsys.runner.settings.shrink):
            running.recsys.runner.planned_again(most * len(running.verdicts), "smallest examples")
        return True

    def _run_body(self, item: pytest.Function) -> None:
        names = getattr(item, "_fixtureinfo").argnames  # noqa: B009 - pytest's own way
        item.obj(**{name: item.funcargs[name] for name in names})

    def _run_drawn(self, item: pytest.Function) -> None:
        from hypothesis.errors import HypothesisException

        handle: Any = item.obj.hypothesis
        body, most = handle.inner_test, 0
        examples = item.obj._hypothesis_internal_use_settings.max_examples

        def example(*arguments: Any, **given: Any) -> None:
            nonlocal most
            before = self.plan.total
            try:
                body(*arguments, **given)
            except HypothesisException:
                raise
            except Exception:  # noqa: BLE001, S110 - what it finds was made up
                pass
            most = max(most, self.plan.total - before)

        handle.inner_test = example
        try:
            self._run_body(item)
        finally:
            handle.inner_test = body
        self.plan.at_least(most * examples)

    def _write_batch(self, config: pytest.Config, path: Path) -> None:
        from pytest_recsys_mt.calls.batch_files import calls_file, write_batch

        planned = self.plan.to_make()
        with named("batch", str(path)):
            files = write_batch(path, planned)
        reporter = Safe(config.pluginmanager.get_plugin("terminalreporter"))
        count = sum(len(pairs) for pairs in planned.values())
        reporter.write_line(
            f"{count:,} calls written to {', '.join(map(str, files)) or 'no file'}; their content "
            f"to {calls_file(path)}"
        )
        if files:
            reporter.write_line(
                f"when the batch is done: recsys-mt batch import OUTPUT --batch {path}"
            )


def _asks_itself(item: pytest.Function) -> bool:
    info = getattr(item, "_fixtureinfo")  # noqa: B009 - pytest has no public access to it
    if "recommender" in info.argnames or "getfixturevalue" in names_in(item.obj):
        return True
    return any(
        "recommender" in known[-1].argnames and not known[-1].func.__module__.startswith(OWN)
        for name, known in info.name2fixturedefs.items()
        if name != "recommender"
    )


def _run(item: pytest.Item, following: pytest.Item | None) -> pytest.TestReport | None:
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
    if isinstance(report.longrepr, tuple):
        return f"skipped: {report.longrepr[2].removeprefix('Skipped: ')}"
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else crash.message
    lines = text.strip().splitlines() or ["no reason given"]
    return f"cannot be planned: {lines[0]}"
