"""Compares two logs of answers to the same requests, without sending any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats, Integers
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.parity.compared_lists import Lists
from pytest_recsys_mt.parity.request_logs import MOST_LOST, Log, Numbered
from pytest_recsys_mt.parity.shared import shared_by_changed
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.requests.seeds import generator
from pytest_recsys_mt.verdict.answers import Context

ALPHA = 0.05
"""Error rate of either claim."""

MOST_ITEMS = 10
"""Items that are listed of those which lists lost or gained."""

Status = Literal["holds", "violated", "inconclusive", "error"]


@dataclass(frozen=True)
class Account:
    """The requests of both logs by their result: their sum is `requests`.

    Attributes:
        requests: All requests that a log names.
        compared: Those that count.
        only_first: Those that the second log does not answer.
        only_second: Those that the first log does not answer.
        other_user: Those of which the logs name two users.
        asked_once: Those with one answer in a log whose two answers to others differ,
            so their noise is unknown.
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
        return (self.only_first + self.only_second + self.other_user) / self.requests


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two logs.

    Attributes:
        status: Of the claim that the lists are the same except for the noise of both.
        account: The requests by their result.
        noisy: Whether a log has two answers to one request that differ, so that noise
            is known and taken off.
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
        places: How many places of each list are compared.
        items: The items whose lists differ most in number: the item, lists of the first
            log with it, of the second.
        shared: The common property of the changed lists, in a sentence or two; empty if
            none stands out.
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

    Users are the sample: each has the mean of its requests, and they are bet on in a
    random order (see `Bets`). A request that only one log answers, or of two users,
    counts at both ends of the possible values: as another list against the claim that
    lists are the same, and as the same list against the opposite claim.

    Args:
        first: One log.
        second: The other one.
        numbered: The numbers of both.
        margin: The most that the mean may be, in (0, 1).
        catalogue: Facts about items, by id; may be empty.
        thing: The name of an item, such as ``book``.
    """
    varying = [log for log in (first, second) if log.varies]
    noisy = bool(varying)
    chosen, account = _compared(first, second, varying)
    lists = Lists.of(first, second, chosen)
    effect = lists.effect(noisy)
    user = first.users[chosen]
    by_user = _means(user, effect)
    low = -1.0 if noisy else 0.0
    at_least, at_most = _at_ends(user, effect, _users_of_lost(first, second), low)
    status, bounds = _judged(at_least, at_most, low, margin)
    if not _allows_claims(account, first, second):
        status = "error"
    shared = ""
    if status != "holds" and len(chosen):
        # Lists that differ by noise say nothing of the items in them.
        context = Context(items=catalogue, thing=thing, deterministic=not noisy)
        shared = shared_by_changed((first, second), chosen, lists, numbered, context)
    return Comparison(
        status=status,
        account=account,
        noisy=noisy,
        users=len(by_user),
        margin=margin,
        mean=_mean(by_user),
        bounds=bounds,
        changed=int(lists.differs.sum()),
        reordered=int((lists.differs & lists.same_items).sum()),
        agreement=_mean(_means(user, lists.agreement)),
        floor=_mean(_means(user, lists.floor)) if noisy else None,
        places=lists.before.shape[1],
        items=_moved_items(lists.before, lists.after, numbered),
        shared=shared,
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _compared(
    first: Log,
    second: Log,
    varying: Sequence[Log],
) -> tuple[Integers, Account]:
    """The requests that count, and the others by their result;
    those of `varying` need two answers.
    """
    in_first, in_second = first.answered(0), second.answered(0)
    in_both = in_first & in_second
    of_one_user = first.users == second.users
    counted = in_both & of_one_user
    other_user = int((in_both & ~of_one_user).sum())
    with_noise = counted
    for log in varying:
        with_noise = with_noise & log.answered(1)
    has_items = first.has_items | second.has_items
    chosen = np.flatnonzero(with_noise & has_items)
    account = Account(
        requests=len(in_first),
        compared=len(chosen),
        only_first=int((in_first & ~in_second).sum()),
        only_second=int((in_second & ~in_first).sum()),
        other_user=other_user,
        asked_once=int((counted & ~with_noise).sum()),
        empty=int((with_noise & ~has_items).sum()),
    )
    return chosen, account


def _means(user: Integers, values: Floats) -> Floats:
    """The mean of each user who has a value, by number."""
    counts = np.bincount(user)
    sums = np.bincount(user, weights=values)
    present = counts > 0
    means: Floats = sums[present] / counts[present]
    return means


def _at_ends(
    user: Integers,
    effect: Floats,
    lost: Integers,
    low: float,
) -> tuple[Floats, Floats]:
    """The least and the most that the mean of each user can be, in one random order.

    Args:
        user: The user of each compared request.
        effect: The effects of these requests.
        lost: The user of each request of which nothing is known.
        low: The least that an effect can be; the most is 1.
    """
    users = np.append(user, lost)
    least = _means(users, np.append(effect, np.full(len(lost), low)))
    most = _means(users, np.append(effect, np.ones(len(lost))))
    order = generator("parity of logs", len(least)).permutation(len(least))
    return least[order], most[order]


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


def _judged(
    at_least: Floats,
    at_most: Floats,
    low: float,
    margin: float,
) -> tuple[Status, tuple[float, float]]:
    """The bounds that are shown for the mean, from the least and the most that it can
    be for each user, in the order drawn.
    """
    if not len(at_least):
        return "error", (low, 1.0)
    least, most = Bets(at_least, low, 1.0), Bets(at_most, low, 1.0)
    bounds = (least.lower(ALPHA), most.upper(ALPHA))
    if most.p_at_least(margin) <= ALPHA:
        return "holds", bounds
    if least.p_at_most(margin) <= ALPHA:
        return "violated", bounds
    return "inconclusive", bounds


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
