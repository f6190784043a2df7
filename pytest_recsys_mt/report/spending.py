"""What the calls of a run took: in all, and by suite, model and purpose."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

from pytest_recsys_mt.calls.bill import CallFact, Counted, of_one_call
from pytest_recsys_mt.calls.causes import BESIDE, CONTROL, PURPOSES, SEARCH, Cause
from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.gate.document import Calls
from pytest_recsys_mt.gate.states import grouped

TOKENS = tuple(field.name for field in fields(CallFact) if field.name.endswith("_tokens"))
"""The fields of a fact that count tokens."""

Sums = dict[str, Any]
"""The fields of `CallCounts`."""


class _Share:
    """The calls of one suite, model and purpose: the facts of each, and those of its attempts that were sent for it."""

    def __init__(self) -> None:
        self.calls: list[Sequence[CallFact]] = []
        self.attempts: list[CallFact] = []


def _sums(calls: Sequence[Sequence[CallFact]], attempts: Sequence[CallFact], purpose: str) -> Sums:
    """The fields of `CallCounts`.

    Args:
        calls: The facts of each call, the last of which says what came of it.
        attempts: What was sent, and paid for.
        purpose: What the calls were for.
    """
    results = [facts[-1] for facts in calls]
    is_beside = purpose in BESIDE
    states = [result.state for result in results if not is_beside and not result.again]
    made_at_last = [facts for facts in calls if facts[-1].state == "made" and len(facts) > 1]
    retries = [len(_sent(facts)[1:]) for facts in calls]
    of_unknown_cost = [facts for facts in calls if any(fact.usd is None for fact in facts)]
    failed_attempts = [fact for fact in attempts if fact.state == "failed"]
    cut_off = [result for result in results if result.cut_off]
    asked_again = [result for result in results if result.again and result.state != "cached"]
    tokens = {name: sum(getattr(fact, name) for fact in attempts) for name in TOKENS}
    return {
        "cached": states.count("cached"),
        "made": states.count("made"),
        "failed": states.count("failed"),
        "failed_at_first": len(made_at_last),
        "attempts": len(attempts),
        "retries": sum(retries),
        **tokens,
        "usd": _total(fact.usd for fact in attempts),
        "usd_at_most": _total(fact.at_most for fact in attempts),
        "failed_usd_at_most": _total(fact.at_most for fact in failed_attempts),
        "unknown_cost": len(of_unknown_cost),
        "cut_off": sum(result.cut_off for result in results),
        "cut_off_usd": _total(result.usd for result in cut_off),
        "searched": len(results) if purpose == SEARCH else 0,
        "controls": len(results) if purpose == CONTROL else 0,
        "again": len(asked_again),
    }


def spent(
    facts: Mapping[str, Sequence[Counted]], causes: Mapping[str, Cause], planned: Iterable[str]
) -> Calls:
    """The calls of a run, in a row for each suite, model and purpose.

    Args:
        facts: What is known of each call, by its key.
        causes: The test that each call was first made for, by its key. Further attempts at a call are in the row of the
            purpose ``retry``.
        planned: The keys of the calls that tests planned and did not make.
    """
    shares: defaultdict[tuple[str, str, int], _Share] = defaultdict(_Share)
    planned_keys = set(planned)
    for key, counted in facts.items():
        _, purpose, suite, model = causes[key]
        call = of_one_call(counted)
        sent = _sent(call)
        share = shares[suite, model, purpose]
        share.calls.append(call)
        share.attempts += sent[:1]
        retries = sent[1:]
        if retries:
            shares[suite, model, PURPOSES.index("retry")].attempts += retries
        if not call[-1].again and PURPOSES[purpose] not in BESIDE:
            planned_keys.add(key)
    rows = []
    for suite, model, purpose in sorted(shares):
        share = shares[suite, model, purpose]
        name = PURPOSES[purpose]
        sums = _sums(share.calls, share.attempts, name)
        rows.append({"suite": suite, "model": model, "purpose": name, **sums})
    return cast("Calls", {"planned": len(planned_keys), **summed(rows), "by": rows})


def summed(rows: Iterable[Mapping[str, Any]]) -> Sums:
    """The sum of some rows; a cost is unknown if that of any row is."""
    added = list(rows)
    sums: Sums = {}
    for name in _sums([], [], ""):
        if "usd" in name:
            sums[name] = _total(row[name] for row in added)
        else:
            sums[name] = sum(row.get(name, 0) for row in added)  # earlier records lack some
    return sums


def along(calls: Calls, axis: str) -> dict[str, Sums]:
    """The sums of the rows with the same value of `axis`: ``suite``, ``model`` or ``purpose``."""
    rows = grouped(calls["by"], lambda row: str(row[axis]))  # type: ignore[literal-required]
    return {value: summed(group) for value, group in rows.items()}


def cost(sums: Mapping[str, Any]) -> str:
    """What calls cost, in words; empty if nothing is known."""
    if sums["usd"] is not None:
        return dollars(sums["usd"])
    most = sums.get("usd_at_most")  # earlier records lack it
    return "" if most is None else f"at most {dollars(most)}"


def _total(costs: Iterable[float | None]) -> float | None:
    """The sum of costs in US dollars; unknown if any is."""
    given = list(costs)
    known = [usd for usd in given if usd is not None]
    return math.fsum(known) if len(known) == len(given) else None


def _sent(facts: Sequence[CallFact]) -> list[CallFact]:
    return [fact for fact in facts if fact.state != "cached" and fact.sent]
