"""The answers of users, of one side or of both, and
the rules and facts that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, Protocol

from pytest_recsys_mt.requests import Item, Message, Recommendation, Request
from pytest_recsys_mt.verdict.answers.asked import Asked, Counted, Lost
from pytest_recsys_mt.verdict.answers.named import Named
from pytest_recsys_mt.verdict.verdict import Verdict


@dataclass(frozen=True)
class Unread:
    """A part of a request that a recommender does not read.

    Attributes:
        aspect: The part; see `requests.Aspect`.
        shown: How this is known, as plain data: the ``relation`` that changes it, the
            number that it ``measures``, and the limit that it is ``below``, over so
            many ``users``. Only ``declared`` if the recommender says so itself.
    """

    aspect: str
    shown: Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """The rules and the facts that all answers of one run share.

    Attributes:
        alpha: Error rate of each one-sided claim, in (0, 0.5).
        error_limit: Largest share of users whose calls may fail.
        missed_limit: Largest share of answers of which nothing may be read.
        deterministic: Whether the recommender declares that it always answers alike; a
            side has one replicate then.
        in_process: Whether this process alone answers, so that no answer changes with
            time.
        family: How many promises the run can find violated. For a violated one,
            requests are sent until it stands after that correction.
        items: The catalogue by item id.
        thing: The name of one of them, such as ``book``; empty for ``item``.
        ask_everybody: Whether requests of all users are sent at once, as a comparison
            with another run needs.
        made_up: Whether answers are made up for a plan, so that all possible requests
            are sent.
        alone: Whether one user is judged alone, for a smallest example: the number
            of further users that it would take is not needed.
        popularity: Training interactions by item id; items of the catalogue without any
            have 0.
        first_times: Returns when each item was first rated, in Unix seconds, by item
            id; empty if unknown.
        neighbours: The items that the same users have, nearest first, by item id.
        users: Number of users with training interactions; 0 if unknown.
        slices: How oracles divide the users, unless their arguments say otherwise.
        shown: The users whose answers every verdict shows, whatever they are.
        everybody: Returns all sampled users, without answers; none if they cannot be
            divided.
        report: Receives every verdict; returns it, linked to its test.
        messages: Returns the messages of a text model for a request; none for other
            recommenders.
        unread: Returns the part that the relation between two sides changes if it is
            not read; None if it is, or is unknown.
        ignored: Returns why the change between two sides cannot matter, as the
            recommender declares not to read it; empty if it may.
        declaration: Returns the declaration of a recommender that is meant to break a
            promise between two sides, as Python writes it; the third argument is
            whether the promise is that answers change. Empty if nothing excuses it.
        unsure: Returns why equal replicates do not show that the recommender has no
            noise; empty if they do.
        named: Sends requests of users whom a test names; None if these answers are of
            no other users.
    """

    alpha: float = 0.05
    error_limit: float = 0.05
    missed_limit: float = 0.1
    deterministic: bool = False
    in_process: bool = False
    family: int = 1
    ask_everybody: bool = False
    made_up: bool = False
    alone: bool = False
    items: Mapping[str, Item] = field(default_factory=dict)
    thing: str = ""
    popularity: Mapping[str, int] = field(default_factory=dict)
    first_times: Callable[[], Mapping[str, float]] = dict
    neighbours: Mapping[str, Sequence[str]] = field(default_factory=dict)
    users: int = 0
    slices: tuple[str, ...] = ()
    shown: frozenset[str] = frozenset()
    everybody: Callable[[], Sequence[Asked]] = tuple
    report: Callable[[Verdict], Verdict] = lambda verdict: verdict
    messages: Callable[[Request], Sequence[Message]] = lambda request: ()
    unread: Callable[[Answers, Answers], Unread | None] = lambda source, followup: None
    ignored: Callable[[Answers, Answers], str] = lambda source, followup: ""
    declaration: Callable[[Answers, Answers, bool], str] = (
        lambda source, followup, changes: ""
    )
    unsure: Callable[[], str] = str
    named: Named[Answers] | None = None


Span = Callable[["Asked", Context], tuple[float, float]]
"""Returns the smallest and the largest possible value of a number for a user."""

Drawn = Literal["users", "candidates", "held-out items", "changes"]
"""The parts of a run that were drawn. A mean is exact only if none was drawn for it."""


@dataclass(frozen=True)
class Sample(Counted):
    """The answers of one side.

    Attributes:
        asked: Users whose answers all could be read, in the order they were sampled.
        not_applicable: Why users got no request, with their number; covers all users.
        lost: Users whose request was sent and got no answer.
        unasked: Why possible requests of users were not sent, with their number.
        unread: Users with an answer of which nothing could be read. Their list is
            unknown, so they count against every claim, and are never left out.
        order: All users with a request, in the order drawn, whatever the result; by
            default those with answers.
        ends: Returns the ends of a span over all users of the data, with a request or
            not; None if those with one are all.
        drawn: The parts of these requests that were drawn at random: none if they are
            of all possible users of the data, and neither their candidates nor their
            changes were drawn.
        sampled: How many users were drawn for the run, with a request or not; None if
            those known here are all.
    """

    asked: tuple[Asked, ...]
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[Lost, ...] = ()
    unasked: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[Asked, ...] = field(default=(), kw_only=True)
    order: tuple[str, ...] = field(default=(), kw_only=True)
    ends: Callable[[Span], tuple[float, float]] | None = field(
        default=None,
        kw_only=True,
        compare=False,
    )
    drawn: frozenset[Drawn] = field(default=frozenset({"users"}), kw_only=True)
    sampled: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not self.order:
            answered = [asked.user for asked in (*self.asked, *self.unread)]
            lost = [each.user for each in self.lost]
            object.__setattr__(self, "order", (*answered, *lost))

    @property
    def everyone(self) -> tuple[Asked, ...]:
        """All users with an answer, whether it could be read or not."""
        return (*self.asked, *self.unread)

    @property
    def unread_users(self) -> tuple[str, ...]:
        """The users in `unread`."""
        return tuple(asked.user for asked in self.unread)

    @property
    def silent(self) -> tuple[Recommendation, ...]:
        """The answers of which nothing could be read."""
        return tuple(answer for asked in self.unread for answer in asked.unread)

    @property
    def answers(self) -> int:
        """How many answers there are, read or not."""
        return sum(len(asked.answers) for asked in self.everyone)

    def whole(self) -> Sample:
        """The same with all users in `asked`, for values that an
        unread answer has too.
        """
        if not self.unread:
            return self
        place = {user: at for at, user in enumerate(self.order)}
        ordered = sorted(self.everyone, key=lambda asked: place[asked.user])
        return replace(self, asked=tuple(ordered), unread=())


@dataclass(frozen=True)
class Pairs(Counted):
    """The answers of both sides for the users that have both.

    ``source[i]`` and ``followup[i]`` are of one user.

    Attributes:
        source: Answers to the original requests, of users whose answers all could be
            read.
        followup: Answers to the transformed ones.
        not_applicable: Why other users got no request, with their number.
        lost: Other users whose requests were sent and got no answer on at least one
            side.
        unasked: Why possible requests of other users were not sent, with their number.
        unread: Both sides of users with an answer of which nothing could be read, as in
            `Sample`.
        order, ends, drawn, sampled: As in `Sample`, over both sides.
        apart: Seconds between source and follow-up calls, the largest of all users: 0
            if both sides were sent together, infinity if the time is unknown.
        mixed: The users of whom it is not 0 and, if one fingerprint answered both
            sides, more than an hour.
        days: Whether the follow-up was sent in this run on purpose, while source
            answers may be those of earlier runs: the claim is about a change with time,
            which is then no reason to withdraw it.
        refits: Whether each answer of a user is from another fit, which all users
            share: then users alone do not show the whole noise.
    """

    source: tuple[Asked, ...]
    followup: tuple[Asked, ...]
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[Lost, ...] = ()
    unasked: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[tuple[Asked, Asked], ...] = field(default=(), kw_only=True)
    order: tuple[str, ...] = field(default=(), kw_only=True)
    ends: Callable[[Span], tuple[float, float]] | None = field(
        default=None,
        kw_only=True,
        compare=False,
    )
    drawn: frozenset[Drawn] = field(default=frozenset({"users"}), kw_only=True)
    sampled: int | None = field(default=None, kw_only=True)
    apart: float = field(default=0.0, kw_only=True)
    mixed: frozenset[str] = field(default=frozenset(), kw_only=True)
    days: bool = field(default=False, kw_only=True)
    refits: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.order:
            answered = [asked.user for asked in self.source] + list(self.unread_users)
            lost = [each.user for each in self.lost]
            object.__setattr__(self, "order", (*answered, *lost))

    @property
    def unread_users(self) -> tuple[str, ...]:
        """The users in `unread`."""
        return tuple(source.user for source, _ in self.unread)

    @property
    def silent(self) -> tuple[Recommendation, ...]:
        """The answers of which nothing could be read."""
        return tuple(
            answer for both in self.unread for asked in both for answer in asked.unread
        )

    @property
    def answers(self) -> int:
        """How many answers there are on both sides, read or not."""
        return sum(
            len(asked.answers)
            for asked in (
                *self.source,
                *self.followup,
                *chain.from_iterable(self.unread),
            )
        )

    def whole(self) -> Pairs:
        """The same with all users in `source` and `followup`,
        where an unread answer is an empty list.
        """
        if not self.unread:
            return self
        place = {user: at for at, user in enumerate(self.order)}
        both = [*zip(self.source, self.followup, strict=True), *self.unread]
        both.sort(key=lambda sides: place[sides[0].user])
        source, followup = zip(*both, strict=True)
        return replace(self, source=source, followup=followup, unread=())

    def at_once(self) -> Pairs:
        """The same without the users in `mixed`."""
        both = [*zip(self.source, self.followup, strict=True)]
        kept = [sides for sides in both if sides[0].user not in self.mixed]
        return replace(
            self,
            source=tuple(one for one, _ in kept),
            followup=tuple(two for _, two in kept),
            lost=tuple(each for each in self.lost if each.user not in self.mixed),
            unread=tuple(
                sides for sides in self.unread if sides[0].user not in self.mixed
            ),
            order=tuple(user for user in self.order if user not in self.mixed),
            mixed=frozenset(),
            apart=0.0,
        )

    def joined(self, other: Pairs) -> Pairs:
        """These users and those of `other`, which must be different ones."""
        return replace(
            other,
            source=self.source + other.source,
            followup=self.followup + other.followup,
            lost=self.lost + other.lost,
            unread=self.unread + other.unread,
            order=self.order + other.order,
        )

    @property
    def everyone(self) -> tuple[Asked, ...]:
        """Both sides of all users, as far as they were answered."""
        unread = chain.from_iterable(self.unread)
        broken = [lost.source for lost in self.lost if lost.source is not None]
        return (*self.source, *self.followup, *unread, *broken)


class Answers(Protocol):
    """`source` and `followup` of a test. Lazy: calls are
    sent only when an oracle reads them.
    """

    @property
    def label(self) -> str:
        """Name of the transformations applied,
        ``scale_ratings(2)``; empty for the source.
        """
        ...

    @property
    def context(self) -> Context:
        """The rules and facts of this run."""
        ...

    @property
    def same_seed(self) -> bool:
        """Whether replicate r was sent with the seed of the source's replicate r."""
        ...

    def applicable(self, followup: Answers | None = None, /) -> int:
        """How many users this side can serve, and `followup` too. Sends no calls."""
        ...

    def sample(self, users: int | None = None) -> Sample:
        """The answers of the first `users` users that can be served; of all if None.

        Sends the missing calls of these users only.
        """
        ...

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        """The answers of this side and of `followup`, aligned
        by user; otherwise like `sample`.
        """
        ...

    def pair_anew(
        self,
        followup: Answers,
        /,
        users: int,
        *,
        without: Collection[str] = (),
        alone: bool = False,
    ) -> Pairs | None:
        """Both sides of the first `users` users sent once more, except those in
        `without`.

        They are sent in one batch that treats both sides alike, or each request by
        itself if `alone`. None if no answer can change.
        """
        ...
