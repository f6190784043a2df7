"""The state of a row of the record, and facts that follow from it."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from pytest_recsys_mt.gate.document import Item, Row
from pytest_recsys_mt.verdict.verdict import Status

Key = TypeVar("Key", bound=Hashable)

State = Literal[Status, "known", "fixed"]
"""``known``: violated, as the test expects. ``fixed``: it
holds, though a violation is expected.
"""

STATES: tuple[State, ...] = (
    "violated", "error", "fixed", "inconclusive", "known", "holds", "not-applicable",
)  # fmt: skip
"""The most important first. Every report orders rows so, and
a test is in the first state of its rows.
"""

UNSETTLED = STATES[: STATES.index("known")]
"""The states of tests that need attention."""


class Measured(NamedTuple):
    """The measured value of a row: that of a metric, or an
    effect, for which `metric` is None.
    """

    metric: str | None
    value: float | None
    limit: float | None


def measured(row: Row) -> Measured:
    """A benchmark task measures a metric against its threshold,
    a promise an effect against its margin.
    """
    metric = row.get("metric")
    if metric is None:
        return Measured(None, row.get("estimate"), row.get("margin"))
    return Measured(metric, row.get("value"), row.get("threshold"))


def state_of(row: Row) -> State:
    """The status of a row, in view of the expectation of its test."""
    if row.get("expected") == "violated" and row["status"] in ("violated", "holds"):
        return "known" if row["status"] == "violated" else "fixed"
    return row["status"]


def state_of_test(rows: Iterable[Row]) -> State:
    """The state of a test: the most important one of its rows, as `STATES` has them."""
    return min(map(state_of, rows), key=STATES.index)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items of each key, all in their order."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def models_of(rows: Iterable[Row], given: Sequence[str]) -> list[str]:
    """The models that rows are of: those that were given in
    that order, then the others by name.
    """
    found = {row["model"] for row in rows if row["model"]}
    return [
        *(model for model in dict.fromkeys(given) if model in found),
        *sorted(found.difference(given)),
    ]


def unit_of(row: Row) -> str:
    """The unit of the values of a row: ``users``, of multiple-choice tests ``questions``,
    of times ``calls``.
    """
    return str(detail_of(row, "unit") or "users")


OF_CALLS = "calls"
"""The unit of verdicts that have no value per user by their nature."""


def detail_of(row: Row, name: str) -> Any:
    """A detail of a row, None if it has none; records are
    untrusted, and older ones lack them.
    """
    details = row.get("details")
    return details.get(name) if isinstance(details, dict) else None


def vacuous_of(row: Row) -> str:
    """The part that a recommender does not read, if a row holds only for that; else
    empty.
    """
    return row.get("vacuous") or "" if state_of(row) == "holds" else ""
