"""``--recsys-list``: every selected relation with what it promises and what it needs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest

from pytest_recsys_mt.metamorphic import MARK, name_of
from pytest_recsys_mt.report.promises import promised_by


def list_relations(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Write the relations of the collected tests, each once, in the order of collection."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    tests: dict[str, list[str]] = {}
    found: dict[str, object] = {}
    for item in items:
        if item.get_closest_marker(MARK) is None:
            continue
        transformation = getattr(item, "callspec").params["followup"]  # noqa: B009 - not typed
        name = name_of(transformation)
        found[name] = transformation
        tests.setdefault(name, []).append(item.nodeid.partition("[")[0])
    reporter.write_line("")
    for name, transformation in found.items():
        needs = ", ".join(sorted(getattr(transformation, "needs", ()))) or "nothing"
        reporter.write_line(f"{name}  (needs {needs})", bold=True)
        for line in textwrap.wrap(promised_by(transformation) or "no promise given", 74):
            reporter.write_line(f"    {line}")
        for test in dict.fromkeys(tests[name]):
            reporter.write_line(f"    in {test}")
    reporter.write_line(f"{len(found)} relations")
