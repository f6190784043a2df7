"""Begins the tests of a recommender before pytest comes to them, so that their requests
are sent together (`pytest_recsys_mt.plugin.begun`).
"""

from __future__ import annotations

import inspect
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.plugin import items
from pytest_recsys_mt.plugin.state import BEGUN, RUNNING_TEST, is_shipped, sends_now
from pytest_recsys_mt.safety.errors import RecsysError

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.subject import Subject
    from pytest_recsys_mt.engine.ledger import RunningTest
    from pytest_recsys_mt.engine.run import Run
    from pytest_recsys_mt.engine.schedule import Part

AHEAD = "recsys_ahead"
"""The mark of a test whose body may begin before the test."""

ONCE = "recsys_once"
"""The mark of a test whose body does not, though `AHEAD` is wanted for
those around it.
"""

SLOW = "without greenlet each test waits for its own answers, one after another; pip install greenlet"
"""The note of a run in which bodies cannot be parked."""


def send_ahead(item: pytest.Function, running: RunningTest, run: Run) -> float:
    """Begin the bodies that run ahead, and send the requests that they wait for, all
    together.

    They begin when the first of them comes. For a metamorphic test whose body does not
    run ahead, the requests for its first users are sent: together with those of all
    tests of its recommender for which pytest sets up the same fixtures, when the first
    of them comes. So no request is sent while something is set up that belongs to
    another test.

    An error here is reported by the test that needs the answer.

    Args:
        item: The test whose body is about to run.
        running: That test.
        run: The run.

    Returns:
        The seconds it took.
    """
    recommender = items.recommender_of(item)
    if running.recsys is None or recommender is None:
        return 0.0
    subject = running.recsys.runner.subject
    surroundings = items.surroundings_of(item)
    sends_first_looks = run.begins((recommender, surroundings))
    begins_bodies = _begins_bodies(item, subject, run)
    on_worker = hasattr(item.config, "workerinput")
    if not sends_first_looks and not begins_bodies:
        return 0.0
    # Most tests send nothing ahead, and need neither greenlet nor numpy's generators.
    from pytest_recsys_mt.engine.schedule import CAN_PARK, Schedule
    from pytest_recsys_mt.plugin.begun import begun_body, first_look

    if begins_bodies and not CAN_PARK and SLOW not in run.notes:
        run.notes.append(SLOW)
    began = time.perf_counter()
    # All workers would send the same requests, so one of them does, and the others
    # wait.
    only_one: AbstractContextManager[bool] = nullcontext(True)
    if on_worker:
        only_one = run.once((recommender, surroundings))
    with items.time_limit(item, counts=False), suppress(RecsysError):
        parts: list[Part] = []
        for other in _tests_of(recommender, item):
            if begins_bodies and CAN_PARK and _runs_ahead(other, run):
                parts += begun_body(other, running, run)
            elif sends_first_looks and items.surroundings_of(other) == surroundings:
                parts += first_look(other, running, run)
        with run.progress.doing(f"for {len(parts)} tests"), only_one as is_first:
            if is_first:
                Schedule(run.executor, parts).run()
    sends_now(item, run)
    return time.perf_counter() - began


def _begins_bodies(item: pytest.Function, subject: Subject, run: Run) -> bool:
    """Whether a test is the first one whose body runs ahead,
    so that those of the others begin too.
    """
    return (
        _is_waited_for(item, subject)
        and not _has_begun(item)
        and _runs_ahead(item, run)
    )


def _tests_of(
    recommender: items.Given,
    item: pytest.Function,
) -> Iterator[pytest.Function]:
    """The tests of a recommender that pytest will run
    from now on and that have not begun.
    """
    # On a worker all tests of the session: the first of them may be another worker's,
    # which has not come to them yet.
    on_worker = hasattr(item.config, "workerinput")
    first = 0 if on_worker else item.session.items.index(item)
    for other in item.session.items[first:]:
        if (
            not isinstance(other, pytest.Function)
            or items.recommender_of(other) != recommender
        ):
            continue
        if not items.is_skipped(other) and not _has_begun(other):
            yield other


def end_begun(session: pytest.Session) -> None:
    """End the bodies whose tests did not come."""
    for item in session.items:
        begun = item.stash.get(BEGUN, None)
        if begun is not None and begun.body is not None:
            begun.body.close()


@contextmanager
def takes_begun(item: pytest.Function) -> Iterator[None]:
    """Within it, the body of a test that has begun
    already goes on in place of another run.
    """
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
    body = begun.body
    apart = begun.apart
    function = item.obj
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


def _is_waited_for(item: pytest.Function, subject: Subject) -> bool:
    """Whether bodies begin before their tests: many answers
    are waited for, and all tests will run.
    """
    if not subject.waits:
        return False
    # It may turn out not to answer alike, which every later test must take into
    # account.
    if subject.deterministic:
        return False
    option = item.config.option
    if option.maxfail or getattr(option, "stepwise", False):  # later tests may not run
        return False
    # Users who trace or debug code want to see it run in its order.
    if (
        sys.gettrace() is not None
        or getattr(option, "usepdb", False)
        or getattr(option, "trace", False)
    ):
        return False
    # A worker does not know which tests it will run.
    return not hasattr(item.config, "workerinput")


def _runs_ahead(item: pytest.Function, run: Run) -> bool:
    """Whether the body of a test runs ahead: it is marked for it, and
    needs nothing that pytest sets up for it.
    """
    if not _is_marked(item, run) or items.is_skipped(item) or items.is_drawn(item):
        return False
    if (
        items.own_fixtures(item)
        or item.get_closest_marker("filterwarnings") is not None
    ):
        return False
    if inspect.iscoroutinefunction(item.obj):
        return False
    if item.cls is not None and issubclass(item.cls, unittest.TestCase):
        return False
    available = {"recsys"} | items.plain_parameters(item)
    return set(inspect.signature(item.obj).parameters) <= available


def _is_marked(item: pytest.Function, run: Run) -> bool:
    """Whether a test is marked to run ahead.

    The closest of its marks says so; without one, tests of shipped suites do, and all
    tests if the ini file says so.
    """
    for mark in item.iter_markers():
        if mark.name in (AHEAD, ONCE):
            return mark.name == AHEAD
    return is_shipped(item) or run.settings.ahead
