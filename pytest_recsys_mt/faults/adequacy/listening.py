"""A pytest plugin of the runs that `recsys-mt mutate` starts:
says how each test ended, and leaves some out.
"""

import json
import os
from pathlib import Path

import pytest

FILE = "RECSYS_MT_OUTCOMES"
"""Environment variable with the file for the outcome of every test."""
PASSED = "RECSYS_MT_PASSED"
"""Environment variable with such a file of an earlier run: only the tests that held
then, or in part, are run.
"""

PARTLY = "partly"
"""The outcome of a test that is inconclusive without a
fault, though some of its promises held.
"""


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no outcome; workers report to the controller."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Listener())


def pytest_collection_modifyitems(
    config: pytest.Config,
    items: list[pytest.Item],
) -> None:
    """Leave out tests that held in no part without a fault: they
    find none, and ``-x`` would stop at them.
    """
    if path := os.environ.get(PASSED):
        outcomes = json.loads(Path(path).read_text(encoding="utf-8"))
        passed = [item for item in items if outcomes.get(item.nodeid) == "passed"]
        # These come last, because one of them may fail, and end the run, though it
        # finds nothing.
        partly = [item for item in items if outcomes.get(item.nodeid) == PARTLY]
        left_out = [
            item
            for item in items
            if outcomes.get(item.nodeid) not in ("passed", PARTLY)
        ]
        items[:] = passed + partly
        config.hook.pytest_deselected(items=left_out)


class _Listener:
    def __init__(self) -> None:
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of the phases of a test's last attempt."""
        if report.when == "setup":
            self._outcomes[report.nodeid] = ""
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        counts = report.when == "call" or outcome != "passed"
        if counts and self._outcomes.get(report.nodeid) != "failed":
            self._outcomes[report.nodeid] = outcome

    def pytest_sessionfinish(self) -> None:
        if path := os.environ.get(FILE):
            Path(path).write_text(json.dumps(self._outcomes), encoding="utf-8")
