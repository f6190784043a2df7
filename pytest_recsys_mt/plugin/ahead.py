"""Begins the tests of a recommender before pytest comes to them, so that they ask together.

Output, warnings, logs and the state of random generators are captured, and replayed in the test.
"""

import contextlib
import inspect
import io
import logging.handlers
import random
import sys
import time
import unittest
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.schedule import CAN_PARK, Body, FirstLook, Part, Schedule
from pytest_recsys_mt.engine.skips import OUTCOMES
from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.plugin import items
from pytest_recsys_mt.plugin.state import (
    BEGUN,
    RUNNING_TEST,
    Begun,
    asks_now,
    is_shipped,
    new_running_test,
)

AHEAD = "recsys_ahead"
"""The mark of a test whose body may begin before the test."""

ONCE = "recsys_once"
"""The mark of a test whose body does not, though `AHEAD` is wanted for those around it."""

SLOW = (
    "without greenlet each test waits for its own answers, one after another; pip install greenlet"
)
"""The note of a run in which bodies cannot be parked."""


def ask_ahead(item: pytest.Function, running: RunningTest, run: Run) -> float:
    """Begin the bodies that run ahead, and ask what they wait for, all together.

    They begin when the first of them comes. For a metamorphic test whose body does not run ahead, the questions to its
    first users are asked: beside those of all tests of its recommender for which pytest sets up the same fixtures, when
    the first of them comes. So what one test has set up is not there while another one asks.

    An error here is reported by the test that needs the answer.

    Args:
        item: The test whose body is about to run.
        running: That test.
        run: The run.

    Returns:
        The seconds it took.
    """
    key = items.recommender_of(item)
    if running.recsys is None or key is None:
        return 0.0
    subject = running.recsys.runner.subject
    surroundings = items.surroundings_of(item)
    looks = run.begins((key, surroundings))
    wants = _is_waited_for(item, subject) and not _has_begun(item) and _runs_ahead(item, run)
    # Each worker would ask again for answers that only this process has. A recommender that reads
    # no prompt and stores nothing runs in this process anyway: a larger batch gains nothing.
    on_worker = hasattr(item.config, "workerinput")
    kept = subject.durable or (subject.reads_text and not on_worker)
    if not (looks or wants) or not kept or run.settings.mode == "replay":
        return 0.0
    if wants and not CAN_PARK and SLOW not in run.notes:
        run.notes.append(SLOW)
    began = time.perf_counter()
    # The first tests of the session may be another worker's, which has not asked for them yet.
    first = 0 if on_worker else item.session.items.index(item)
    alone = run.once((key, surroundings)) if on_worker else contextlib.nullcontext(True)
    with time_limit(item, counts=False), contextlib.suppress(RecsysError):
        parts: list[Part] = []
        for other in item.session.items[first:]:
            if not isinstance(other, pytest.Function) or items.recommender_of(other) != key:
                continue
            if is_skipped(other) or _has_begun(other):
                continue
            if wants and CAN_PARK and _runs_ahead(other, run):
                parts += _begun(other, running, run)
            elif looks and items.surroundings_of(other) == surroundings:
                parts += _looked_at(other, running, run)
        with run.progress.doing(f"for {len(parts)} tests"), alone as is_first:
            if is_first:
                Schedule(run.executor, parts).run()
    asks_now(item, run)
    return time.perf_counter() - began


def end_begun(session: pytest.Session) -> None:
    """End the bodies whose tests did not come."""
    for item in session.items:
        begun = item.stash.get(BEGUN, None)
        if begun is not None and begun.body is not None:
            begun.body.close()


@contextlib.contextmanager
def takes_begun(item: pytest.Function) -> Iterator[None]:
    """Within it, the body of a test that has begun already goes on in place of another run."""
    begun = item.stash.get(BEGUN, None)
    if begun is not None:
        del item.stash[BEGUN]
    if begun is None or begun.running is not item.stash[RUNNING_TEST]:
        yield
        return
    if begun.body is None:
        begun.apart.hand_over()
        yield
        return
    body, apart, function = begun.body, begun.apart, item.obj
    begun.running.beforehand = apart.seconds

    def go_on(**_: object) -> object:
        __tracebackhide__ = True
        apart.hand_over()
        apart.draw_on()
        body.finish()
        if body.raised is not None:
            raise body.raised
        return body.returned

    item.obj = go_on
    try:
        yield
    finally:
        item.obj = function


def _has_begun(item: pytest.Item) -> bool:
    begun = item.stash.get(BEGUN, None)
    return begun is not None and begun.body is not None


def _begun(item: pytest.Function, current: RunningTest, run: Run) -> list[Part]:
    begun = item.stash.get(BEGUN, None) or _new(item, current, run)
    transformation = begun.running.transformation
    if begun.recsys.lacks(transformation):
        return []
    given: dict[str, Any] = {**items.parameters_of(item), "recsys": begun.recsys}

    def run_it() -> object:
        if transformation is not None:
            given.update(zip(("source", "followup"), begun.running.both_sides(), strict=True))
        # A method gets an instance of its own, as from pytest.
        function: Any = item.obj if item.cls is None else getattr(item.cls(), item.originalname)
        return function(**{name: given[name] for name in inspect.signature(function).parameters})

    begun.body = Body(run_it, begun.apart)
    return [begun.body]


def _looked_at(item: pytest.Function, current: RunningTest, run: Run) -> list[Part]:
    if not items.asks_two_sides(item):
        return []
    # What a transformation raises here, it raises again in its own test.
    with contextlib.suppress(Exception, *OUTCOMES):
        begun = _new(item, current, run)
        recsys = begun.recsys
        with begun.apart():
            if not recsys.design.refits and not recsys.lacks(begun.running.transformation):
                source, followup = begun.running.both_sides()
                return [FirstLook(recsys.runner.subject, source.first_calls(followup))]
    return []


def _new(item: pytest.Function, current: RunningTest, run: Run) -> Begun:
    assert current.recsys is not None
    running = current
    if item.stash.get(RUNNING_TEST, None) is not current:
        running = new_running_test(item)
        running.model = current.model
        running.recsys = current.recsys.like(
            items.design_of(item, run.settings.design), running.report
        )
    assert running.recsys is not None
    item.stash[BEGUN] = Begun(running, running.recsys, Apart(item, run))
    return item.stash[BEGUN]


def _is_waited_for(item: pytest.Function, subject: Subject) -> bool:
    """Whether bodies begin before their tests: many answers are waited for, and all tests will run. A recommender that
    always answers alike may be found not to, which every later test must take into account. A worker does not know
    which tests it will run. Who traces code wants to see it run in its order.
    """
    option = item.config.option
    in_order = option.maxfail or any(
        getattr(option, n, False) for n in ("usepdb", "trace", "stepwise")
    )
    return (
        subject.waits
        and not subject.deterministic
        and not in_order
        and not hasattr(item.config, "workerinput")
        and sys.gettrace() is None
    )


def _runs_ahead(item: pytest.Function, run: Run) -> bool:
    """Whether the body of a test runs ahead: it asks for it, and needs nothing that pytest sets up for it."""
    if not _asks_for_it(item, run) or is_skipped(item) or items.is_drawn(item):
        return False
    plain = items.plain_parameters(item)
    return (
        not items.own_fixtures(item)
        and set(inspect.signature(item.obj).parameters) <= {"recsys"} | plain
        and item.get_closest_marker("filterwarnings") is None
        and not inspect.iscoroutinefunction(item.obj)
        and not (item.cls is not None and issubclass(item.cls, unittest.TestCase))
    )


def _asks_for_it(item: pytest.Function, run: Run) -> bool:
    """By the closest of its marks; else if it is of a shipped suite, or if the ini file says so of all tests."""
    for mark in item.iter_markers():
        if mark.name in (AHEAD, ONCE):
            return mark.name == AHEAD
    return is_shipped(item) or run.settings.ahead


def is_skipped(item: pytest.Item) -> bool:
    """Whether a mark may keep pytest from running a test."""
    return any(
        mark.name in ("skip", "skipif")
        or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in item.iter_markers()
    )


class Apart:
    """Surrounds all users' code that runs for a test before it, and hands over what was said.

    Args:
        item: The test.
        run: The run.

    Attributes:
        seconds: The time that the stretches took.
    """

    def __init__(self, item: pytest.Item, run: Run) -> None:
        self.seconds = 0.0
        self._item = item
        self._run = run
        self._out, self._err = (
            io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
            for _ in range(2)
        )
        self._warned: list[warnings.WarningMessage] = []
        self._log = logging.handlers.BufferingHandler(sys.maxsize)
        self._drawn: tuple[Any, Any] | None = None

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        began = time.perf_counter()
        asks_now(self._item, self._run)
        outside, handlers = _draws(), logging.root.handlers
        _draw_as(self._drawn or outside)
        logging.root.handlers = [self._log]
        with (
            time_limit(self._item, counts=True),
            contextlib.redirect_stdout(self._out),
            contextlib.redirect_stderr(self._err),
            warnings.catch_warnings(record=True) as warned,
        ):
            try:
                yield
            finally:
                self._drawn = _draws()
                _draw_as(outside)
                # A handler that the body added stays, as it would in its test.
                added = [each for each in logging.root.handlers if each is not self._log]
                logging.root.handlers = handlers + added
                self._warned += warned
                self.seconds += time.perf_counter() - began

    def hand_over(self) -> None:
        """Replay in the test what was captured before it."""
        for kept, stream in ((self._out, sys.stdout), (self._err, sys.stderr)):
            kept.flush()
            stream.write(kept.buffer.getvalue().decode("utf-8", "replace"))
        for record in self._log.buffer:
            logging.root.callHandlers(record)
        for each in self._warned:
            warnings.warn_explicit(
                each.message, each.category, each.filename, each.lineno, source=each.source
            )

    def draw_on(self) -> None:
        """Go on drawing where the body stopped."""
        if self._drawn is not None:
            _draw_as(self._drawn)


@contextlib.contextmanager
def time_limit(item: pytest.Item, *, counts: bool) -> Iterator[None]:
    """Within it, the limit that pytest-timeout has for a test counts, or does not and then begins anew."""
    plugin = item.config.pluginmanager.getplugin("timeout")
    settings_of = getattr(plugin, "_get_item_settings", None)
    settings = None if settings_of is None else settings_of(item)
    if settings is None or (settings.timeout or 0) <= 0:
        yield
        return

    def count(on: bool) -> None:
        if on:
            item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
        else:
            item.ihook.pytest_timeout_cancel_timer(item=item)

    count(counts)
    try:
        yield
    finally:
        count(not counts)


def _draws() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()


def _draw_as(state: tuple[Any, Any]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])
