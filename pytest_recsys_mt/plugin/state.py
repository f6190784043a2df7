"""The values that the plugin stores in pytest's config and items during a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.plugin.items import relation_of, suite_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_recsys_mt.calls.progress import Progress
    from pytest_recsys_mt.engine.drift import Again
    from pytest_recsys_mt.engine.ledger import RunningTest
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.engine.run import Run
    from pytest_recsys_mt.engine.schedule import Body
    from pytest_recsys_mt.engine.settings import Settings
    from pytest_recsys_mt.gate.document import Document
    from pytest_recsys_mt.plugin.apart import Apart
    from pytest_recsys_mt.plugin.interruptions import Interruptions
    from pytest_recsys_mt.plugin.reports import Reported
    from pytest_recsys_mt.plugin.showing import Showing
    from pytest_recsys_mt.report.record import Record

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
PROBLEMS: pytest.StashKey[list[str]] = pytest.StashKey()
RUN: pytest.StashKey[Run] = pytest.StashKey()
RECORD: pytest.StashKey[Record] = pytest.StashKey()
RUNNING_TEST: pytest.StashKey[RunningTest] = pytest.StashKey()
PROGRESS: pytest.StashKey[Progress] = pytest.StashKey()
SHOWING: pytest.StashKey[Showing] = pytest.StashKey()
RUN_NAMES: pytest.StashKey[set[str]] = pytest.StashKey()
BASELINE: pytest.StashKey[Sequence[tuple[str, Document]]] = pytest.StashKey()
INTERRUPTIONS: pytest.StashKey[Interruptions] = pytest.StashKey()
STARTED: pytest.StashKey[float] = pytest.StashKey()
AGAIN: pytest.StashKey[list[Again]] = pytest.StashKey()
"""The report of each process at its end: ``drifts``
(`drift.Drift`), and the ``calls`` it made.
"""
UNENDED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether the record to be written is there, of a run that never ended."""
REPORTED: pytest.StashKey[Reported] = pytest.StashKey()
PLACES: pytest.StashKey[dict[pytest.Item, int]] = pytest.StashKey()
"""The place of each test among all of them."""
PROBLEMS_KEY = "recsys_mt_problems"
EARLIER = "recsys_mt_earlier"
"""The plugin that knows the earlier results of tests."""
AGAIN_KEY = "recsys_mt_again"
DATA_KEY = "recsys_mt_data"
LOADED: pytest.StashKey[dict[str, str]] = pytest.StashKey()
"""The digest of the data that each worker loaded, by the worker."""
LEFT_OUT: pytest.StashKey[int] = pytest.StashKey()
"""How many selected tests are left out because of their effort."""
LEFT_OUT_KEY = "recsys_mt_left_out"


@dataclass
class Begun:
    """A test that was begun before pytest came to it.

    Attributes:
        running: The test.
        recsys: Its fixture.
        apart: The output, logs and random states of users' code for it.
        body: Its body, if that has begun too.
    """

    running: RunningTest
    recsys: Recsys
    apart: Apart
    body: Body | None = None


BEGUN: pytest.StashKey[Begun] = pytest.StashKey()


def run_of(config: pytest.Config) -> Run:
    """The run that all tests of this process share; made when the first
    test needs it.
    """
    if RUN not in config.stash:
        import uuid

        from pytest_recsys_mt.engine.run import Run

        # All workers of a run have one name, by which they share its account of calls.
        name = getattr(config, "workerinput", {}).get("testrunuid") or uuid.uuid4().hex
        config.stash[RUN_NAMES].add(name)
        config.stash[RUN] = Run(config.stash[SETTINGS], name, config.stash[PROGRESS])
    return config.stash[RUN]


SMALLEST = 0.05
"""The smallest limit of the suites on a loss of agreement."""
_SUITES = (Path(__file__).parents[1] / "suites").resolve()


def runs_nothing(config: pytest.Config) -> bool:
    """Whether options of pytest only list tests or settings,
    so that there is nothing to record.
    """
    options = (
        "collectonly",
        "setuponly",
        "setupplan",
        "showfixtures",
        "show_fixtures_per_test",
    )
    return any(config.getoption(name, False) for name in options)


def is_shipped(item: pytest.Item) -> bool:
    """Whether it is a test of a shipped suite."""
    return item.path.resolve().is_relative_to(_SUITES)


def sends_now(item: pytest.Item, run: Run) -> None:
    """Record that requests from now on are sent for this test."""
    stash = item.session.stash
    items = item.session.items
    # A search for each item would take minutes for 100,000 of them.
    if len(stash.get(PLACES, ())) != len(items):
        stash[PLACES] = {each: place for place, each in enumerate(items)}
    run.causes.begin(stash[PLACES][item], suite_of(item))


def running_test_of(item: pytest.Item) -> RunningTest:
    """The verdicts of one test; made when the test first needs them."""
    if RUNNING_TEST in item.stash:
        return item.stash[RUNNING_TEST]
    begun = item.stash.get(BEGUN, None)
    # Answers that were only requested in advance are of no use if the recommender
    # turned out to need more repetitions.
    if begun is not None and (begun.body is not None or begun.recsys.is_current):
        running = begun.running
    else:
        running = new_running_test(item)
    item.stash[RUNNING_TEST] = running
    return running


def new_running_test(item: pytest.Item) -> RunningTest:
    """The verdicts of a test that begins."""
    from pytest_recsys_mt.engine.ledger import RunningTest

    skips = item.config.stash[SETTINGS].inconclusive == "skip"
    return RunningTest(relation_of(item), skips, is_shipped(item))
