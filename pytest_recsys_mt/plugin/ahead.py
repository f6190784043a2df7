"""Begins the tests of a recommender before pytest comes to them, so that they ask together.

What the body of such a test says, warns of, logs and draws before its test is kept for the test.
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
from typing import Any, cast

import numpy as np
import pytest

from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.schedule import CAN_PARK, Body, FirstLook, Part, Schedule
from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.plugin import items
from pytest_recsys_mt.plugin.state import BEGUN, RUNNING_TEST, Begun, asks_now, new_running_test

ONCE = "recsys_once"
"""The mark of a test whose body must not begin before the test."""

SLOW = (
    "without greenlet each test waits for its own answers, one after another; pip install greenlet"
)
"""The note of a run in which bodies cannot be parked."""

_KNOWN = frozenset({"recsys", "recsys_model", "recommender", "request", "pytestconfig"})
"""Fixtures of a test that may begin before pytest comes to it; its body may take `recsys` alone of them."""

_BY_ITSELF = frozenset(
    {"threading", "multiprocessing", "concurrent", "asyncio", "subprocess", "signal", "ctypes", "breakpoint", "set_trace"}
)  # fmt: skip
"""Names in a body that may go on while it is parked, or that want the terminal."""


def ask_ahead(item: pytest.Function, running: RunningTest, run: Run) -> float:
    """Begin the tests that can begin now, and ask what they wait for, all together.

    The bodies of a module begin in their order. A test with fixtures of its own runs in its own time; if it is
    metamorphic, the questions to its first users are asked before the first test of its recommender.

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
    first, begins = run.begins(key), _is_waited_for(item, subject) and _may_begin(item)
    # Each worker would ask again for answers that only this process has. A recommender that reads
    # no prompt and stores nothing runs in this process anyway: a larger batch gains nothing.
    on_worker = hasattr(item.config, "workerinput")
    kept = subject.durable or (subject.reads_text and not on_worker)
    if not (first or begins) or not kept or run.settings.mode == "replay":
        return 0.0
    if first and subject.waits and not CAN_PARK:
        run.notes.append(SLOW)
    began = time.perf_counter()
    parts: list[Part] = []
    late = set()  # modules of which a test must run before the next begins
    all_items = cast("list[pytest.Function]", item.session.items)
    # The first tests of the session may be another worker's, which has not begun them yet.
    for other in all_items[0 if on_worker else all_items.index(item) :]:
        begun = other.stash.get(BEGUN, None)
        if begun is not None and begun.body is not None:
            continue
        ours = isinstance(other, pytest.Function) and items.recommender_of(other) == key
        if ours and begins and other.path not in late and _may_begin(other):
            parts += _begun(other, running, run)
        elif not is_skipped(other):
            late.add(other.path)
            if ours and first and items.asks_two_sides(other):
                parts += _looked_at(other, running, run)
    alone = run.once(key) if on_worker else contextlib.nullcontext(True)
    with (
        time_limit(item, counts=False),
        contextlib.suppress(RecsysError),
        run.progress.doing(f"for {len(parts)} tests"),
        alone as is_first,
    ):
        if is_first:
            Schedule(run.executor, parts).run()
    asks_now(item, run)
    return time.perf_counter() - began


def end_begun(session: pytest.Session) -> None:
    """End the bodies whose tests did not come."""
    for item in session.items:
        begun = item.stash.get(BEGUN, None)
        if begun is not None and begun.body is not None:
            begun.body[0].close()


@contextlib.contextmanager
def takes_begun(item: pytest.Function) -> Iterator[None]:
    """Within it, the body of a test that has begun already goes on in place of another run."""
    begun = item.stash.get(BEGUN, None)
    if begun is not None:
        del item.stash[BEGUN]
    if begun is None or begun.body is None:
        yield
        return
    (body, apart), function = begun.body, item.obj
    begun.running.beforehand = apart.seconds

    def go_on(**_: object) -> object:
        __tracebackhide__ = True
        apart.hand_over()
        body.finish()
        if body.raised is not None:
            raise body.raised
        return body.returned

    item.obj = go_on
    try:
        yield
    finally:
        item.obj = function


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

    apart = Apart(item, run)
    begun.body = Body(run_it, apart), apart
    return [begun.body[0]]


def _looked_at(item: pytest.Function, current: RunningTest, run: Run) -> list[Part]:
    asks_now(item, run)
    with contextlib.suppress(Exception):
        begun = _new(item, current, run)
        recsys = begun.recsys
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
    item.stash[BEGUN] = Begun(running, running.recsys)
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
        and CAN_PARK
        and sys.gettrace() is None
    )


def _may_begin(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function) or is_skipped(item) or items.is_drawn(item):
        return False
    plain, marks = items.plain_parameters(item), {mark.name for mark in item.iter_markers()}
    return (
        items.fixtures_of(item) <= _KNOWN | plain
        and set(inspect.signature(item.obj).parameters) <= {"recsys"} | plain
        and not marks & {ONCE, "filterwarnings"}
        and not inspect.iscoroutinefunction(item.obj)
        and not (item.cls is not None and issubclass(item.cls, unittest.TestCase))
        and not items.names_in(item.obj) & _BY_ITSELF
    )


def is_skipped(item: pytest.Item) -> bool:
    """Whether a mark may keep pytest from running a test."""
    return any(
        mark.name in ("skip", "skipif")
        or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in item.iter_markers()
    )


class Apart:
    """Surrounds every stretch of a body that runs before its test, and hands over what it kept.

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
        """Say within the test what was said before it, and go on drawing where the body stopped."""
        for kept, stream in ((self._out, sys.stdout), (self._err, sys.stderr)):
            kept.flush()
            stream.write(kept.buffer.getvalue().decode("utf-8", "replace"))
        for record in self._log.buffer:
            logging.root.callHandlers(record)
        if self._drawn is not None:
            _draw_as(self._drawn)
        for each in self._warned:
            warnings.warn_explicit(
                each.message, each.category, each.filename, each.lineno, source=each.source
            )


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
