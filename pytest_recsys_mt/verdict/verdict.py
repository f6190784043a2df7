"""The verdict: the result of an oracle, with the numbers behind it."""

import dataclasses
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_recsys_mt.verdict.wording import broken_group, sentence

Status = Literal["holds", "violated", "inconclusive", "error", "not-applicable"]
"""``holds`` and ``violated`` are claims at the declared error rate. ``inconclusive`` is
neither. ``error``: too many calls failed. ``not-applicable``: no request could be made.
"""

Allowed = Literal["at most", "at least", "within"]
"""The limit of a promise for a mean: at most the margin, at least the margin, or at
most the margin in either direction.
"""

NOT_ASKED = "not asked: "
"""Beginning of a verdict's reason if users are missing
because a limit of the run was reached.
"""


NEEDED = "users_needed"
"""Where the details of an inconclusive verdict say how many
users would show a promise that is kept.
"""

SHARED = "shared"
"""Where the details of a violated verdict name the common property of changed answers;
see `oracles.judging.shared`.
"""

AGAINST = "against"
"""Where the details of a verdict on two recommenders name
the one that answered the follow-up.
"""

DECLARES = "declares"
"""Where the details of a violated verdict name the declaration of
a recommender that is meant to break this promise.
"""

PART = "at_one_time"
"""Where the details of a verdict say how many of its users prove it, if those are the
users whose two sides were sent at one time.
"""

FITS_NEEDED = "fits_needed"
"""The same for fits a side, where the spread of fits with other seeds is too large."""

TOO_FEW = "these users are too few to show it, even if it is kept"
"""Why such a verdict of a shipped suite is left out."""

TOO_FEW_FITS = "these fits are too few to show it, even if it is kept"
"""The same where it is the fits."""


@dataclass(frozen=True, slots=True)
class Example:
    """One user's two answers in readable form, and how far they agree (0 to 1).

    `keeps` says whether this user's answers keep the promise, if known. `source_kinds`
    and `followup_kinds` say for each place whether the item was offered
    (`requests.EntryKind`); they are empty if all items of a side were offered.
    `source_asked` and `followup_asked` are the requests and the whole answers
    (`examples.Shown`), if known. `told` says whether the run was told to show this user.
    """

    user: str
    source: tuple[str, ...]
    followup: tuple[str, ...]
    score: float | None
    source_kinds: tuple[str, ...] = ()
    followup_kinds: tuple[str, ...] = ()
    keeps: bool | None = None
    source_asked: Any = field(default=None, repr=False, compare=False)
    followup_asked: Any = field(default=None, repr=False, compare=False)
    told: bool = field(default=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """One group of users that a verdict judges; the first of a verdict is all users.

    Attributes:
        slicing: The attribute that divides the users, ``genre``; empty for all users.
        value: The group, ``Horror``.
        status: ``violated``, ``holds``, or ``inconclusive`` if nothing is claimed;
            corrected for the number of groups.
        users: Users scored.
        estimate: Their mean effect; None if no user was scored.
        interval: Its bounds; of a group, corrected for the number of groups.
        p_value: That of the hypothesis that the promise holds for them alone, without
            any correction.
    """

    slicing: str
    value: str
    status: Status
    users: int
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float = 1.0


@dataclass(frozen=True)
class Verdict:
    """The result of an oracle. True in an `assert` only if the promise holds.

    Attributes:
        status: See `Status`.
        oracle: The oracle and its similarity or score: ``same_ranking:rbo``.
        relation: The transformation judged, by its name; empty for the unchanged
            request.
        against: The transformation of the side it is compared with; empty for the
            unchanged request.
        estimate: The mean effect over users, in the unit of the margin.
        interval: Its two one-sided (1 - alpha) bounds.
        margin: The largest effect that is no violation; declared before the run.
        allowed: The side of the margin on which the promise is kept; see `Allowed`.
        changes: Whether the promise is that answers change.
        floor: Mean agreement of each side with its own replicates.
        agreement: Mean agreement of source and follow-up.
        p_value: That of the hypothesis that the promise holds.
        users: Users scored.
        not_applicable: Users the transformation could not serve.
        errors: Users who got no answer: a call failed, or the recommender refused them
            although it answers others.
        account: The numbers of drawn users by their result; see
            `oracles.judging.account.Account`. The parts add up.
        looks: In how many steps requests were sent before the result was clear.
        reason: The facts that the numbers lack, in words: why inconclusive, which
            failures.
        examples: Users in order of disagreement, the worst first.
        metric, value, threshold: Set for benchmark tasks only.
        details: Further figures as plain JSON data, such as the points of a curve; see
            `report`.
        per_user: The effect or score of every scored user, in the order in which they
            were drawn.
        reach: The smallest and the largest possible value of a user, including the
            observed ones.
        joint: Whether the mean is a number of all users together, such as an aggregate.
        measures: The name of the number, in words that can follow "the": ``loss of
            ndcg@10``. Begin with ``share of`` for a share. Reports name the number so;
            without it, by its metric.
        vacuous: The part that the recommender does not read although the promise is
            about it (`requests.Aspect`); empty if it reads it, or if this is not known.
            ``details["unread"]`` says how it is known.
        approximate: Whether there is no proof that the bounds, and claims based on
            them, keep the declared error rate; `docs/statistics.md` measures how far
            they keep it.
        slices: All users and each group of them, as judged together; empty without
            groups. Then `status` and `p_value` are those of all of them, and the other
            numbers those of all users.
        again: Judges other sides in the same way, and the sides that were judged: for
            the search for the smallest request. None if nothing is searched.
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
    account: Mapping[str, int] = field(default_factory=dict)
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
    changes: bool = False
    joint: bool = False
    approximate: bool = False
    measures: str = ""
    slices: tuple[Slice, ...] = ()
    vacuous: str = ""
    ledger: Any = field(default=None, repr=False, compare=False)
    again: Any = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return _recorded(self, self.status == "holds")

    def __repr__(self) -> str:
        return f"<{self.summary}>"

    @property
    def summary(self) -> str:
        """The verdict as one sentence."""
        against = f" against {self.against}" if self.against else ""
        subject = (
            f"{self.relation or self.metric or self.oracle or 'the promise'}{against}"
        )
        facts = {
            each.name: getattr(self, each.name) for each in dataclasses.fields(self)
        }
        facts["slices"] = list(map(dataclasses.asdict, self.slices))
        return sentence(subject, self.status, facts)

    @property
    def broken(self) -> Slice | None:
        """The group that breaks the promise most surely; None if
        all users together do, or none does.
        """
        found = broken_group(list(map(dataclasses.asdict, self.slices)))
        return None if found is None else Slice(**found)

    @property
    def numbers(self) -> str:
        """One line with every number behind the verdict."""
        parts = [self.oracle]
        if self.metric is not None and self.value is not None:
            limit = "" if self.threshold is None else f" against {self.threshold:g}"
            parts.append(f"{self.metric}={self.value:.4f}{limit}")
        if self.estimate is not None and self.margin is not None:
            parts.append(f"D={self.estimate:.4f}, margin {self.margin:g}")
        if self.interval is not None:
            low, high = self.interval
            bounds = "approximate bounds" if self.approximate else "bounds"
            parts.append(f"{bounds} [{low:.4f}, {high:.4f}]")
        if self.p_value is not None:
            parts.append(f"p={self.p_value:.2g}")
        if self.floor is not None:
            parts.append(f"floor={self.floor:.3f}")
        parts.append(f"n={self.users}")
        missing = self.account or {
            "not_applicable": self.not_applicable,
            "errors": self.errors,
        }
        parts += [
            f"{word}={missing[key]}"
            for key, word in _MISSING.items()
            if missing.get(key)
        ]
        return "; ".join(filter(None, parts))


_MISSING = {
    "not_applicable": "not applicable",
    "unread": "unread",
    "failed": "failed",
    "refused": "refused",
    "undefined": "without a number",
    "left_out": "left out",
    "errors": "errors",
}
"""Users without a number in the account of a verdict, in words; ``errors`` where an
oracle of one's own has no account.
"""


@dataclass(frozen=True)
class Expectation:
    """A verdict inverted by `expect_violated`: true while the violation exists."""

    verdict: Verdict

    def __bool__(self) -> bool:
        return _recorded(self.verdict, self.verdict.status == "violated")

    def __repr__(self) -> str:
        return f"<expected to be violated: {self.verdict.summary}>"


def _require_verdict(function: str, verdict: object) -> None:
    if not isinstance(verdict, Verdict):
        raise TypeError(
            f"{function}: the first argument is a verdict of an oracle, got {verdict!r}",
        )


def annotate(verdict: Verdict, **details: Any) -> Verdict:
    """Add figures to a verdict; the record keeps them in its row.

    Args:
        verdict: A verdict of an oracle.
        **details: Plain JSON data; see `Verdict`. A number that is not finite is left
            out, and the row says where.

    Returns:
        The verdict to assert instead of the given one.

    Raises:
        TypeError: If it is no verdict.
        ValueError: If a figure is not plain JSON data.
    """
    _require_verdict("annotate", verdict)
    for name, figure in details.items():
        try:
            json.dumps(figure)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"annotate: {name} must be plain JSON data (numbers, texts, true, false, None, and "
                f"lists and dicts of them), got {figure!r}",
            ) from error
    noted = dataclasses.replace(verdict, details={**verdict.details, **details})
    if verdict.ledger is not None:
        verdict.ledger.replaced(verdict, noted)
    return noted


def dimension(
    verdict: Verdict,
    name: str,
    *,
    best: Literal["high", "low"] = "high",
) -> Verdict:
    """Name the dimension of a recommender that a verdict measures, for summaries of
    several.

    Args:
        verdict: The verdict of a benchmark task (its value counts) or of a promise (its
            effect).
        name: Name of the dimension.
        best: Where the best value is: at 1, or at 0; then the dimension is 1 minus its
            absolute value.

    Returns:
        The verdict with ``details["dimension"]``, in [0, 1] where 1 is best; unchanged
        if it has no number.

    Raises:
        TypeError: If it is no verdict.
    """
    _require_verdict("dimension", verdict)
    value = verdict.estimate if verdict.value is None else verdict.value
    if value is None:
        return verdict
    low, high = verdict.interval or (None, None)
    if best == "low" and low is not None and high is not None:
        sizes = sorted((abs(low), abs(high)))
        low, high = 1 - sizes[1], 1 if low <= 0 <= high else 1 - sizes[0]
    figures = {
        "value": 1 - abs(value) if best == "low" else value,
        "low": low,
        "high": high,
    }
    within = {
        key: None if number is None else min(1.0, max(0.0, number))
        for key, number in figures.items()
    }
    return annotate(verdict, dimension={"name": name, **within})


def expect_violated(verdict: Verdict) -> Expectation:
    """Declare a known violation: the test passes while it exists and fails once it is
    fixed.

    Args:
        verdict: A verdict of an oracle.

    Returns:
        A value to assert, true only if the verdict is ``violated``.

    Raises:
        TypeError: If `verdict` is not a verdict.
    """
    if not isinstance(verdict, Verdict):
        raise TypeError(
            f"expect_violated takes the verdict of an oracle, got {verdict!r}",
        )
    if verdict.ledger is not None:
        verdict.ledger.expected(verdict, "violated")
    return Expectation(verdict)


def _recorded(verdict: Verdict, truth: bool) -> bool:
    """Record in the test where an assert on a verdict
    failed, so that it can name the assert.
    """
    if verdict.ledger is None:
        return truth
    frame = sys._getframe(2)
    return bool(verdict.ledger.asserted(verdict, truth, frame.f_code, frame.f_lineno))
