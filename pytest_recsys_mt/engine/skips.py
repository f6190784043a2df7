"""Skips that the plugin decides, so that reports can
distinguish them from those that a user wrote.
"""

import os

import pytest

OUTCOMES = (pytest.skip.Exception, pytest.xfail.Exception, pytest.fail.Exception)
"""The exceptions that end a test, and are no `Exception`."""

LONGEST = 1000
"""Most characters of a reason that are shown."""


class SkippedByVerdict(pytest.skip.Exception):  # type: ignore[name-defined,misc]
    """The test ended because of a verdict that may skip."""


class DoesNotApply(SkippedByVerdict):
    """The test does not apply to the recommender, or lacks an
    option. Reports fold such tests by reason.
    """


def show_at_test(
    report: pytest.TestReport,
    item: pytest.Item,
    skip: SkippedByVerdict,
) -> None:
    """Report a skip at the user's test rather than in the
    plugin's code, in pytest's own form.
    """
    path, line, _ = item.reportinfo()
    if isinstance(report.longrepr, tuple):
        report.longrepr = (os.fspath(path), (line or 0) + 1, f"Skipped: {skip.msg}")
