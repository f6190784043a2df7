"""Reports: terminal, JSON record, HTML, JUnit."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.report.junit import annotate
from pytest_recsys_mt.report.record import Record
from pytest_recsys_mt.settings import Settings


def finish(
    config: pytest.Config, settings: Settings, reports: Iterable[Any], started: float
) -> Record:
    """Gather what the test reports carry, and write the files that were asked for.

    Args:
        config: Of the run.
        settings: Of the run.
        reports: Of the tests that used a recommender.
        started: When the run began, in Unix seconds.
    """
    record = Record(settings, version("pytest-recsys-mt"), started)
    for report in reports:
        carried = report.recsys_mt
        record.add(carried["rows"], carried["calls"], carried["planned"], carried["data_digest"])
    if settings.json is not None:
        record.write(settings.json)
    junit = config.getoption("xmlpath", None)
    if junit is not None:
        annotate(Path(junit), record.rows, config)
    if settings.html is not None:
        from pytest_recsys_mt.report.html import write_report

        write_report(record.document(), settings.html)
    return record


__all__ = ["Record", "finish"]
