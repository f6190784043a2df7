"""Monitors a row of nightly records: did a promise break on any night, with one error
rate for all?

It bets that the mean of fresh users is beyond the margin (`oracles.statistics.breaks`)
or, of users who are in every night, that it is farther beyond their own earlier
values than a tolerance allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pytest_recsys_mt.gate.baseline import record_in
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.reading import OF_ROWS
from pytest_recsys_mt.gate.series import Night, Series, fact, series_of
from pytest_recsys_mt.gate.store import read_all
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.breaks import (
    STAKES,
    began,
    log_evidence,
    log_growth,
)
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.safety.errors import PolicyError
from pytest_recsys_mt.safety.numbers import numbers_of

FIRST = 0.9
"""The share of alpha of the rows that begin on the first night."""


@dataclass(frozen=True)
class Finding:
    """The result of a row of nights for one verdict.

    Attributes:
        series: The nights of the verdict.
        users: How many users each record counts of it.
        again: Users of an earlier night who were not counted again.
        replayed: Nights that were not counted, because their answers are those of an
            earlier one.
        p_values: Those of the hypothesis that the promise was kept on every night,
            after each record.
        adjusted: The p-values corrected for the number of verdicts.
        alarm: Position of the record at which `adjusted` reached alpha; None if it
            never did.
        since: Position of the record at which the evidence of the alarm began.
    """

    series: Series
    users: Sequence[int]
    again: int
    replayed: int
    p_values: Sequence[float]
    adjusted: Sequence[float] = ()
    alarm: int | None = None
    since: int | None = None


def records(paths: Sequence[Path], *, skip: bool = False) -> list[tuple[str, Document]]:
    """The records in some files with their names, in the order in which their runs
    began.

    Args:
        paths: The files.
        skip: Whether to pass over a file that cannot be read, as `read_all`.

    Raises:
        PolicyError: If a file is not a record, which names the file, or none can be
            read.
    """
    found = [*read_all(paths, _night_in, skip=skip)]
    if not found:
        raise PolicyError("no kept run can be read")
    return sorted(found, key=lambda each: str(fact(each[1], "time", "started")))


def _night_in(path: Path) -> Document:
    try:
        return record_in(path, OF_ROWS)
    except PolicyError as error:
        raise PolicyError(f"{str(path)!r} cannot be monitored: {error}") from error


def monitor(
    nights: Sequence[tuple[str, Document]],
    alpha: float,
    *,
    change: bool,
) -> list[Finding]:
    """Decide whether any promise broke on any night.

    Args:
        nights: A name and a record for each night, in order.
        alpha: Chance of any false alarm, over all nights and verdicts.
        change: Whether to bet on the change of each user's value instead of on the
            value.

    Raises:
        PolicyError: If there is nothing to bet on.
    """
    series = series_of(nights)
    if not series:
        raise PolicyError(
            "no record has values of users for a verdict that can be monitored; make records with "
            "--recsys-json, of runs that ask users",
        )
    if change:
        _refuse_repeated([document for _, document in nights])
    bets = [_bet(each, len(nights), change) for each in series]
    p_values = np.array([found.p_values for found, _ in bets])
    adjusted = _adjusted(p_values, series)
    findings = []
    for (found, growth), of_all_nights in zip(bets, adjusted, strict=True):
        corrected = replace(found, adjusted=of_all_nights.tolist())
        findings.append(_judged(corrected, growth, alpha))
    return findings


def _refuse_repeated(documents: Sequence[Document]) -> None:
    """Refuse records among which a change cannot be seen, or would be seen twice."""
    distinct: list[Document] = []
    for document in documents:
        if document not in distinct:
            distinct.append(document)
    # Copies of one record alone are called one record, as other records are missing.
    if 1 < len(distinct) < len(documents):
        raise PolicyError(
            "a record is given twice; with --change each night counts, so give each once",
        )
    if len(distinct) < 2:
        raise PolicyError(
            "one record says nothing of a change; give those of two nights or more",
        )


def _adjusted(p_values: Floats, series: Sequence[Series]) -> Floats:
    """The p-values after each record, corrected for the number of verdicts.

    Holm's correction, among the verdicts that began on the same night, holds after
    every night: the p-values only fall, so a rejection on one night remains to the end.
    Verdicts that begin later have a share of alpha of their own.

    Args:
        p_values: Of each verdict after each record, ``(verdicts, records)``.
        series: The verdicts.

    Returns:
        The adjusted p-values, ``(verdicts, records)``.
    """
    adjusted = np.ones_like(p_values)
    first_nights = [each.nights[0].place for each in series]
    for first_night, share in _shares(set(first_nights)).items():
        family = [row for row, place in enumerate(first_nights) if place == first_night]
        for place in range(p_values.shape[1]):
            of_family = [
                min(1.0, float(p_values[row, place]) / share) for row in family
            ]
            adjusted[family, place] = holm(of_family)
    return adjusted


def _shares(nights: Iterable[int]) -> dict[int, float]:
    """The share of alpha of the verdicts that begin on each of these nights.

    Those of the first night have nearly all. Each later group has half of the rest,
    so no verdict that is added takes back an alarm, and all shares together are at most
    1.
    """
    first, *later = sorted(nights)
    shares = {first: FIRST}
    for number, night in enumerate(later, 1):
        shares[night] = (1 - FIRST) / 2**number
    return shares


def _bet(series: Series, records: int, change: bool) -> tuple[Finding, Floats]:
    """The finding of the bets on one verdict, before the correction for other verdicts.

    Args:
        series: The nights of the verdict.
        records: The number of all records.
        change: Whether to bet on the change of each user's value.

    Returns:
        The finding, and the logarithm of the win of each bet on each night, ``(bets,
        nights of the series)``.
    """
    seen: set[str] = set()
    past = _Past() if change else None
    users = [0] * records
    growth = []
    again = 0
    replayed = 0
    for number, night in enumerate(series.nights):
        if change and any(map(night.repeats, series.nights[:number])):
            night = replace(night, values={}, unknown=())
            replayed += 1
        # Only users with an earlier value can change; a bet on the value itself counts
        # each user once.
        counted = [user for user in night.values if (user in seen) is change]
        lost = [user for user in night.unknown if (user in seen) is change]
        growth.append(_growth(series, night, counted, lost, past))
        users[night.place] = len(counted)
        if not change:
            again += len(night.values) - len(counted)
        seen.update(night.values, night.unknown)
        if past is not None:
            past.add(night)
    won = np.stack(growth, axis=1)
    p_values = _p_values(series.nights, won, records)
    return Finding(series, users, again, replayed, p_values), won


def _p_values(nights: Sequence[Night], growth: Floats, records: int) -> list[float]:
    """The p-value of a verdict after each record: the
    smallest so far, 1 before its first night.
    """
    p_values = [1.0] * records
    smallest = 1.0
    for night, evidence in zip(nights, log_evidence(growth), strict=True):
        smallest = min(smallest, math.exp(-evidence))
        # It stays after records that do not have the verdict.
        records_from_here = records - night.place
        p_values[night.place :] = [smallest] * records_from_here
    return p_values


class _Past:
    """The mean value of each user on the nights so far, at worst and at best.

    An answer that could not be read may have been as bad, or as good, as the values of
    a night can be.
    """

    def __init__(self) -> None:
        # Of each user: the sum at worst, the sum at best, and of how many nights.
        self._sums: dict[str, tuple[float, float, int]] = {}

    def add(self, night: Night) -> None:
        """Add a night to the counts."""
        low, high = night.reach
        for user, value in night.values.items():
            self._add(user, value, value)
        for user in night.unknown:
            if user not in night.values:
                self._add(user, high, low)

    def means(self, users: Iterable[str]) -> tuple[Floats, Floats]:
        """The means of users who have some, at worst and at best, each ``(users,)``."""
        rows = [self._sums[user] for user in users]
        at_worst, at_best, nights = np.array(rows, np.float64).reshape(-1, 3).T
        return at_worst / nights, at_best / nights

    def _add(self, user: str, at_worst: float, at_best: float) -> None:
        worst, best, nights = self._sums.get(user, (0.0, 0.0, 0))
        self._sums[user] = worst + at_worst, best + at_best, nights + 1


def _growth(
    series: Series,
    night: Night,
    users: Sequence[str],
    lost: Sequence[str],
    past: _Past | None,
) -> Floats:
    """The logarithm of the wins of the bets on one night.

    Args:
        series: The verdict.
        night: The night.
        users: The users with a value who count.
        lost: The users without one who count: their value may be any within the reach.
        past: The earlier values, if the bets are on the change; else None.

    Returns:
        The logarithm for each way to break the promise and each stake, ``(ways *
        len(STAKES),)``.
    """
    promise = series.terms["promise"]
    ways = 2 if promise == "within" else 1
    if not users and not lost:
        return np.zeros(ways * len(STAKES))
    low, high = night.reach
    values = np.array(numbers_of(night.values, users), np.float64)
    values = np.minimum(np.maximum(values, low), high)
    lowest = highest = values
    if lost:
        lowest = np.concatenate((values, np.full(len(lost), low)))
        highest = np.concatenate((values, np.full(len(lost), high)))

    most, least = _limits(series, users, lost, past)
    found = []
    if promise != "at least":
        largest = max(float(np.max(most)), low)
        found.append(log_growth(lowest - most, largest - low))
    if promise != "at most":
        smallest = min(float(np.min(least)), high)
        found.append(log_growth(least - highest, high - smallest))
    return np.concatenate(found)


def _limits(
    series: Series,
    users: Sequence[str],
    lost: Sequence[str],
    past: _Past | None,
) -> tuple[Floats | float, Floats | float]:
    """The largest and the smallest values that keep the promise: one for all users, or
    one for each, ``(users,)``.
    """
    if past is not None:
        worst, best = past.means((*users, *lost))
        return worst + series.tolerance, best - series.tolerance
    margin = float(series.terms["margin"])
    if series.terms["promise"] == "within":
        return margin, -margin
    return margin, margin


def _judged(found: Finding, growth: Floats, alpha: float) -> Finding:
    """The finding with its alarm, if its adjusted p-value ever reached alpha."""
    alarm = next((place for place, p in enumerate(found.adjusted) if p <= alpha), None)
    if alarm is None:
        return found
    until_alarm = [night for night in found.series.nights if night.place <= alarm]
    first = began(growth[:, : len(until_alarm)])
    return replace(found, alarm=alarm, since=until_alarm[first].place)
