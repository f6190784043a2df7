"""Tests that begin before pytest comes to them: their bodies, or the requests for their
first users.

The output, warnings and logs of the body of such a test before its test are kept for
the test, as is the state of its random generators (`pytest_recsys_mt.plugin.apart`).
"""

import inspect
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.schedule import Body, FirstLook, Part
from pytest_recsys_mt.engine.skips import OUTCOMES
from pytest_recsys_mt.plugin import items
from pytest_recsys_mt.plugin.apart import Apart
from pytest_recsys_mt.plugin.state import (
    BEGUN,
    RUNNING_TEST,
    Begun,
    new_running_test,
    sends_now,
)


def begun_body(item: pytest.Function, current: RunningTest, run: Run) -> list[Part]:
    """The body of a test as a part of a schedule; none if the
    recommender lacks an ability that it needs.
    """
    begun = item.stash.get(BEGUN, None) or _new(item, current, run)
    transformation = begun.running.transformation
    if begun.recsys.lacks(transformation):
        return []
    arguments: dict[str, Any] = {**items.parameters_of(item), "recsys": begun.recsys}

    def run_body() -> object:
        if transformation is not None:
            source, followup = begun.running.both_sides()
            arguments.update(source=source, followup=followup)
        function: Any = item.obj
        if item.cls is not None:  # a method gets an instance of its own, as from pytest
            function = getattr(item.cls(), item.originalname)
        names = inspect.signature(function).parameters
        return function(**{name: arguments[name] for name in names})

    begun.body = Body(run_body, begun.apart)
    return [begun.body]


def first_look(item: pytest.Function, current: RunningTest, run: Run) -> list[Part]:
    """The first requests of a metamorphic test as a part of a schedule; none if they
    are not known beforehand.
    """
    if not items.sends_two_sides(item):
        return []
    # An exception of a transformation here is raised again in its own test.
    with suppress(Exception, *OUTCOMES):
        begun = _new(item, current, run)
        recsys = begun.recsys
        with begun.apart():
            if recsys.design.refits or recsys.lacks(begun.running.transformation):
                return []
            source, followup = begun.running.both_sides()
            return [FirstLook(recsys.runner.subject, source.first_calls(followup))]
    return []


def _new(item: pytest.Function, current: RunningTest, run: Run) -> Begun:
    """Begin a test of the recommender of the test that is
    about to run, or that test itself.
    """
    assert current.recsys is not None
    running = current
    if item.stash.get(RUNNING_TEST, None) is not current:
        design = items.design_of(item, run.settings.design)
        running = new_running_test(item)
        running.model = current.model
        running.recsys = current.recsys.like(design, running.report)
    assert running.recsys is not None
    begun = Begun(running, running.recsys, Apart(item, partial(sends_now, item, run)))
    item.stash[BEGUN] = begun
    return begun
