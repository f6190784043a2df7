"""How many of all tests of a run could be judged, and why the others could not."""

from __future__ import annotations

from collections import Counter

from pytest_recsys_mt.gate.document import Document, State, grouped, state_of_test

UNJUDGED: dict[State, str] = {
    "inconclusive": "inconclusive", "error": "in error", "not-applicable": "not applicable",
}  # fmt: skip
LEFT = {
    "quick": "left out of this quick look",
    "standard": "left out as they make many calls (--recsys-effort=thorough runs them)",
}


def is_quick(document: Document) -> bool:
    """Whether a quick look left tests out, so that the run says little of a release."""
    left = document.get("left_out") or {}
    return left.get("effort") == "quick" and bool(left.get("tests"))


def judged(document: Document) -> str:
    """Such as ``6 of 220 tests could be judged: 212 left out of this quick look``; empty for a run without tests.

    A test of several verdicts is in the state of the most important one.
    """
    of_test = grouped(document["results"], lambda row: row["nodeid"])
    counts = Counter(map(state_of_test, of_test.values()))
    made = len(of_test) - sum(counts[state] for state in UNJUDGED)
    left = document.get("left_out") or {"effort": "", "tests": 0}
    total = len(of_test) + left["tests"]
    if not total:
        return ""
    told = [f"{left['tests']} {LEFT.get(left['effort'], 'left out')}"] * bool(left["tests"])
    told += [f"{counts[state]} {word}" for state, word in UNJUDGED.items() if counts[state]]
    text = f"{made} of {total} {'test' if total == 1 else 'tests'} could be judged"
    return f"{text}: {', '.join(told)}" if told else text
