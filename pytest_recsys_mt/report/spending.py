"""The cost of the calls of a run: in all, and by suite, model and purpose."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, cast

from pytest_recsys_mt.calls.bill import CallFact, Cause, Counted, of_one_call
from pytest_recsys_mt.calls.call import CONTROL, COUNTED_APART, PURPOSES, SEARCH
from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.gate.call_counts import Calls
from pytest_recsys_mt.gate.states import grouped

TOKENS = tuple(each.name for each in fields(CallFact) if each.name.endswith("_tokens"))
"""The fields of a fact that count tokens."""

RETRY = PURPOSES.index("retry")
"""The number of the purpose of further attempts at a call."""

Sums = dict[str, Any]
"""The fields of `CallCounts`."""


@dataclass
class _Share:
    """The calls of one suite, model and purpose.

    Attributes:
        calls: The facts of each call, one for each attempt; the last has the
            result.
        attempts: The attempts that were sent for this purpose, and paid for.
    """

    calls: list[Sequence[CallFact]] = field(default_factory=list)
    attempts: list[CallFact] = field(default_factory=list)


def _sums(share: _Share, purpose: str) -> Sums:
    """The fields of `CallCounts`, of calls for one purpose."""
    calls = share.calls
    attempts = share.attempts
    results = [facts[-1] for facts in calls]
    # A call in addition to the tests', or one that checks for changed answers, is not a
    # call of a test.
    is_additional = purpose in COUNTED_APART
    states = [
        result.state for result in results if not is_additional and not result.again
    ]
    made_after_failures = [
        facts
        for facts in calls
        if facts[-1].state == "made"
        and (len(facts) > 1 or facts[-1].timing == "retried")
    ]
    asked_again = [
        result for result in results if result.again and result.state != "cached"
    ]
    retries = 0
    unknown_costs = 0
    for facts in calls:
        _, retries_of_call = _first_and_retries(facts)
        retries += len(retries_of_call)
        if any(fact.usd is None for fact in facts):
            unknown_costs += 1
    failed_attempts = [fact for fact in attempts if fact.state == "failed"]
    cut_off = [result for result in results if result.cut_off]
    tokens = {name: sum(getattr(fact, name) for fact in attempts) for name in TOKENS}
    return {
        "cached": states.count("cached"),
        "made": states.count("made"),
        "failed": states.count("failed"),
        "failed_at_first": len(made_after_failures),
        "attempts": len(attempts),
        "retries": retries,
        **tokens,
        "usd": _total(fact.usd for fact in attempts),
        "usd_at_most": _total(fact.at_most for fact in attempts),
        "failed_usd_at_most": _total(fact.at_most for fact in failed_attempts),
        "unknown_cost": unknown_costs,
        "cut_off": len(cut_off),
        "cut_off_usd": _total(result.usd for result in cut_off),
        "searched": len(results) if purpose == SEARCH else 0,
        "controls": len(results) if purpose == CONTROL else 0,
        "again": len(asked_again),
    }


def spent(
    facts: Mapping[str, Sequence[Counted]],
    causes: Mapping[str, Cause],
    planned: Iterable[str],
) -> Calls:
    """The calls of a run, in a row for each suite, model and purpose.

    Args:
        facts: The facts of each call, by its key.
        causes: The test that each call was first made for, by its key. Further attempts
            at a call are in the row of the purpose ``retry``.
        planned: The keys of the calls that tests planned and did not make.
    """
    shares: defaultdict[tuple[str, str, int], _Share] = defaultdict(_Share)
    planned_keys = set(planned)
    for key, counted in facts.items():
        cause = causes[key]
        call = of_one_call(counted)
        first_attempt, retries = _first_and_retries(call)
        share = shares[cause.suite, cause.model, cause.purpose]
        share.calls.append(call)
        share.attempts += first_attempt
        if retries:
            shares[cause.suite, cause.model, RETRY].attempts += retries
        is_of_a_test = PURPOSES[cause.purpose] not in COUNTED_APART
        if is_of_a_test and not call[-1].again:
            planned_keys.add(key)
    rows = []
    for (suite, model, number), share in sorted(
        shares.items(),
        key=lambda entry: entry[0],
    ):
        purpose = PURPOSES[number]
        place = {"suite": suite, "model": model, "purpose": purpose}
        rows.append(place | _sums(share, purpose))
    return cast("Calls", {"planned": len(planned_keys), **summed(rows), "by": rows})


def summed(rows: Iterable[Mapping[str, Any]]) -> Sums:
    """The sum of some rows; a cost is unknown if that of any row is."""
    added = list(rows)
    names = _sums(_Share(), purpose="")  # those of no calls
    sums: Sums = {}
    for name in names:
        if "usd" in name:
            sums[name] = _total(row[name] for row in added)
        else:
            # Records of earlier versions lack some counts.
            sums[name] = sum(row.get(name, 0) for row in added)
    return sums


def along(calls: Calls, axis: str) -> dict[str, Sums]:
    """The sums of the rows with the same value of `axis`:
    ``suite``, ``model`` or ``purpose``.
    """
    rows = grouped(calls["by"], lambda row: str(row[axis]))  # type: ignore[literal-required]
    return {value: summed(group) for value, group in rows.items()}


def cost(sums: Mapping[str, Any]) -> str:
    """The cost of calls, in words; empty if nothing is known."""
    if sums["usd"] is not None:
        return dollars(sums["usd"])
    most = sums.get("usd_at_most")  # records of earlier versions lack it
    if most is None:
        return ""
    return f"at most {dollars(most)}"


def _total(costs: Iterable[float | None]) -> float | None:
    """The sum of costs in US dollars; unknown if any is."""
    known = []
    for usd in costs:
        if usd is None:
            return None
        known.append(usd)
    return math.fsum(known)


def _first_and_retries(
    call: Sequence[CallFact],
) -> tuple[list[CallFact], list[CallFact]]:
    """The first attempt at a call that was sent, in a list
    if there is one, and the later ones.
    """
    sent = [fact for fact in call if fact.sent and fact.state != "cached"]
    return sent[:1], sent[1:]
