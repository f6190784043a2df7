"""What the runner hands to an oracle: the answers of every user, and nothing that can ask for more.

Oracles see plain data only (requests, recommendations, the declared error rates), so judging can
never call a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_recsys_mt.requests import Item, Recommendation, Request
from pytest_recsys_mt.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Asked:
    """One user's request and its answers, one a replicate.

    Attributes:
        request: As the recommender saw it (replicate 0).
        answers: One a replicate, in their order; none of them is an error.
        relevant: Ids of the items held out for this user; no recommender ever sees them.
        past: Ids of all items that the user has in the training data, oldest first, whatever of them
            the request shows; empty where nothing is known beyond the request.
    """

    request: Request
    answers: tuple[Recommendation, ...]
    relevant: frozenset[str] = frozenset()
    past: tuple[str, ...] = ()

    @property
    def user(self) -> str:
        """Whose request it is."""
        return self.request.user


@dataclass(frozen=True)
class Context:
    """The rules and the facts that all answers of one run share.

    Attributes:
        alpha: Error rate of each one-sided claim, in (0, 0.5).
        error_limit: Largest share of users whose calls may fail.
        deterministic: Whether the recommender declares that it always answers alike; then there is
            one replicate a side.
        family: How many promises the run can find violated; those that are get asked on until they
            stand among so many.
        items: The catalogue by item id.
        ask_everybody: Whether all users are asked at once, as a comparison with another run needs.
        popularity: Training interactions by item id; items of the catalogue without any have 0.
        users: Users of the training interactions; 0 where that is not known.
        report: Told of every verdict made; returns it, tied to the test it was made in.
    """

    alpha: float = 0.05
    error_limit: float = 0.05
    deterministic: bool = False
    family: int = 1
    ask_everybody: bool = False
    items: Mapping[str, Item] = field(default_factory=dict)
    popularity: Mapping[str, int] = field(default_factory=dict)
    users: int = 0
    report: Callable[[Verdict], Verdict] = lambda verdict: verdict


@dataclass(frozen=True)
class Sample:
    """The answers of one side.

    Attributes:
        asked: Users with answers, in the order they were sampled.
        not_applicable: Why users could not be asked, with how many; known of all users at once.
        errors: Why users' calls failed, with how many.
        unasked: Why users were not asked although they could have been, with how many.
    """

    asked: tuple[Asked, ...]
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    unasked: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pairs:
    """The answers of both sides for the users that have both; ``source[i]`` and ``followup[i]``
    are of one user.

    Attributes:
        source: Answers to the original requests.
        followup: Answers to the transformed ones.
        not_applicable: Why further users could not be asked, with how many.
        errors: Why further users' calls failed, with how many; not those of `broken`.
        unasked: Why further users were not asked although they could have been, with how many.
        broken: Answers of the source of users whose follow-up kept failing, by the reason.
        order: All users asked, in the order drawn, whatever became of them.
        apart: Seconds between the asking of source and follow-up, the most of any user: 0 where
            both sides were asked together, infinity where the time is not known.
    """

    source: tuple[Asked, ...]
    followup: tuple[Asked, ...]
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    unasked: Mapping[str, int] = field(default_factory=dict)
    broken: Mapping[str, Sequence[Asked]] = field(default_factory=dict, kw_only=True)
    order: tuple[str, ...] = field(default=(), kw_only=True)
    apart: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True)
class Choices:
    """What was chosen in multiple-choice questions, one entry a question.

    Attributes:
        questions: Their names, which pair the questions of two sides.
        right: Place of the right option, from 0.
        chosen: Place of the chosen one; None where none was, or several were: a missed answer.
        said: Text of the chosen option, by which options are known again in another order.
        options: How many each question has.
        failed: Names of the questions whose call failed; they have no entry.
        label: What was done to the questions, ``shuffled``; empty for the source.
        why: Why the first of `failed` did; empty where that is not known.
    """

    questions: tuple[str, ...]
    right: tuple[int, ...]
    chosen: tuple[int | None, ...]
    said: tuple[str | None, ...]
    options: int
    failed: tuple[str, ...] = ()
    label: str = ""
    why: str = ""

    @property
    def hits(self) -> tuple[bool, ...]:
        """Whether each question was answered rightly; a missed answer is wrong."""
        return tuple(one == other for one, other in zip(self.chosen, self.right, strict=True))

    @property
    def accuracy(self) -> float:
        """Share of right answers among all; NaN without any question."""
        return sum(self.hits) / len(self.hits) if self.hits else math.nan

    @property
    def missed(self) -> float:
        """Share of missed answers among all; NaN without any question."""
        return self.chosen.count(None) / len(self.chosen) if self.chosen else math.nan


class Answers(Protocol):
    """`source` and `followup`, as a test gets them. Lazy: nothing is asked until an oracle looks."""

    @property
    def label(self) -> str:
        """Name of the transformations applied, ``scale_ratings(2)``; empty for the source."""
        ...

    @property
    def context(self) -> Context:
        """The rules and facts of this run."""
        ...

    @property
    def same_seed(self) -> bool:
        """Whether replicate r was asked with the seed of the source's replicate r."""
        ...

    def applicable(self, followup: Answers | None = None, /) -> int:
        """How many users this side can serve, and `followup` too. Asks nothing."""
        ...

    def sample(self, users: int | None = None) -> Sample:
        """The answers of the first so many users that can be served; of all if None.

        Asks what has not been asked yet, and nothing of further users.
        """
        ...

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        """The answers of this side and of `followup`, aligned by user, else as `sample`."""
        ...

    def pair_anew(self, followup: Answers, /, users: int) -> Pairs | None:
        """Both sides of `pair` asked once more, as one batch that treats them alike.

        None where the answers cannot change.
        """
        ...
