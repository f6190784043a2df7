"""Compares two logs of answers to the same requests, without sending any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.parity.bounds import (
    Bounded,
    Status,
    bounded,
    bounded_apart,
    means,
)
from pytest_recsys_mt.parity.compared_lists import Lists
from pytest_recsys_mt.parity.compared_scores import Scores, compared_scores
from pytest_recsys_mt.parity.request_logs import MOST_LOST, Log, Numbered
from pytest_recsys_mt.parity.shared import shared_by_changed
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.verdict.answers import Context

FEW_ONCE = 0.01
"""Up to this share of requests may have one answer in a log that has two to the others:
they count as unknown. Beyond it, noise is that of the others.
"""

MOST_ITEMS = 10
"""Items that are listed of those which lists lost or gained."""


@dataclass(frozen=True)
class Account:
    """The requests of both logs by their result: their sum is `requests`.

    Attributes:
        requests: All requests that a log names.
        compared: Those that count.
        only_first: Those that the second log does not answer.
        only_second: Those that the first log does not answer.
        other_user: Those of which the logs name two users.
        asked_once: Those that are left out since a log whose two answers to others
            differ has one answer to them, so their noise is unknown.
        empty: Those whose lists are empty in both logs, so that there is nothing to
            compare.
    """

    requests: int
    compared: int
    only_first: int
    only_second: int
    other_user: int
    asked_once: int
    empty: int

    @property
    def lost(self) -> float:
        """The share of requests that only one log answers, or that have two users."""
        return self.missing / self.requests

    @property
    def missing(self) -> int:
        """How many requests only one log answers, or have two users."""
        return self.only_first + self.only_second + self.other_user


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two logs.

    Attributes:
        status: Of the claim that the lists are the same except for the noise of both.
        account: The requests by their result.
        noisy: Whether a log has two answers to one request that differ, so that noise
            is known and taken off.
        noise_of: How many of the compared requests show that noise, if not all do: that
            of the others is taken to be alike.
        users: How many users the compared requests are of; each counts once.
        margin: The most that `mean` may be.
        mean: The mean share of changed lists of a user; with noise, the mean loss of
            agreement beyond it.
        bounds: Of the mean over all users, each wrong with a probability of at most
            `ALPHA`.
        changed: How many compared requests have another list.
        reordered: How many of those have the same items in another order.
        agreement: The mean agreement of both lists (RBO), over users.
        floor: The mean agreement of two answers of one recommender, likewise; None
            without noise.
        unknown: For each log, whether nothing is known of its noise, though the other
            one varies.
        is_noisier: See `Bounded`.
        places: How many places of each list are compared.
        items: The items whose lists differ most in number: the item, lists of the first
            log with it, of the second.
        shared: The common property of the changed lists, in a sentence or two; empty if
            none stands out.
        scores: How the scores of the same items differ; None if a log has none.
    """

    status: Status
    account: Account
    noisy: bool
    users: int
    margin: float
    mean: float
    bounds: tuple[float, float]
    changed: int
    reordered: int
    agreement: float
    floor: float | None
    places: int
    items: Sequence[tuple[str, int, int]] = ()
    shared: str = ""
    noise_of: int | None = None
    unknown: tuple[bool, bool] = (False, False)
    is_noisier: bool = False
    scores: Scores | None = None


def compare(
    first: Log,
    second: Log,
    numbered: Numbered,
    margin: float,
    *,
    catalogue: Mapping[str, Item],
    thing: str = "",
) -> Comparison:
    """Compare the answers of two recommenders to the same requests.

    Users are the sample: each has the mean of its requests. A request that only one log
    answers, or of two users, counts at both ends of the possible values. Noise is taken
    off request by request where a log has two answers to (nearly) each; where it has two
    to some, see `bounded_apart`.

    Args:
        first: One log.
        second: The other one.
        numbered: The numbers of both.
        margin: The most that the mean may be, in (0, 1).
        catalogue: Facts about items, by id; may be empty.
        thing: The name of an item, such as ``book``.
    """
    noisy = first.varies or second.varies
    sample = _Sample.of(first, second)
    lists, user = sample.lists, first.users[sample.chosen]
    found = sample.bounded(user, margin, noisy)
    is_enough = _allows_claims(sample.account, first, second)
    shared = ""
    if not (is_enough and found.status == "holds") and len(user):
        # Lists that differ by noise say nothing of the items in them.
        context = Context(items=catalogue, thing=thing, deterministic=not noisy)
        logs = (first, second)
        shared = shared_by_changed(logs, sample.chosen, lists, numbered, context)
    shows_noise = ~np.isnan(lists.floors).all(axis=0)
    return Comparison(
        status=found.status if is_enough else "error",
        account=sample.account,
        noisy=noisy,
        users=len(np.unique(user)),
        margin=margin,
        mean=found.mean,
        bounds=(found.low, found.high),
        changed=int(lists.differs.sum()),
        reordered=int((lists.differs & lists.same_items).sum()),
        agreement=_mean_of_users(user, lists.agreement),
        floor=_mean_floor(user, lists) if noisy else None,
        unknown=lists.unknown if noisy else (False, False),
        is_noisier=found.is_noisier,
        noise_of=int(shows_noise.sum()) if sample.is_apart else None,
        places=lists.before.shape[1],
        items=_moved_items(lists.before, lists.after, numbered),
        shared=shared,
        scores=compared_scores(first, second, sample.chosen, lists, numbered),
    )


@dataclass(frozen=True)
class _Sample:
    """The requests that are compared.

    Attributes:
        chosen: Their numbers.
        lists: The lists of both logs.
        account: All requests by their result.
        lost: The user of each request of which nothing is known.
        is_apart: Whether noise is that of some of the requests; see `bounded_apart`.
    """

    chosen: Integers
    lists: Lists
    account: Account
    lost: Integers
    is_apart: bool

    @classmethod
    def of(cls, first: Log, second: Log) -> _Sample:
        chosen, account = _compared(first, second)
        lists = Lists.of(first, second, chosen)
        lost = _users_of_lost(first, second)
        once = np.isnan(lists.floor())
        if once.sum() > FEW_ONCE * len(once):
            return cls(chosen, lists, account, lost, is_apart=True)
        twice = ~once
        account = replace(
            account,
            compared=int(twice.sum()),
            asked_once=int(once.sum()),
        )
        lost = np.append(lost, first.users[chosen[once]])
        return cls(chosen[twice], lists.take(twice), account, lost, is_apart=False)

    def bounded(self, user: Integers, margin: float, noisy: bool) -> Bounded:
        """What is claimed of the mean user."""
        lists = self.lists
        if self.is_apart:
            return bounded_apart(
                user,
                lists.agreement,
                lists.floors,
                self.lost,
                margin,
            )
        low = -1.0 if noisy else 0.0
        return bounded(user, lists.effects(noisy), self.lost, low, margin)


def _mean_floor(user: Integers, lists: Lists) -> float | None:
    """The mean agreement of a log with itself, of those of which it is known."""
    floors = []
    for floor in lists.floors:
        has_two = ~np.isnan(floor)
        if has_two.any():
            floors.append(_mean_of_users(user[has_two], floor[has_two]))
    return float(np.mean(floors)) if floors else None


def _mean_of_users(user: Integers, values: Floats) -> float:
    return float(means(user, values).mean()) if len(user) else 0.0


def _compared(first: Log, second: Log) -> tuple[Integers, Account]:
    """The requests that count, and the others by their result."""
    in_first, in_second = first.answered(0), second.answered(0)
    in_both = in_first & in_second
    of_one_user = first.users == second.users
    counted = in_both & of_one_user
    has_items = first.has_items | second.has_items
    chosen = np.flatnonzero(counted & has_items)
    account = Account(
        requests=len(in_first),
        compared=len(chosen),
        only_first=int((in_first & ~in_second).sum()),
        only_second=int((in_second & ~in_first).sum()),
        other_user=int((in_both & ~of_one_user).sum()),
        asked_once=0,
        empty=int((counted & ~has_items).sum()),
    )
    return chosen, account


def _allows_claims(account: Account, first: Log, second: Log) -> bool:
    """Whether so many requests can be compared that something may be claimed."""
    if account.compared == 0:
        return False
    return max(account.lost, first.unread, second.unread) <= MOST_LOST


def _users_of_lost(first: Log, second: Log) -> Integers:
    """The user of each request that cannot be compared, because
    one log lacks it or names another user.
    """
    in_first, in_second = first.answered(0), second.answered(0)
    of_two_users = in_first & in_second & (first.users != second.users)
    lost = (in_first ^ in_second) | of_two_users
    users: Integers = np.where(in_first, first.users, second.users)[lost]
    return users


def _moved_items(
    before: Integers,
    after: Integers,
    numbered: Numbered,
) -> list[tuple[str, int, int]]:
    """The items that most lists lost or gained, the largest difference first."""
    size = len(numbered.items) + 1
    counts = [
        np.bincount((lists + 1).ravel(), minlength=size)[1:]
        for lists in (before, after)
    ]
    difference = np.abs(counts[1] - counts[0])
    most = np.argsort(-difference, kind="stable")[:MOST_ITEMS]
    names = list(numbered.items.by_text)
    return [
        (names[item], int(counts[0][item]), int(counts[1][item]))
        for item in most.tolist()
        if difference[item]
    ]
