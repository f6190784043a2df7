"""Asks ahead: what all tests of a recommender will ask, before the first of them runs."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import random
import time
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import numpy as np
import pytest

from pytest_recsys_mt.calls.executor import Waiting
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.engine.rehearsal import Body, Rehearsal
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.plugin.items import (
    asks_two_sides,
    design_of,
    fixtures_of,
    is_drawn,
    recommender_of,
)
from pytest_recsys_mt.plugin.state import REHEARSED, asks_now

ONCE = "recsys_once"
"""The mark of a test whose body must not run twice."""

_KNOWN = frozenset({"recsys", "recsys_model", "recommender", "request", "pytestconfig"})
"""Fixtures of a test whose body can be run before the test; it may take `recsys` alone of them."""


def ask_ahead(item: pytest.Function, running: RunningTest, run: Run) -> float:
    """Ask what all selected tests of a recommender wait for, before the first of them runs.

    An error here is reported by the test that needs the answer.

    Args:
        item: The first test of the recommender whose body is about to run.
        running: That test.
        run: The run.

    Returns:
        The seconds it took.
    """
    key = recommender_of(item)
    if running.recsys is None or key is None or not run.begins(key):
        return 0.0
    recsys, subject = running.recsys, running.recsys.runner.subject
    # Each worker would ask again for answers that only this process has. A recommender that reads
    # no prompt and stores nothing runs in this process anyway: a larger batch gains nothing.
    on_worker = hasattr(item.config, "workerinput")
    if not subject.durable and (on_worker or not subject.reads_text):
        return 0.0
    if run.settings.mode == "replay":
        return 0.0
    began = time.perf_counter()
    option = item.config.option
    in_a_row = option.maxfail or getattr(option, "usepdb", False)
    bodies: list[Body] = []
    for other in item.session.items:
        if not isinstance(other, pytest.Function) or recommender_of(other) != key:
            continue
        if _may_skip(other) or is_drawn(other):
            continue
        if subject.waits and _runs_twice(other) and not in_a_row:
            bodies.append(_rehearsed(other, recsys, run))
        elif asks_two_sides(other):
            bodies.append(_first_look(other, recsys, run))
    alone = run.once(key) if on_worker else contextlib.nullcontext(True)
    with contextlib.suppress(RecsysError), run.roster.unchanged(), alone as first:
        if first:
            Rehearsal(run.executor, bodies).run()
    asks_now(item, run)
    return time.perf_counter() - began


def _rehearsed(item: pytest.Function, recsys: Recsys, run: Run) -> Body:
    """Runs the body of a test, with verdicts that nobody sees."""
    parameters: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    transformation = parameters.get("followup") if asks_two_sides(item) else None

    def body() -> None:
        if "text" in getattr(transformation, "needs", ()) and not recsys.reads_text:
            return
        own = _own(item, recsys, run)
        given = {**parameters, "recsys": own}
        if transformation is not None:
            given |= {"source": own.run(), "followup": own.run(transformation)}
        function = _function(item)
        wanted = inspect.signature(function).parameters
        _quietly(lambda: function(**{name: given[name] for name in wanted}))

    return body


def _first_look(item: pytest.Function, recsys: Recsys, run: Run) -> Body:
    """Asks the first users of a metamorphic test, without its body."""

    def body() -> None:
        def look() -> None:
            transformation = getattr(item, "callspec").params["followup"]  # noqa: B009 - not typed
            if "text" in getattr(transformation, "needs", ()) and not recsys.reads_text:
                return
            own = _own(item, recsys, run)
            first = own.run().first_calls(own.run(transformation))
            run.executor.execute(own.runner.subject, first)

        _quietly(look)

    return body


def _own(item: pytest.Item, recsys: Recsys, run: Run) -> Recsys:
    """The recommender under the design of a test, which gets it later, with all that was read."""
    asks_now(item, run)
    if REHEARSED not in item.stash:
        item.stash[REHEARSED] = recsys.unheard(design_of(item, run.settings.design))
    item.stash[REHEARSED].rewind()
    return item.stash[REHEARSED]


def _runs_twice(item: pytest.Function) -> bool:
    """Whether the body of a test depends on nothing but the recommender and its plain parameters."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    parameters: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    plain = {
        name
        for name in parameters
        if not known.get(name) or known[name][-1].func.__module__.startswith("_pytest.")
    }
    takes = set(inspect.signature(item.obj).parameters)
    return (
        item.get_closest_marker(ONCE) is None
        and fixtures_of(item) <= _KNOWN | plain
        and takes <= {"recsys"} | plain
        and not inspect.iscoroutinefunction(item.obj)
        and not (item.cls is not None and issubclass(item.cls, unittest.TestCase))
    )


def _function(item: pytest.Function) -> Callable[..., object]:
    """The test function, of a fresh instance if it is a method."""
    if item.cls is None:
        return cast("Callable[..., object]", item.obj)
    function: Callable[..., object] = getattr(item.cls(), item.originalname)
    return function


def _quietly(body: Callable[[], object]) -> None:
    """Run a body; what it raises, warns, logs, prints and draws is its test's to show.

    Raises:
        Waiting: If answers are missing.
    """
    with _as_before():
        try:
            body()
        except (Waiting, KeyboardInterrupt):
            raise
        except BaseException:  # noqa: BLE001, S110 - also pytest's outcomes
            pass


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """Nothing that a body does to this process stays."""
    drawn, numbers, level = random.getstate(), np.random.get_state(), logging.root.manager.disable
    logging.disable()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(level)
            random.setstate(drawn)
            np.random.set_state(numbers)


def _may_skip(item: pytest.Item) -> bool:
    marks: Iterator[pytest.Mark] = item.iter_markers()
    return any(
        mark.name in ("skip", "skipif")
        or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in marks
    )
