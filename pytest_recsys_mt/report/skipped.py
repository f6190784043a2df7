"""Where pytest shows a test that was skipped because of a verdict."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pytest_recsys_mt.engine.skips import DoesNotApply


def at_its_test(report: Any, item: pytest.Item, skip: pytest.skip.Exception) -> None:
    """Report a skip at the user's test rather than in the plugin's code, and say why it was skipped."""
    path, line, _ = item.reportinfo()
    if isinstance(report.longrepr, tuple):
        report.longrepr = (os.fspath(path), (line or 0) + 1, report.longrepr[2])
    report.recsys_mt["does_not_apply"] = isinstance(skip, DoesNotApply)
