"""The state of every user who was drawn: who counts in a verdict, and how.

Each drawn user is in exactly one part of the account. A user without a number is never
left out in silence: one that was asked and has none counts at both ends of the
possible range, as the worst effect for ``holds`` and as the best for ``violated``. Only
users for whom a measure is not defined, by its own declaration, are left out, and the
verdict says how many and why.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_recsys_mt.verdict.answers import Pairs, Sample

Tally = Sample | Pairs

NO_ANSWER = "no recommendation in any answer"
"""Why users whose answers are all empty have no number; it counts as a failure."""

NO_REASON = "no reason given"
"""In place of an empty reason."""


@dataclass(frozen=True)
class Account:
    """The drawn users of a verdict, all counted.

    Attributes:
        drawn: Users drawn for the run.
        not_applicable: Users without a question, because the relation or the
            recommender cannot serve them, by reason.
        not_asked: Users whom the verdict did not need, or whom a limit of the run left
            out.
        answered: Users with a number.
        unread: Users with an answer of which nothing could be read.
        failed: Users of whom a call failed, or whose answers are all empty, by reason.
        refused: Users whom the recommender refused although it answers others, by
            reason.
        undefined: Users whose answers have no number, by reason.
        left_out: Users for whom the measure declares that it is not defined, by reason.
    """

    drawn: int
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    not_asked: int = 0
    answered: int = 0
    unread: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        tally: Tally,
        *,
        answered: int,
        unread: int,
        failed: Mapping[str, int],
        undefined: Mapping[str, int],
        left_out: Mapping[str, int],
    ) -> "Account":
        """The account of the users in `tally`, with what
        their answers turned out to be.
        """
        by_reason = {
            why: Counter(lost.reason for lost in tally.lost if lost.why == why)
            for why in ("failed", "refused")
        }
        beyond_a_limit = sum(tally.unasked.values())
        known = sum(tally.not_applicable.values()) + len(tally.order)
        drawn = known if tally.sampled is None else tally.sampled
        never_asked = drawn - known
        return cls(
            drawn=drawn,
            not_applicable=dict(tally.not_applicable),
            not_asked=never_asked + beyond_a_limit,
            answered=answered,
            unread=unread,
            failed=by_reason["failed"] + Counter(failed),
            refused=by_reason["refused"],
            undefined=dict(undefined),
            left_out=dict(left_out),
        )

    @property
    def missing(self) -> int:
        """Users who were asked and count at both ends of the possible range."""
        return self.unread + sum(
            sum(reasons.values())
            for reasons in (self.failed, self.refused, self.undefined)
        )

    @property
    def asked(self) -> int:
        """Users who were asked, with any result."""
        return self.answered + self.missing + sum(self.left_out.values())

    @property
    def without_number(self) -> int:
        """Users of whom the verdict says nothing: without a question, or left out."""
        return sum(self.not_applicable.values()) + sum(self.left_out.values())

    @property
    def errors(self) -> Counter[str]:
        """Why users got no answer, with their number;
        `Context.error_limit` is about these.
        """
        return Counter(self.failed) + Counter(self.refused)

    @property
    def plain(self) -> dict[str, int]:
        """The account as the record has it; see `docs/report.md`."""
        return {
            "drawn": self.drawn,
            "not_applicable": sum(self.not_applicable.values()),
            "not_asked": self.not_asked,
            "asked": self.asked,
            "answered": self.answered,
            "unread": self.unread,
            "failed": sum(self.failed.values()),
            "refused": sum(self.refused.values()),
            "undefined": sum(self.undefined.values()),
            "left_out": sum(self.left_out.values()),
            "both_ends": self.missing,
        }
