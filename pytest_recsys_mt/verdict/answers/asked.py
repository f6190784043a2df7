"""Users whose requests were sent: the answers of each, or why there are none, and how
many there are of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Item, Recommendation, Request


@dataclass(frozen=True, slots=True)
class Asked:
    """One user's request and its answers, one per replicate.

    Attributes:
        request: As the recommender saw it (replicate 0).
        answers: One per replicate, in their order; none of them is an error.
        relevant: Ids of the items held out for this user; no recommender ever sees
            them.
        past: Ids of all items of the user in the training data, oldest first; empty if
            only the request is known.
        hidden: Ids of those that the recommender did not receive. They count against no
            answer.
    """

    request: Request
    answers: tuple[Recommendation, ...]
    relevant: frozenset[str] = frozenset()
    past: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()

    @property
    def user(self) -> str:
        """Id of the user."""
        return self.request.user

    @property
    def unread(self) -> tuple[Recommendation, ...]:
        """The answers of which nothing could be read."""
        return tuple(answer for answer in self.answers if answer.unread)


def offer_of(asked: Asked, catalogue: Mapping[str, Item]) -> Collection[str]:
    """Ids of the items that a request offers."""
    request = asked.request
    if request.candidates is not None:
        return {item.id for item in request.candidates}
    return catalogue.keys() - request.known


def offered(asked: Asked, catalogue: Mapping[str, Item]) -> Callable[[str], bool]:
    """Whether an item is in `offer_of`; without a catalogue,
    whether it is not marked as unknown.
    """
    request = asked.request
    if request.candidates is not None:
        return {item.id for item in request.candidates}.__contains__
    if not catalogue:
        return lambda item: not item.startswith(UNKNOWN_PREFIX)
    known = request.known
    return lambda item: item in catalogue and item not in known


@dataclass(frozen=True)
class Lost:
    """A user whose request was sent and got no answer.

    The answers of these users are unknown. So each counts at both ends of the possible
    values, and is never left out.

    Attributes:
        user: Id of the user.
        why: ``failed`` if a call failed, ``refused`` if the recommender raised
            `NotApplicable` for this user although it answered others.
        reason: The error, or the reason of the refusal.
        source: The answered original request, if only the follow-up is missing; None
            otherwise.
    """

    user: str
    why: Literal["failed", "refused"]
    reason: str
    source: Asked | None = None


class Counted:
    """The counts that `Sample` and `Pairs` share."""

    lost: tuple[Lost, ...]

    @property
    def silent(self) -> tuple[Recommendation, ...]:
        """The answers of which nothing could be read."""
        raise NotImplementedError

    @property
    def unreadable(self) -> int:
        """Their number."""
        return len(self.silent)

    @property
    def errors(self) -> Counter[str]:
        """Why users got no answer, with their number."""
        return Counter(lost.reason for lost in self.lost)
