"""May this be released? The gate's answer, in one sentence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import vacuous_of
from pytest_recsys_mt.report.html.cards import Card
from pytest_recsys_mt.report.judged import is_quick

BROKEN = {
    "violated": ("promise is broken", "promises are broken"),
    "fixed": ("expected violation is gone", "expected violations are gone"),
    "error": ("verdict could not be made", "verdicts could not be made"),
    "inconclusive": ("promise is inconclusive", "promises are inconclusive"),
    "failed": (
        "test failed though its promise holds",
        "tests failed though their promises hold",
    ),
    "regressed": ("verdict regressed", "verdicts regressed"),
    "vacuous": ("promise is kept vacuously", "promises are kept vacuously"),
    "suspicious": (
        "verdict is suspiciously better",
        "verdicts are suspiciously better",
    ),
    "unclear": ("change is inconclusive", "changes are inconclusive"),
}
"""The obstacles to a release, for one and for several."""

NAMED = 3
"""Most names of one kind in the answer."""

PASSED_OVER = {
    "known": ("violation is known", "violations are known"),
    "violated": ("is violated, as a mark expects", "are violated, as a mark expects"),
    "error": ("is in error, as a mark expects", "are in error, as a mark expects"),
    "inconclusive": (
        "is inconclusive and passed over",
        "are inconclusive and passed over",
    ),
    "ungated": ("does not gate", "do not gate"),
}


@dataclass(frozen=True)
class Answer:
    """The answer, the reasons that no test of the page
    shows, and the rows that stand in the way.
    """

    good: bool
    sentence: str
    further: Sequence[str]
    blocking: Sequence[Card]


def answer_of(document: Document, cards: Sequence[Card]) -> Answer:
    """The gate's answer."""
    gate = document["gate"]
    ungated = {each["nodeid"] for each in gate.get("ungated") or ()}
    gating = [card for card in cards if card.row["nodeid"] not in ungated]
    reasons = list(gate.get("reasons") or ())
    tests = {card.row["nodeid"] for card in cards}
    further = [each for each in reasons if tests.isdisjoint(_endings(each))]
    if gate["status"] == "passed":
        may = "Passed as a quick look" if is_quick(document) else "May be released"
        sentence = f"{may}: {_passed(gating, len(cards) - len(gating))}."
        return Answer(True, sentence, further, ())
    blocking = [
        card
        for card in gating
        if card.row["outcome"] not in ("passed", "skipped", "xfailed")
        and card.state.key not in ("not-applicable", "known")
    ]
    broken = [card for card in blocking if card.state.key != "holds"]
    shown = {card.row["nodeid"] for card in blocking}
    counts = Counter[str](card.state.key for card in broken)
    counts["failed"] = len(shown - {card.row["nodeid"] for card in broken})
    for kind in ("vacuous", "regressed", "suspicious"):
        counts[kind] = sum(each.startswith(f"{kind}: ") for each in reasons)
    unclear = [
        each.partition(": ")[2]
        for each in reasons
        if each.startswith("unclear change: ") and each.partition(": ")[2] not in shown
    ]
    counts["unclear"] = len(unclear)
    names = {
        "inconclusive": [
            name_of_row(card.row) for card in broken if card.state.key == "inconclusive"
        ],
        "unclear": [
            name_of_row(card.row) for card in cards if card.row["nodeid"] in unclear
        ],
    }
    parts = _counted(counts, BROKEN, names)
    if not cards:
        parts = ["nothing was tested"]
    elif not parts:
        parts = further[:1] or ["the gate failed"]
    elif further:
        parts.append(
            f"{len(further)} more {_worded(('reason', 'reasons'), len(further))} below",
        )
    sentence = f"May not be released: {_listed(parts)}."
    return Answer(False, sentence, further, broken)


def _endings(reason: str) -> Iterator[str]:
    while reason:
        reason = reason.partition(": ")[2]
        yield reason


def _passed(gating: Sequence[Card], ungated: int) -> str:
    counts = Counter[str](card.state.key for card in gating)
    counts["ungated"] = ungated
    held = counts["holds"]
    whole = "the promise" if held == 1 else f"all {held} promises"
    first = f"{whole} that could be tested {_worded(('holds', 'hold'), held)}"
    others = _counted(counts, PASSED_OVER)
    if others:
        first = f"{held} {_worded(('promise holds', 'promises hold'), held)}"
    if vacuous := sum(bool(vacuous_of(card.row)) for card in gating):
        first += f" ({vacuous} vacuously)"
    return _listed([first, *others])


def _counted(
    counts: Counter[str],
    words: Mapping[str, tuple[str, str]],
    names: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """How many there are of each kind, with the first `NAMED` of its names."""
    found = []
    for key in filter(counts.__getitem__, words):
        text = f"{counts[key]} {_worded(words[key], counts[key])}"
        named = list(dict.fromkeys((names or {}).get(key, ())))
        more = [f"{len(named) - NAMED} more"] if len(named) > NAMED else []
        found.append(
            f"{text} ({', '.join([*named[:NAMED], *more])})" if named else text,
        )
    return found


def _worded(forms: tuple[str, str], count: int) -> str:
    return forms[count != 1]


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
