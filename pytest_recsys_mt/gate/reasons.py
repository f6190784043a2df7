"""Why a gate can fail: the kinds of reasons, and the
sentence that names all reasons of a run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "nothing", "violated", "uncorrected", "error", "inconclusive", "failed", "fixed", "expired",
    "vacuous", "refused", "regressed", "suspicious", "unclear", "lists", "unshown lists",
    "early", "drift", "partial",
]  # fmt: skip

KINDS: Mapping[Kind, str] = {
    "nothing": "nothing could be judged: {names}",
    "violated": "{count} violated ({names})",
    "uncorrected": "{count} violated, but not after Holm's correction ({names})",
    "error": "{count} in error ({names})",
    "inconclusive": "{count} inconclusive ({names})",
    "failed": "{count} failed for a reason other than a verdict ({names})",
    "fixed": "{count} known to be violated, now fixed ({names})",
    "expired": "{count} known beyond the last day ({names})",
    "vacuous": "{count} kept vacuously ({names})",
    "refused": "no comparison: {names}",
    "regressed": "{count} regressed ({names})",
    "suspicious": "{count} suspiciously better ({names})",
    "unclear": "{count} not shown to be as good as before ({names})",
    "lists": "other lists than the baseline ({names})",
    "unshown lists": "lists not shown to be as demanded ({names})",
    "early": "{names}",
    "drift": "{names}",
    "partial": "the run is partial: {names}",
}
"""The reasons why a gate can fail, in this order, and the text for all reasons of a
kind.

A new kind of reason needs an entry here. `Gate.decide` receives it in ``found``.
"""

NAMED = 3
"""The sentence names this many reasons of a kind; the others are counted."""

LONGEST = 250
"""Most characters of a reason in the sentence; `reasons` holds it in full."""

LONGEST_CAUSE = 80
"""Most characters of a cause that is named within a reason."""


@dataclass(frozen=True)
class Reason:
    """Why a gate fails: its full text, and a shorter one
    for the sentence if there is one.
    """

    kind: Kind
    text: str
    name: str = ""


def in_clauses(reasons: Sequence[Reason]) -> str:
    """All reasons, a clause for each kind, in the order of `KINDS`."""
    clauses = []
    for kind, clause in KINDS.items():
        names: Counter[str] = Counter()
        for reason in reasons:
            if reason.kind == kind:
                names[cut(reason.name or reason.text, LONGEST)] += 1
        if names:
            clauses.append(clause.format(count=names.total(), names=_listed(names)))
    return "; ".join(clauses)


def _listed(names: Counter[str]) -> str:
    """The first names, and how many reasons have others: the
    numbers add up to that of all reasons.
    """
    listed = []
    for name, count in list(names.items())[:NAMED]:
        listed.append(name if count == 1 else f"{name}, {count} times")
    left = sum(list(names.values())[NAMED:])
    if left:
        listed.append(f"{left} more")
    return "; ".join(listed)


def cut(text: str, longest: int) -> str:
    """A text of at most so many characters, which ends in dots if there were more."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
