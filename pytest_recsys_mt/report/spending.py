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

Sums = dict[str, Any]
"""The fields of `CallCounts`."""


def _sums(calls: Sequence[Sequence[CallFact]], attempts: Sequence[CallFact], purpose: str) -> Sums:
    results = [facts[-1] for facts in calls]
    states = [each.state for each in results if purpose not in BESIDE and not each.again]
    failed = [fact.at_most for fact in attempts if fact.state == "failed"]
    return {
        "cached": states.count("cached"),
        "made": states.count("made"),
        "failed": states.count("failed"),
        "failed_at_first": sum(facts[-1].state == "made" and len(facts) > 1 for facts in calls),
        "attempts": len(attempts),
        "retries": sum(len(_sent(facts)[1:]) for facts in calls),
        **{name: sum(getattr(fact, name) for fact in attempts) for name in TOKENS},
        "usd": _total(fact.usd for fact in attempts),
        "usd_at_most": _total(fact.at_most for fact in attempts),
        "failed_usd_at_most": _total(failed),
        "unknown_cost": sum(any(fact.usd is None for fact in facts) for facts in calls),
        "cut_off": sum(result.cut_off for result in results),
        "cut_off_usd": _total(result.usd for result in results if result.cut_off),
        "searched": len(results) if purpose == SEARCH else 0,
        "controls": len(results) if purpose == CONTROL else 0,
        "again": sum(result.again and result.state != "cached" for result in results),
    }


def spent(
    facts: Mapping[str, Sequence[Counted]], causes: Mapping[str, Cause], planned: Iterable[str]
) -> Calls:
    """The calls of a run by their keys, each in the row of its cause; further attempts at one count as ``retry``."""
    calls: defaultdict[tuple[str, str, int], list[list[CallFact]]] = defaultdict(list)
    attempts: defaultdict[tuple[str, str, int], list[CallFact]] = defaultdict(list)
    own = set(planned)
    for key, each in facts.items():
        _, purpose, suite, model = causes[key]
        known = of_one_call(each)
        calls[suite, model, purpose].append(known)
        attempts[suite, model, purpose] += _sent(known)[:1]
        if retries := _sent(known)[1:]:
            attempts[suite, model, PURPOSES.index("retry")] += retries
        if not known[-1].again and PURPOSES[purpose] not in BESIDE:
            own.add(key)
    rows = [
        {
            "suite": suite,
            "model": model,
            "purpose": PURPOSES[purpose],
            **_sums(calls[suite, model, purpose], sent, PURPOSES[purpose]),
        }
        for (suite, model, purpose), sent in sorted(attempts.items(), key=lambda each: each[0])
    ]
    return cast("Calls", {"planned": len(own), **summed(rows), "by": rows})


def summed(rows: Iterable[Mapping[str, Any]]) -> Sums:
    """The sum of some rows; a cost is unknown if that of any row is."""
    known = list(rows)
    return {
        name: _total(row[name] for row in known)
        if "usd" in name
        else sum(row.get(name, 0) for row in known)  # earlier records lack some
        for name in _sums([], [], "")
    }


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
    given = list(costs)
    known = [usd for usd in given if usd is not None]
    return math.fsum(known) if len(known) == len(given) else None


def _sent(facts: Sequence[CallFact]) -> list[CallFact]:
    return [fact for fact in facts if fact.state != "cached" and fact.sent]
