"""Sends the first questions of all tests of a recommender as one batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_recsys_mt.design import Design
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.plan import PlannedTest
from pytest_recsys_mt.engine.questions import interleaved
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.plugin.items import asks_two_sides, design_of, recommender_of, suite_of


def ask_ahead(item: pytest.Function, running: RunningTest, run: Run) -> None:
    """Send the first look of all selected tests of a recommender as one batch, before the first.

    An error here is reported by the test that needs the answer.

    Args:
        item: The first test of the recommender whose body is about to run.
        running: That test.
        run: The run.
    """
    key = recommender_of(item)
    if running.recsys is None or key is None or not run.begins(key):
        return
    recsys, runner = running.recsys, running.recsys.runner
    subject = runner.subject
    # Each worker would ask again for answers that only this process has. A recommender that reads
    # no prompt and stores nothing runs in this process anyway: a larger batch gains nothing.
    on_worker = hasattr(item.config, "workerinput")
    if not subject.durable and (on_worker or not subject.reads_text):
        return
    if run.settings.mode == "replay":
        return
    waiting = []
    for other in item.session.items:
        if recommender_of(other) != key or not asks_two_sides(other) or _may_skip(other):
            continue
        try:
            transformation = getattr(other, "callspec").params["followup"]  # noqa: B009 - not typed
            needs: frozenset[str] = getattr(transformation, "needs", frozenset())
            if "text" in needs and not subject.reads_text:
                continue
            own = recsys.using(**_fields(design_of(other, run.settings.design)))
            waiting += PlannedTest(other.nodeid, suite_of(other), own, transformation).first_users()
        except Exception:  # noqa: BLE001, S112 - anybody's transformation; its own test tells it
            continue
    calls = interleaved(waiting)
    try:
        if run.executor.affords(subject, calls):
            run.executor.execute(subject, calls)
    except RecsysError:
        return


def _fields(design: Design) -> dict[str, Any]:
    return {name: getattr(design, name) for name in Design.__dataclass_fields__}


def _may_skip(item: pytest.Item) -> bool:
    marks: Iterator[pytest.Mark] = item.iter_markers()
    return any(
        mark.name in ("skip", "skipif")
        or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in marks
    )
