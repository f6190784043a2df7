"""How long the calls of one side take, each sent by itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from pytest_recsys_mt.engine.outcomes import Outcome
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.verdict.answers.times import Times

CACHED = "answered by an earlier run; --recsys-mode=refresh sends them again"
BATCHED = "answered in a batch with others"
NOT_MEASURED = "of unknown time"
NOT_SENT = "not sent"


def obstacle(runner: Runner) -> str:
    """Why no call of a recommender can be timed in this run; empty if calls can."""
    name = runner.subject.name
    if runner.settings.mode == "replay":
        return "--recsys-mode=replay sends no calls, so none has a latency; run without it to time them"
    if not runner.subject.live:
        return f"the answers of {name} are recorded, so its calls have no latency"
    if runner.subject.behind is not None:
        return f"{name} waits for another recommender, whose answers may be cached; time that one"
    return ""


def since(runner: Runner) -> float | None:
    """The time from which answers of earlier runs count: none does where a call costs
    nothing, all do elsewhere.
    """
    return math.inf if runner.at_hand else None


def times_of(runner: Runner, outcomes: Mapping[int, Outcome]) -> Times:
    """The times of the first call of each user, by the results of their calls."""
    seconds: list[float] = []
    failed: Counter[str] = Counter()
    retried = refused = 0
    uncounted: Counter[str] = Counter()
    for outcome in outcomes.values():
        took = None
        if outcome.keys and not outcome.unasked:
            took = runner.executor.took(runner.subject, outcome.keys[0])
        if took is None:
            uncounted[outcome.unasked or NOT_SENT] += 1
        elif took.state == "alone" and took.seconds is not None:
            seconds.append(took.seconds)
        elif took.state == "failed":
            failed[outcome.error or "failed"] += 1
        elif took.state == "retried":
            retried += 1
            refused += took.refused
        elif took.state == "cached":
            uncounted[CACHED] += 1
        elif took.state == "in a batch":
            uncounted[BATCHED] += 1
        else:
            uncounted[outcome.not_applicable or NOT_MEASURED] += 1
    return Times(
        tuple(seconds),
        dict(failed),
        retried,
        dict(uncounted),
        refused=refused,
    )
