"""Monitors a row of nightly records: did a promise break on any night, with one error rate for all?

It bets that the mean of fresh users is beyond the margin (`oracles.statistics.breaks`) or, of users who are asked
every night, that it is farther beyond their own earlier values than a tolerance allows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_recsys_mt.gate.baseline import is_number, options_of, record_in
from pytest_recsys_mt.gate.comparison import unknown_of
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import address, name_of_row
from pytest_recsys_mt.gate.policy import MARGIN
from pytest_recsys_mt.gate.reading import OF_ROWS
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.gate.store import read_all
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.statistics.breaks import STAKES, began, log_evidence, log_growth
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.safety.errors import PolicyError
from pytest_recsys_mt.safety.numbers import numbers_of
from pytest_recsys_mt.safety.sanitize import one_line

Key = tuple[str, str, str, str, int]

PROMISES = ("at most", "at least", "within")

FIRST = 0.9
"""The share of alpha of the rows that begin on the first night."""

CHOSEN = "monotone"
"""An oracle whose values are of a step that the answers chose: no bet on its users is fair."""


@dataclass(frozen=True)
class Night:
    """One verdict of one record: values in the order drawn, and whose answer could not be read, which speaks for the promise."""

    place: int
    values: Mapping[str, float]
    reach: tuple[float, float]
    asked: bool
    unknown: Collection[str] = ()

    def repeats(self, earlier: Night) -> bool:
        """Whether its answers may be those of an earlier night, read once more."""
        return not self.asked and self.values.items() <= earlier.values.items()


@dataclass
class Series:
    """The nights of one verdict, all on the same terms.

    Attributes:
        terms: The facts that are the same on all nights, by name.
        tolerance: How much worse a user's later values may be on average.
        anew: Why earlier nights do not count, if there are any.
    """

    name: str
    model: str
    terms: Mapping[str, Any]
    tolerance: float
    nights: list[Night] = field(default_factory=list)
    anew: str = ""


@dataclass(frozen=True)
class Finding:
    """The result of a row of nights for one verdict.

    Attributes:
        again: Users of an earlier night who were not counted again.
        replayed: Nights that were not counted, because their answers are those of an earlier one.
        p_values: Those of the hypothesis that the promise was kept on every night, after each record.
        alarm: Position of the record at which `adjusted` reached alpha; None if it never did.
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
    """The records in the files `paths` with their names, in the order in which their runs began; `skip` as `read_all`.

    Raises:
        PolicyError: If a file is not a record, which names the file, or none can be read.
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


def monitor(nights: Sequence[tuple[str, Document]], alpha: float, *, change: bool) -> list[Finding]:
    """Decide whether any promise broke on any night.

    Holm's correction, among the rows that began on the same night, holds after every night: the p-values only fall, so a
    rejection on one night remains to the end. Rows that begin later have a share of alpha of their own.

    Args:
        nights: A name and a record for each night, in order.
        alpha: Chance of any false alarm, over all nights and verdicts.
        change: Whether to bet on the change of each user's value instead of on the value.

    Raises:
        PolicyError: If there is nothing to bet on.
    """
    series = series_of(nights)
    if not series:
        raise PolicyError(
            "no record has values of users for a verdict that can be monitored; make records with "
            "--recsys-json, of runs that ask users"
        )
    distinct = _distinct([document for _, document in nights]) if change else ()
    if 1 < len(distinct) < len(nights):
        raise PolicyError(
            "a record is given twice; with --change each night counts, so give each once"
        )
    if change and len(distinct) < 2:
        raise PolicyError("one record says nothing of a change; give those of two nights or more")
    bets = [_bet(each, len(nights), change) for each in series]
    adjusted = np.ones((len(bets), len(nights)))
    shares = _shares({each.nights[0].place for each in series})
    for began_at, share in shares.items():
        rows = [row for row, each in enumerate(series) if each.nights[0].place == began_at]
        for place in range(len(nights)):
            p_values = [min(1.0, bets[row][0].p_values[place] / share) for row in rows]
            adjusted[rows, place] = holm(p_values)
    return [
        _judged(replace(found, adjusted=of_all.tolist()), growth, alpha)
        for (found, growth), of_all in zip(bets, adjusted, strict=True)
    ]


def _distinct(documents: Sequence[Document]) -> list[Document]:
    found: list[Document] = []
    for document in documents:
        found += [document] * (document not in found)
    return found


def _shares(nights: Iterable[int]) -> dict[int, float]:
    """The share of alpha of the rows that begin on each of these nights. Those of the first night have nearly all. Each
    later group has half of what is left, so no row that is added takes back an alarm, and all shares together are at
    most 1.
    """
    first, *later = sorted(nights)
    return {first: FIRST, **{night: (1 - FIRST) / 2**at for at, night in enumerate(later, 1)}}


def series_of(nights: Sequence[tuple[str, Document]]) -> list[Series]:
    """The verdicts that can be monitored; a verdict whose terms changed begins anew."""
    found: dict[Key, Series] = {}
    for place, (name, document) in enumerate(nights):
        asked = fact(document, "calls", "made") != 0
        options = options_of(document)
        options.pop("--recsys-users", None)
        for key, row in _keyed(document["results"]):
            terms, margin = _terms(options, row), row.get("margin")
            series = found.get(key)
            if series is None or series.terms != terms:
                tolerance = abs(margin) if margin and is_number(margin) else MARGIN
                fresh = Series(one_line(name_of_row(row)), one_line(row["model"]), terms, tolerance)
                if series is not None:
                    fresh.anew = f"begins anew with {name}: {_differs(series.terms, terms)}"
                series = found[key] = fresh
            low, high = row["reach"] or (-math.inf, math.inf)
            series.nights.append(Night(place, row["per_user"], (low, high), asked, unknown_of(row)))
    return list(found.values())


def can_be_monitored(row: Row) -> bool:
    """Whether a row promises a mean, and has values of users that are independent of each other."""
    return bool(
        row["per_user"]
        and row["allowed"] in PROMISES
        and is_number(measured(row).limit)
        and not row.get("joint")
        and row["oracle"].partition(":")[0] != CHOSEN
    )


def fact(document: Document, part: str, name: str) -> object:
    """A fact of a record that comparisons do not need and that is therefore unchecked."""
    facts = document.get(part)
    return facts.get(name) if isinstance(facts, dict) else None


def _keyed(rows: Iterable[Row]) -> Iterator[tuple[Key, Row]]:
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        about = (row["model"], address(row), row["relation"], str(row.get("against", "")))
        seen[about] += 1
        if can_be_monitored(row):
            yield (*about, seen[about]), row


def _terms(options: Mapping[str, object], row: Row) -> dict[str, Any]:
    terms = {
        "similarity or score": row["oracle"],
        "promise": row["allowed"],
        "margin": measured(row).limit,
        "model version": row.get("fingerprint"),
        **options,
    }
    return {name: value for name, value in terms.items() if value is not None}


def _differs(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    name = next(name for name in {**old, **new} if old.get(name) != new.get(name))
    now, was = (one_line(str(terms.get(name, "none")))[:24] for terms in (new, old))
    return f"{name} {now}, before {was}"


def _bet(series: Series, places: int, change: bool) -> tuple[Finding, Floats]:
    seen: set[str] = set()
    past = _Past()
    users, growth, again, replayed = [0] * places, [], 0, 0
    for number, night in enumerate(series.nights):
        if change and any(map(night.repeats, series.nights[:number])):
            night, replayed = replace(night, values={}, unknown=()), replayed + 1
        counted = [user for user in night.values if change is (user in seen)]
        lost = [user for user in night.unknown if change is (user in seen)]
        growth.append(_growth(series, night, counted, lost, past if change else None))
        users[night.place] = len(counted)
        again += 0 if change else len(night.values) - len(counted)
        seen.update(night.values, night.unknown)
        if change:
            past.add(night)
    won = np.stack(growth, axis=1)
    p_values, p_value = np.ones(places), 1.0
    for night, evidence in zip(series.nights, log_evidence(won), strict=True):
        p_value = min(p_value, math.exp(-evidence))
        p_values[night.place :] = p_value
    return Finding(series, users, again, replayed, p_values.tolist()), won


class _Past:
    """The mean value of each user on the nights so far, at worst and at best.

    What could not be read may have been as bad, or as good, as the values of a night can be.
    """

    def __init__(self) -> None:
        self._sums: dict[
            str, tuple[float, float, int]
        ] = {}  # at worst, at best, and how many nights

    def add(self, night: Night) -> None:
        """Count a night in."""
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
    series: Series, night: Night, users: Sequence[str], lost: Sequence[str], past: _Past | None
) -> Floats:
    """The logarithm of what the bets on one night win, for each way to break the promise and each stake."""
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
    series: Series, users: Sequence[str], lost: Sequence[str], past: _Past | None
) -> tuple[Floats | float, Floats | float]:
    """The largest and the smallest values that keep the promise: one for all users, or one for each, ``(users,)``."""
    margin = float(series.terms["margin"])
    if past is None:
        return margin, -margin if series.terms["promise"] == "within" else margin
    worst, best = past.means((*users, *lost))
    return worst + series.tolerance, best - series.tolerance


def _judged(found: Finding, growth: Floats, alpha: float) -> Finding:
    alarm = next((place for place, p in enumerate(found.adjusted) if p <= alpha), None)
    if alarm is None:
        return found
    nights = [night for night in found.series.nights if night.place <= alarm]
    since = nights[began(growth[:, : len(nights)])].place
    return replace(found, alarm=alarm, since=since)
