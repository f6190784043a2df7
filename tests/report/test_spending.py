"""What calls took, row by row: the rows are the totals, whatever happened to the calls."""

import math
from collections import Counter
from dataclasses import astuple
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.calls import PURPOSES, CallFact, Cause, Causes
from tests.support.report import along, spent

COSTS = st.none() | st.floats(0, 100)
FACTS = st.builds(
    CallFact,
    state=st.sampled_from(["made", "cached", "failed"]),
    prompt_tokens=st.integers(0, 10_000),
    completion_tokens=st.integers(0, 10_000),
    usd=COSTS,
    cut_off=st.booleans(),
    at_most=COSTS,
)
CAUSES = st.builds(
    Cause,
    place=st.integers(0, 3),
    purpose=st.integers(0, len(PURPOSES) - 2),
    suite=st.sampled_from(["arena", "popularity"]),
    model=st.sampled_from(["one", "two"]),
)
CALLS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.tuples(st.lists(FACTS, min_size=1, max_size=4), CAUSES),
    max_size=12,
)


@given(CALLS)
def test_the_rows_of_any_axis_are_the_totals(
    calls: dict[str, tuple[list[CallFact], Cause]],
) -> None:
    facts = {key: [astuple(fact) for fact in each] for key, (each, _) in calls.items()}
    causes = {key: cause for key, (_, cause) in calls.items()}
    total = spent(facts, causes, facts)
    counts = [name for name in total if name not in ("by", "planned")]
    for axis in ("suite", "model", "purpose"):
        shares = along(total, axis).values()
        for name in counts:
            parts: list[Any] = [share[name] for share in shares]
            rows: list[Any] = [row[name] for row in total["by"]]  # type: ignore[literal-required]
            whole = total[name]  # type: ignore[literal-required]
            if "usd" not in name:
                assert whole == sum(parts) == sum(rows)
            elif None in rows:
                assert whole is None
                assert None in parts
            else:
                assert whole == float(sum(map(Fraction, rows)))
                assert whole == pytest.approx(math.fsum(parts), rel=1e-15)
    counted = total["made"] + total["cached"] + total["failed"]
    assert counted + total["again"] + total["searched"] + total["controls"] == len(
        calls,
    )
    assert total["attempts"] == sum(row["attempts"] for row in total["by"])
    retries = sum(row["attempts"] for row in total["by"] if row["purpose"] == "retry")
    assert total["retries"] == retries


def test_a_failed_attempt_and_its_retry_stand_apart() -> None:
    facts = {
        "a": [CallFact("made", 10, 5, 0.25, cut_off=True, at_most=0.25)],
        "b": [CallFact("failed", 10, 9, 0.5, at_most=0.5), CallFact("made", 10, 5, 0.25, at_most=0.25)],
        "c": [CallFact("failed", usd=None, at_most=2.0)],
    }  # fmt: skip
    causes = {key: Cause(0, 0, "shop", "chat") for key in facts}
    total = spent(
        {key: [astuple(fact) for fact in each] for key, each in facts.items()},
        causes,
        facts,
    )
    source, retry = total["by"]
    assert (source["purpose"], retry["purpose"]) == ("source", "retry")
    assert (
        source["made"],
        source["failed"],
        source["attempts"],
        source["retries"],
    ) == (2, 1, 3, 1)
    assert (retry["made"], retry["attempts"], retry["usd"]) == (0, 1, 0.25)
    assert (source["usd"], source["usd_at_most"], source["failed_usd_at_most"]) == (
        None,
        2.75,
        2.5,
    )
    assert (total["cut_off"], total["cut_off_usd"]) == (1, 0.25)


def test_a_call_counts_for_the_first_test_that_uses_it_whoever_asked_first() -> None:
    causes = Causes()
    causes.begin(7, "later")
    causes.add("chat", ["k"], "source")
    sent = causes.drain()
    causes.begin(2, "earlier")
    causes.add("chat", ["k"], "follow-up")
    causes.add("chat", ["k"], "source")
    sent += causes.drain()
    causes.begin(3, "between")
    causes.add("chat", ["k"], "source")
    assert causes.drain() == [], "nothing new"
    assert min(Cause(*cause) for cause, _ in sent) == (2, 0, "earlier", "chat")
    assert Counter(key for _, keys in sent for key in keys) == {"k": 2}
