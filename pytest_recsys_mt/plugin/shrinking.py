"""Whether the smallest example of a violation is looked for, and for how long."""

import contextlib
import io
import math
import time
from typing import Any

import pytest

from pytest_recsys_mt.calls.failures import Failure
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.engine.shrinking import smallest_raising
from pytest_recsys_mt.plugin.state import EARLIER
from pytest_recsys_mt.report.raising import how_to_ask
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import sanitize

CALLS = 200
"""Calls for each violation, unless the user says how many."""

SECONDS = 5.0
"""Time for each failing test then: an answer may take a second."""

SECONDS_OF_A_RUN = 60.0
"""Time for all tests of a process then."""

SPENT: pytest.StashKey[float] = pytest.StashKey()
"""Seconds that this process has spent on searches of which the user did not say how long."""


def shrink(item: pytest.Function, running: RunningTest, settings: Settings) -> None:
    """Look for the smallest examples of a test's violations.

    Unless the user says how many calls to spend, only a recommender of this process is asked, as that
    costs nothing, and only while it takes little time.
    """
    if settings.shrink == 0:
        running.unsearched = True
        return
    limit, seconds = settings.shrink, math.inf
    stash = item.config.stash
    if limit is None:
        left = SECONDS_OF_A_RUN - stash.get(SPENT, 0.0)
        expected = item.get_closest_marker("xfail") is not None
        at_hand = running.recsys is not None and running.recsys.runner.at_hand
        if left <= 0 or expected or not at_hand:
            running.unsearched = True
            return
        limit, seconds = CALLS, min(SECONDS, left)
    began = time.monotonic()
    earlier: Any = item.config.pluginmanager.getplugin(EARLIER)
    replays = settings.mode == "replay"  # which finds what the run found that it replays
    known = () if earlier is None or replays else earlier.rows(item.nodeid)
    running.shrink(limit, seconds, known)
    took = time.monotonic() - began
    if settings.shrink is None:
        stash[SPENT] = stash.get(SPENT, 0.0) + took
    found = running.counterexamples.values()
    running.unsearched = took >= seconds or not all(each.minimal for each in found)


def explain(running: RunningTest, settings: Settings, failure: Failure) -> None:
    """Say how to ask again what users' code raised at; outside of any handler of exceptions.

    A recommender of this process is asked smaller requests, which costs nothing and is not counted.
    """
    whole = failure.request
    if failure.smallest or whole is None or running.recsys is None:
        return
    runner, smallest = running.recsys.runner, None
    if runner.subject.name != failure.model:
        return
    if settings.shrink != 0 and runner.at_hand:
        unheard = io.StringIO()  # what it prints, while pytest captures nothing
        with contextlib.redirect_stdout(unheard), contextlib.redirect_stderr(unheard):
            smallest = smallest_raising(runner.subject, failure, time.monotonic() + SECONDS)
    source = next((c.request for c in runner.cases if c.request.user == whole.user), None)
    failure.smallest = redact(sanitize("\n".join(how_to_ask(source, whole, smallest))))
