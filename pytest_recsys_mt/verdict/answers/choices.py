"""The chosen options of multiple-choice questions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from pytest_recsys_mt.requests import Recommendation


@dataclass(frozen=True)
class Choices:
    """The chosen options of multiple-choice questions, one entry per question.

    Attributes:
        questions: Their names, which pair the questions of two sides.
        right: Position of the right option, from 0.
        chosen: Position of the chosen option; None for a missed answer, with no or
            several options.
        said: Text of the chosen option, which identifies options in another order.
        options: Number of options of each question.
        failed: Names of the questions whose call failed; they have no entry.
        label: The change of the questions, ``shuffled``; empty for the source.
        why: Why the first of `failed` failed; empty if unknown.
        unread: The first answers in which no option was read, as the model wrote them.
        digest: SHA-256 of the questions in their order; empty if unknown.
    """

    questions: tuple[str, ...]
    right: tuple[int, ...]
    chosen: tuple[int | None, ...]
    said: tuple[str | None, ...]
    options: int
    failed: tuple[str, ...] = ()
    label: str = ""
    why: str = ""
    unread: tuple[str, ...] = ()
    digest: str = ""

    @cached_property
    def hits(self) -> tuple[bool, ...]:
        """Whether each answer is right; a missed answer is wrong."""
        return tuple(
            one == other for one, other in zip(self.chosen, self.right, strict=True)
        )

    @property
    def accuracy(self) -> float:
        """Share of right answers among all; NaN without questions."""
        return sum(self.hits) / len(self.hits) if self.hits else math.nan

    @property
    def missed(self) -> float:
        """Share of missed answers among all; NaN without questions."""
        return self.unreadable / self.answers if self.answers else math.nan

    @property
    def silent(self) -> tuple[Recommendation, ...]:
        """The first missed answers."""
        return tuple(Recommendation((), text=text) for text in self.unread)

    @property
    def unreadable(self) -> int:
        """The number of missed answers."""
        return self.chosen.count(None)

    @property
    def answers(self) -> int:
        """The number of answers."""
        return len(self.chosen)
