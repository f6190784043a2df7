"""Whether the smallest example of a violation is looked for, and for how long."""

import contextlib
import io
import math
import time
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_recsys_mt.calls.failures import Failure
from pytest_recsys_mt.engine.ledger import RunningTest
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.engine.shrinking import smallest_raising
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.plugin.state import EARLIER
from pytest_recsys_mt.report.raising import how_to_send
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import sanitize

CALLS = 200
"""Calls for each violation, unless the user says how many."""

SECONDS = 5.0
"""Time for each failing test then: an answer may take a second."""

SECONDS_OF_A_RUN = 60.0
"""Time for all tests of a process then."""

SPENT: pytest.StashKey[float] = pytest.StashKey()
"""Seconds that this process has spent on searches of
which the user did not say how long.
"""


def shrink(item: pytest.Function, running: RunningTest, settings: Settings) -> None:
    """Look for the smallest examples of a test's violations.

    Unless the user says how many calls to spend, only a recommender of this process
    gets requests, as that costs nothing, and only while it takes little time.

    Args:
        item: The test.
        running: Its verdicts. It gets the examples, and `unsearched` if smaller ones
            may exist.
        settings: The settings of the run.
    """
    limits = _limits(item, running, settings)
    if limits is None:
        running.unsearched = True
        return
    calls, seconds = limits
    began = time.monotonic()
    earlier: Any = item.config.pluginmanager.getplugin(EARLIER)
    earlier_rows: Sequence[Row] = ()
    # A replay must find the same examples as the run that it replays, which did not
    # know of its own.
    if earlier is not None and settings.mode != "replay":
        earlier_rows = earlier.rows(item.nodeid)
    running.shrink(calls, seconds, earlier_rows)
    took = time.monotonic() - began
    if settings.shrink is None:
        stash = item.config.stash
        stash[SPENT] = stash.get(SPENT, 0.0) + took
    all_minimal = all(example.minimal for example in running.counterexamples.values())
    running.unsearched = took >= seconds or not all_minimal


def _limits(
    item: pytest.Function,
    running: RunningTest,
    settings: Settings,
) -> tuple[int, float] | None:
    """The calls and seconds that a search may take; None if there is to be none."""
    if settings.shrink == 0:
        return None
    if settings.shrink is not None:
        return settings.shrink, math.inf
    seconds_left = SECONDS_OF_A_RUN - item.config.stash.get(SPENT, 0.0)
    is_expected = item.get_closest_marker("xfail") is not None
    at_hand = running.recsys is not None and running.recsys.runner.at_hand
    if seconds_left <= 0 or is_expected or not at_hand:
        return None
    return CALLS, min(SECONDS, seconds_left)


def explain(running: RunningTest, settings: Settings, failure: Failure) -> None:
    """Add to a failure of users' code how to send the request that made it raise;
    outside of any handler of exceptions.

    A recommender of this process gets smaller requests too, which costs nothing and is
    not counted.

    Args:
        running: The test that failed.
        settings: The settings of the run.
        failure: The exception of users' code. Its `smallest` is set.
    """
    request = failure.request
    if failure.smallest or request is None or running.recsys is None:
        return
    runner = running.recsys.runner
    if runner.subject.name != failure.model:
        return
    smallest = None
    if settings.shrink != 0 and runner.at_hand:
        discarded = io.StringIO()  # its output: pytest captures nothing at this time
        with (
            contextlib.redirect_stdout(discarded),
            contextlib.redirect_stderr(discarded),
        ):
            smallest = smallest_raising(
                runner.subject,
                failure,
                time.monotonic() + SECONDS,
            )
    source = None
    for case in runner.cases:
        if case.request.user == request.user:
            source = case.request
            break
    lines = how_to_send(source, request, smallest)
    failure.smallest = redact(sanitize("\n".join(lines)))
