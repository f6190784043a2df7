"""A pytest plugin of the runs that `recsys-mt mutate` starts: writes the outcome of every test to a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

FILE = "RECSYS_MT_OUTCOMES"
"""Environment variable with the file."""

_OUTCOMES = pytest.StashKey[dict[str, str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no outcome; workers report to the controller."""
    if not hasattr(config, "workerinput"):
        config.stash[_OUTCOMES] = {}
        config.pluginmanager.register(_Listener(config.stash[_OUTCOMES]))


class _Listener:
    def __init__(self, outcomes: dict[str, str]) -> None:
        self._outcomes = outcomes

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of the phases of a test's last attempt."""
        if report.when == "setup":
            self._outcomes[report.nodeid] = ""
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        counts = report.when == "call" or outcome != "passed"
        if counts and self._outcomes.get(report.nodeid) != "failed":
            self._outcomes[report.nodeid] = outcome

    def pytest_sessionfinish(self) -> None:
        """Write them."""
        path = os.environ.get(FILE)
        if path:
            Path(path).write_text(json.dumps(self._outcomes), encoding="utf-8")
