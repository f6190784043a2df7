"""How long the calls of a run took: in the record, on the terminal and on the page."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from pytest_recsys_mt.calls.bill import CallFact, Cause, Counted, of_one_call
from pytest_recsys_mt.gate.states import grouped


class Latency(TypedDict):
    """The times of the calls of one kind to one recommender, in seconds.

    A time is from sending the attempt that was answered to the end of its answer:
    without waits in a queue, for a rate limit, or between attempts.

    Attributes:
        model: The recommender.
        kind: What was asked for; see `calls.timing.Kind`.
        calls: Calls of this run that were answered alone, at the first attempt.
        p50: The median of their times; None without any.
        p95: The time within which 95 % of them were answered; None without any.
        batched: Calls that were answered together with others.
        batched_p50: The median of their shares in the times of their batches.
        batched_p95: The same for 95 %.
        retried: Calls that were answered after an attempt that failed.
        refused: Those of them that the endpoint refused first: it was busy (429), not
            ready (502, 503), or asked to wait.
        failed: Calls without an answer.
        cached: Calls that an earlier run sent.
        unmeasured: Calls whose time is not known.
    """

    model: str
    kind: str
    calls: int
    p50: float | None
    p95: float | None
    batched: int
    batched_p50: float | None
    batched_p95: float | None
    retried: int
    refused: int
    failed: int
    cached: int
    unmeasured: int


def quantile(times: Sequence[float], share: float) -> float | None:
    """The smallest time within which at least `share` of the calls were answered."""
    if not times:
        return None
    rank = math.ceil(share * len(times) - 1e-9)
    return sorted(times)[max(0, rank - 1)]


def latencies(
    facts: Mapping[str, Sequence[Counted]],
    causes: Mapping[str, Cause],
) -> list[Latency]:
    """The times of the calls of a run, in a row for each recommender and kind.

    Args:
        facts: The facts of each call, by its key.
        causes: The test that each call was first made for, by its key.
    """
    results = [(causes[key].model, of_one_call(of)[-1]) for key, of in facts.items()]
    by_place = grouped(results, lambda result: (result[0], result[1].kind))
    return [
        _row(model, kind, [fact for _, fact in of])
        for (model, kind), of in sorted(by_place.items())
    ]


def _row(model: str, kind: str, results: Sequence[CallFact]) -> Latency:
    alone = _times(results, "alone")
    batched = _times(results, "in a batch")
    states = [fact.timing for fact in results]
    return {
        "model": model,
        "kind": kind,
        "calls": len(alone),
        "p50": quantile(alone, 0.5),
        "p95": quantile(alone, 0.95),
        "batched": len(batched),
        "batched_p50": quantile(batched, 0.5),
        "batched_p95": quantile(batched, 0.95),
        "retried": states.count("retried"),
        "refused": sum(fact.refused for fact in results),
        "failed": states.count("failed"),
        "cached": states.count("cached"),
        "unmeasured": states.count("unmeasured"),
    }


def _times(results: Iterable[CallFact], timing: str) -> list[float]:
    return [
        fact.seconds
        for fact in results
        if fact.timing == timing and fact.seconds is not None
    ]


def in_units(seconds: float) -> str:
    """A time with its unit: ``1.24 s``, ``83.1 ms``, ``12 \u00b5s``."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} \N{MICRO SIGN}s"


NOT_COUNTED = ("retried", "failed", "cached", "unmeasured")
"""The counts of calls that have no latency of this run."""

MEASURED = (
    "Times are from sending the attempt that was answered to the end of its answer: without waits in a "
    "queue, for a rate limit, or between attempts. The time to the first token is not measured."
)
"""What is measured, for readers of the numbers."""


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The times of a record in words, a line for each recommender and kind."""
    for row in rows:
        parts = []
        if row["calls"]:
            parts.append(
                f"p50 {in_units(row['p50'])}, p95 {in_units(row['p95'])} of {row['calls']:,} calls"
            )
        if row["batched"]:
            parts.append(
                f"p50 {in_units(row['batched_p50'])}, p95 {in_units(row['batched_p95'])} each of {row['batched']:,} "
                f"answered in batches"
            )
        left_out = [
            f"{row[name]:,} {name}{_of_them_refused(row) if name == 'retried' else ''}"
            for name in NOT_COUNTED
            if row[name]
        ]
        if left_out:
            parts.append(f"not counted: {', '.join(left_out)}")
        yield f"{row['model']} {row['kind']}: {'; '.join(parts)}"


def _of_them_refused(row: Mapping[str, Any]) -> str:
    """How many of the retried calls were refused first, if any."""
    refused = row.get("refused", 0)
    return f" ({refused:,} of them refused first)" if refused else ""


def rows_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a record; none in a record of an earlier version."""
    found: list[dict[str, Any]] = document["time"].get("latency", [])
    return found
