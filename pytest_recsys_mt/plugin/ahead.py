"""Asks ahead: what all tests of a recommender will ask, before the first of them runs."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import random
import signal
import threading
import time
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
    is_drawn,
    recommender_of,
)
from pytest_recsys_mt.plugin.repeatable import is_repeatable
from pytest_recsys_mt.plugin.state import REHEARSED, asks_now

LONGEST = 30.0
"""Seconds that a body may take ahead of its test, without its waits for answers, before it is left to the
test."""


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
        if design_of(
            other, run.settings.design
        ).refits:  # each asks fits of its own, one batch each
            continue
        if subject.waits and not in_a_row and is_repeatable(other):
            bodies.append(_rehearsed(other, recsys, run))
        elif asks_two_sides(other):
            bodies.append(_first_look(other, recsys, run))
    alone = run.once(key) if on_worker else contextlib.nullcontext(True)
    with (
        contextlib.suppress(RecsysError),
        run.roster.unchanged(),
        run.progress.doing(f"for {len(bodies)} tests"),
        alone as first,
        _no_alarm(),
    ):
        if first:
            Rehearsal(run.executor, bodies).run()
    asks_now(item, run)
    return time.perf_counter() - began


def _rehearsed(item: pytest.Function, recsys: Recsys, run: Run) -> Body:
    """Runs the body of a test, with verdicts that nobody sees."""
    parameters: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    transformation = parameters.get("followup") if asks_two_sides(item) else None

    def body() -> None:
        if not _is_for(transformation, recsys):
            return
        own = _own(item, recsys, run)
        given = {**parameters, "recsys": own}
        if transformation is not None:
            given |= {"source": own.run(), "followup": own.run(transformation)}
        function = _function(item)
        wanted = inspect.signature(function).parameters
        with contextlib.suppress(_TooLongError), patience:
            _quietly(lambda: function(**{name: given[name] for name in wanted}))

    patience = _Patience(LONGEST)
    return body


def _first_look(item: pytest.Function, recsys: Recsys, run: Run) -> Body:
    """Asks the first users of a metamorphic test, without its body."""

    def body() -> None:
        def look() -> None:
            transformation = getattr(item, "callspec").params["followup"]  # noqa: B009 - not typed
            if not _is_for(transformation, recsys):
                return
            own = _own(item, recsys, run)
            first = own.run().first_calls(own.run(transformation))
            run.executor.execute(own.runner.subject, first)

        _quietly(look)

    return body


def _is_for(transformation: object, recsys: Recsys) -> bool:
    """Whether the recommender has what a relation needs of it; else its test is skipped."""
    needs = getattr(transformation, "needs", ())
    promised = getattr(transformation, "promised", "")
    kept = not promised or promised in recsys.promises
    fits = "fit" not in needs or not recsys.unfit
    return kept and fits and ("text" not in needs or recsys.reads_text)


def _own(item: pytest.Item, recsys: Recsys, run: Run) -> Recsys:
    """The recommender under the design of a test, which gets it later, with all that was read."""
    asks_now(item, run)
    if REHEARSED not in item.stash:
        item.stash[REHEARSED] = recsys.unheard(design_of(item, run.settings.design))
    item.stash[REHEARSED].rewind()
    return item.stash[REHEARSED]


def _function(item: pytest.Function) -> Callable[..., object]:
    """The test function, of a fresh instance if it is a method."""
    if item.cls is None:
        return cast("Callable[..., object]", item.obj)
    function: Callable[..., object] = getattr(item.cls(), item.originalname)
    return function


class _TooLongError(BaseException):
    """A body took too long ahead of its test. Not an `Exception`: bodies catch those."""


class _Patience:
    """Ends a body that waits for something else than answers, such as an earlier test.

    Where the system has no alarms, or outside the main thread, it waits as long as the body does.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def __enter__(self) -> None:
        if self._left <= 0:
            raise _TooLongError
        self._began = time.perf_counter()
        if _has_alarms():
            signal.setitimer(signal.ITIMER_REAL, self._left)

    def __exit__(self, *error: object) -> None:
        if _has_alarms():
            signal.setitimer(signal.ITIMER_REAL, 0)
        self._left -= time.perf_counter() - self._began


@contextlib.contextmanager
def _no_alarm() -> Iterator[None]:
    """A limit of time that another plugin has set for the first test does not count here."""
    if not _has_alarms():
        yield
        return

    def too_long(*_: object) -> None:
        raise _TooLongError

    left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, too_long)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left, interval)


def _has_alarms() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _quietly(body: Callable[[], object]) -> None:
    """Run a body; what it raises, warns, logs, prints and draws is its test's to show.

    Raises:
        Waiting: If answers are missing.
    """
    with as_before():
        try:
            body()
        except (Waiting, KeyboardInterrupt):
            raise
        except BaseException:  # noqa: BLE001, S110 - also pytest's outcomes
            pass


@contextlib.contextmanager
def as_before() -> Iterator[None]:
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
