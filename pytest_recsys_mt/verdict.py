"""The verdict: what an oracle found, with the numbers behind it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Status = Literal["holds", "violated", "inconclusive", "error", "not-applicable"]
"""``holds`` and ``violated`` are claims at the declared error rate; ``inconclusive`` is neither;
``error`` says that too many calls failed; ``not-applicable`` that no user could be asked."""

Allowed = Literal["at most", "at least", "within"]
"""What a promise allows of a mean: at most the margin, at least the margin, or no more than the
margin either way."""

NOT_ASKED = "not asked: "
"""How the reason of a verdict begins that lacks users because a limit of the run was reached."""


class Ledger(Protocol):
    """Where a test keeps the verdicts made in it."""

    def asserted(self, verdict: Verdict, where: tuple[object, int]) -> None:
        """Note that a verdict was false at a line of some code."""
        ...

    def expected(self, verdict: Verdict, status: Status) -> None:
        """Note that another status than ``holds`` is wanted of a verdict."""
        ...

    def replaced(self, verdict: Verdict, other: Verdict) -> None:
        """Keep `other` in place of a verdict."""
        ...


@dataclass(frozen=True, slots=True)
class Example:
    """One user's two answers, as people can read them, and how far they agree (0 to 1).

    `keeps` says whether this user's answers keep the promise, where that is known.
    `source_kinds` and `followup_kinds` say of each place whether the item was offered
    (`requests.EntryKind`); they are empty where all of a side were.
    """

    user: str
    source: tuple[str, ...]
    followup: tuple[str, ...]
    score: float | None
    source_kinds: tuple[str, ...] = ()
    followup_kinds: tuple[str, ...] = ()
    keeps: bool | None = None


@dataclass(frozen=True)
class Verdict:
    """What an oracle found. True in an `assert` only if the promise holds.

    Attributes:
        status: See `Status`.
        oracle: The oracle and its similarity or score: ``same_ranking:rbo``.
        relation: The transformation judged, by its name; empty for the unchanged request.
        against: The transformation of the side it is compared with; empty for the unchanged request.
        estimate: The mean effect over users, in the unit of the margin.
        interval: Its two one-sided (1 - alpha) bounds.
        margin: How large an effect is still no violation; declared before the run.
        allowed: On which side of the margin the promise is kept; see `Allowed`.
        floor: Mean agreement of each side with its own replicates.
        agreement: Mean agreement of source and follow-up.
        p_value: Of the hypothesis that the promise holds.
        users: Users scored.
        not_applicable: Users the transformation could not serve.
        errors: Users whose calls failed.
        looks: How often users were asked for, before it was clear.
        reason: In words, where the numbers do not say it: why inconclusive, which failures.
        examples: Users in order of disagreement, the worst first.
        metric, value, threshold: Set for benchmark tasks only.
        details: Further figures as plain JSON data, such as the points of a curve; see `report`.
        per_user: The effect or score of every user scored, in the order in which they were drawn.
        reach: The smallest and the largest value of a user there can be, those seen among them.
        joint: Whether the mean is a number of all users together, as an aggregate is.
        approximate: Whether no proof keeps the bounds, and claims made of them, to the declared error
            rate; how far they keep to it is measured (`docs/statistics.md`).
    """

    status: Status
    oracle: str
    relation: str = ""
    against: str = ""
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    margin: float | None = None
    floor: float | None = None
    agreement: float | None = None
    p_value: float | None = None
    users: int = 0
    not_applicable: int = 0
    errors: int = 0
    looks: int = 1
    reason: str = ""
    examples: tuple[Example, ...] = ()
    metric: str | None = None
    value: float | None = None
    threshold: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    per_user: Mapping[str, float] = field(default_factory=dict, repr=False)
    reach: tuple[float, float] | None = None
    allowed: Allowed | None = None
    joint: bool = False
    approximate: bool = False
    ledger: Any = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return _told(self, self.status == "holds")

    def __repr__(self) -> str:
        return f"<{self.summary}>"

    @property
    def summary(self) -> str:
        """One line with every number that carries the verdict."""
        parts = [f"{self.relation or 'unchanged'} {self.status.upper()}", self.oracle]
        if self.metric is not None and self.value is not None:
            limit = "" if self.threshold is None else f" against {self.threshold:g}"
            parts.append(f"{self.metric}={self.value:.4f}{limit}")
        if self.estimate is not None and self.interval is not None and self.margin is not None:
            low, high = self.interval
            parts.append(f"D={self.estimate:.4f} [{low:.4f}, {high:.4f}], margin {self.margin:g}")
        if self.approximate and self.interval is not None:
            parts.append("approximate")
        if self.p_value is not None:
            parts.append(f"p={self.p_value:.2g}")
        if self.floor is not None:
            parts.append(f"floor={self.floor:.3f}")
        parts.append(f"n={self.users}")
        if self.not_applicable:
            parts.append(f"not applicable={self.not_applicable}")
        if self.errors:
            parts.append(f"errors={self.errors}")
        return "; ".join(parts) + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True)
class Expectation:
    """A verdict turned round by `expect_violated`: true while the violation is there."""

    verdict: Verdict

    def __bool__(self) -> bool:
        return _told(self.verdict, self.verdict.status == "violated")

    def __repr__(self) -> str:
        return f"<expected to be violated: {self.verdict.summary}>"


def annotate(verdict: Verdict, **details: Any) -> Verdict:
    """Add figures to a verdict; the record keeps them in its row.

    Args:
        verdict: As an oracle returned it.
        **details: Plain JSON data; see `Verdict`.

    Returns:
        The verdict to assert in place of the one that was given.
    """
    noted = dataclasses.replace(verdict, details={**verdict.details, **details})
    if verdict.ledger is not None:
        verdict.ledger.replaced(verdict, noted)
    return noted


def dimension(verdict: Verdict, name: str, *, best: Literal["high", "low"] = "high") -> Verdict:
    """Say which dimension of a recommender a verdict is about, for summaries of several.

    Args:
        verdict: Of a benchmark task, whose value it is, or of a promise, whose effect it is.
        name: Of the dimension.
        best: Where the best value is: at 1, or at 0; then the dimension is 1 less its size.

    Returns:
        The verdict with ``details["dimension"]``, in [0, 1] with 1 the best; as it was where it has
        no number.
    """
    value = verdict.estimate if verdict.value is None else verdict.value
    if value is None:
        return verdict
    low, high = verdict.interval or (None, None)
    if best == "low" and low is not None and high is not None:
        sizes = sorted((abs(low), abs(high)))
        low, high = 1 - sizes[1], 1 if low <= 0 <= high else 1 - sizes[0]
    figures = {"value": 1 - abs(value) if best == "low" else value, "low": low, "high": high}
    within = {
        key: None if number is None else min(1.0, max(0.0, number))
        for key, number in figures.items()
    }
    return annotate(verdict, dimension={"name": name, **within})


def expect_violated(verdict: Verdict) -> Expectation:
    """Declare a known violation: the test passes while it is there and fails once it is mended.

    Args:
        verdict: As an oracle returned it.

    Returns:
        A value to assert, true only if the verdict is ``violated``.

    Raises:
        TypeError: If `verdict` is no verdict.
    """
    if not isinstance(verdict, Verdict):
        raise TypeError(f"expect_violated takes the verdict of an oracle, got {verdict!r}")
    if verdict.ledger is not None:
        verdict.ledger.expected(verdict, "violated")
    return Expectation(verdict)


def _told(verdict: Verdict, truth: bool) -> bool:
    """Tell the test where a verdict was found wanting, so that it can tell which assert failed."""
    if not truth and verdict.ledger is not None:
        import sys

        frame = sys._getframe(2)
        verdict.ledger.asserted(verdict, (frame.f_code, frame.f_lineno))
    return truth
