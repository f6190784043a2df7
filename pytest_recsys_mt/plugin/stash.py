"""What the plugin stores in pytest's config and items during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.metamorphic import MARK

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.progress import Progress
    from pytest_recsys_mt.engine.drift import Again
    from pytest_recsys_mt.engine.session import Session
    from pytest_recsys_mt.engine.settings import Settings
    from pytest_recsys_mt.engine.trial import Trial
    from pytest_recsys_mt.gate.document import Document
    from pytest_recsys_mt.plugin.interruptions import Interruptions
    from pytest_recsys_mt.plugin.reports import Reported
    from pytest_recsys_mt.report.record import Record

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
PROBLEMS: pytest.StashKey[list[str]] = pytest.StashKey()
SESSION: pytest.StashKey[Session] = pytest.StashKey()
RECORD: pytest.StashKey[Record] = pytest.StashKey()
TRIAL: pytest.StashKey[Trial] = pytest.StashKey()
PROGRESS: pytest.StashKey[Progress] = pytest.StashKey()
RUNS: pytest.StashKey[set[str]] = pytest.StashKey()
BASELINE: pytest.StashKey[Document | None] = pytest.StashKey()
INTERRUPTIONS: pytest.StashKey[Interruptions] = pytest.StashKey()
STARTED: pytest.StashKey[float] = pytest.StashKey()
AGAIN: pytest.StashKey[list[Again]] = pytest.StashKey()
"""What each process reports at its end: ``drifts`` (`drift.Drift`), and the ``calls`` it made."""
REPORTED: pytest.StashKey[Reported] = pytest.StashKey()
PROBLEMS_KEY = "recsys_mt_problems"
AGAIN_KEY = "recsys_mt_again"
LEFT_OUT: pytest.StashKey[int] = pytest.StashKey()
"""How many selected tests are left out because of their effort."""
LEFT_OUT_KEY = "recsys_mt_left_out"


def session_of(config: pytest.Config) -> Session:
    """What all tests of this process share; made when the first test needs it."""
    if SESSION not in config.stash:
        import uuid

        from pytest_recsys_mt.engine.session import Session

        run = getattr(config, "workerinput", {}).get("testrunuid") or uuid.uuid4().hex
        config.stash[RUNS].add(run)
        config.stash[SESSION] = Session(config.stash[SETTINGS], run, config.stash[PROGRESS])
    return config.stash[SESSION]


def begin_trial(item: pytest.Item) -> None:
    """Begin a test, or another attempt at it, which forgets the verdicts of the earlier attempt."""
    if TRIAL in item.stash:
        del item.stash[TRIAL]
    elif SESSION in item.config.stash:
        item.config.stash[SESSION].begin()


def trial_of(item: pytest.Item) -> Trial:
    """The verdicts of one test; made when the test first needs them."""
    if TRIAL not in item.stash:
        from pytest_recsys_mt.engine.trial import Trial

        settings = item.config.stash[SETTINGS]
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        transformation = (
            parameters.get("followup") if item.get_closest_marker(MARK) is not None else None
        )
        item.stash[TRIAL] = Trial(transformation, settings.inconclusive == "skip")
    return item.stash[TRIAL]
