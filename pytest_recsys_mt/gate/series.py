"""The verdicts of a row of nightly records, each as a
series of nights on the same terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.gate.baseline import is_number, options_of
from pytest_recsys_mt.gate.comparable import unknown_of
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import address, name_of_row
from pytest_recsys_mt.gate.policy import MARGIN
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.safety.sanitize import one_line

Key = tuple[str, str, str, str, int]
"""The model, the test, the relation, the one it is compared
against, and the number among such verdicts.
"""

PROMISES = ("at most", "at least", "within")

CHOSEN = "monotone"
"""An oracle whose values are of a step that the answers
chose: no bet on its users is fair.
"""

_LONGEST_TERM = 24
"""Characters shown of a term that changed."""


@dataclass(frozen=True)
class Night:
    """One verdict of one record.

    Attributes:
        place: Position of the record, from 0.
        values: The value of each user, in the order drawn.
        reach: The smallest and the largest possible value.
        made_calls: Whether the run made any call, so that its answers are its own.
        unknown: Users whose answer could not be read, which speaks for the promise.
    """

    place: int
    values: Mapping[str, float]
    reach: tuple[float, float]
    made_calls: bool
    unknown: Collection[str] = ()

    def repeats(self, earlier: Night) -> bool:
        """Whether its answers may be those of an earlier night, read once more."""
        return not self.made_calls and self.values.items() <= earlier.values.items()


@dataclass
class Series:
    """The nights of one verdict, all on the same terms.

    Attributes:
        name: The verdict, for a reader.
        model: The model that it is of.
        terms: The facts that are the same on all nights, by name.
        tolerance: How much worse a user's later values may be on average.
        nights: Those that have the verdict, in order.
        restart: Why earlier nights do not count, if there are any.
    """

    name: str
    model: str
    terms: Mapping[str, Any]
    tolerance: float
    nights: list[Night] = field(default_factory=list)
    restart: str = ""


def series_of(nights: Sequence[tuple[str, Document]]) -> list[Series]:
    """The verdicts that can be monitored; a verdict whose terms changed begins a new
    series.

    Args:
        nights: A name and a record for each night, in order.
    """
    found: dict[Key, Series] = {}
    for place, (name, document) in enumerate(nights):
        made_calls = fact(document, "calls", "made") != 0
        options = options_of(document)
        options.pop("--recsys-users", None)  # more or fewer users change no terms
        for key, row in _monitored(document["results"]):
            terms = _terms(options, row)
            series = found.get(key)
            if series is None:
                series = found[key] = _begun(row, terms)
            elif series.terms != terms:
                restart = f"begins anew with {name}: {_difference(series.terms, terms)}"
                series = found[key] = _begun(row, terms, restart)
            series.nights.append(_night(place, row, made_calls))
    return list(found.values())


def can_be_monitored(row: Row) -> bool:
    """Whether a row promises a mean, and has values of users
    that are independent of each other.
    """
    oracle = row["oracle"].partition(":")[0]
    return bool(
        row["per_user"]
        and row["allowed"] in PROMISES
        and is_number(measured(row).limit)
        and not row.get("joint")
        and oracle != CHOSEN,
    )


def fact(document: Document, part: str, name: str) -> object:
    """A fact of a record that comparisons do not need and that is
    therefore unchecked.
    """
    facts = document.get(part)
    return facts.get(name) if isinstance(facts, dict) else None


def _monitored(rows: Iterable[Row]) -> Iterator[tuple[Key, Row]]:
    """The rows that can be monitored, each with the key
    that finds it in the other records.
    """
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        against = str(row.get("against", ""))
        about = (row["model"], address(row), row["relation"], against)
        seen[about] += 1
        if can_be_monitored(row):
            yield (*about, seen[about]), row


def _begun(row: Row, terms: Mapping[str, Any], restart: str = "") -> Series:
    """A series without nights, of the verdict of a row."""
    margin = row.get("margin")
    tolerance = abs(margin) if margin and is_number(margin) else MARGIN
    name = one_line(name_of_row(row))
    model = one_line(row["model"])
    return Series(name, model, terms, tolerance, restart=restart)


def _night(place: int, row: Row, made_calls: bool) -> Night:
    low, high = row["reach"] or (-math.inf, math.inf)
    return Night(place, row["per_user"], (low, high), made_calls, unknown_of(row))


def _terms(options: Mapping[str, object], row: Row) -> dict[str, Any]:
    """The terms that must stay the same for the nights of a verdict to
    be one series.
    """
    terms = {
        "similarity or score": row["oracle"],
        "promise": row["allowed"],
        "margin": measured(row).limit,
        "model version": row.get("fingerprint"),
        **options,
    }
    return {name: value for name, value in terms.items() if value is not None}


def _difference(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    """The first term that differs, with both its values, in words."""
    names = {**old, **new}
    changed = next(name for name in names if old.get(name) != new.get(name))

    def shown(terms: Mapping[str, object]) -> str:
        return one_line(str(terms.get(changed, "none")))[:_LONGEST_TERM]

    return f"{changed} {shown(new)}, before {shown(old)}"
