"""The verdicts of two runs side by side: each promise then
and now, by groups and by users.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from pytest_recsys_mt.gate.comparison import keyed
from pytest_recsys_mt.gate.document import Changed, Comparison, Row
from pytest_recsys_mt.gate.states import measured, state_of
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.report.compared import CHANGES, LOUD
from pytest_recsys_mt.report.short_names import named
from pytest_recsys_mt.safety.numbers import names_in_both, numbers_of
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import group_in_words

MOST = 5
"""Users, and groups of users, that are shown."""

TITLES = 5
"""Items of a list that are shown."""

LONGEST = 200
"""Characters of a title that are shown."""


@dataclass(frozen=True)
class Pair:
    """A verdict of the later run next to that of the earlier one.

    Attributes:
        name: The name of the promise.
        old: The row of the earlier run; None if it has none.
        new: The row of the later run.
        found: The result of their comparison.
        users: The users of both runs; none if the numbers are of all users together.
        worse: How much worse the value of each of `users` became, as a share of the
            range of values.
    """

    name: str
    old: Row | None
    new: Row
    found: Changed
    users: Sequence[str] = ()
    worse: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def broke(self) -> str:
        """Its state then and now, if it is a failure now and was none."""
        if self.old is None:
            return ""
        then = state_of(self.old)
        now = state_of(self.new)
        failures = ("violated", "error")
        if then in failures or now not in failures:
            return ""
        return f"{self.name}: {then} then, {now} now"


def pairs_of(
    comparison: Comparison,
    old: Sequence[Row],
    new: Sequence[Row],
) -> Iterator[Pair]:
    """The verdicts of one model, those that became worse
    first; none if the runs cannot be compared.
    """
    if comparison["refused"]:
        return
    old_rows = dict(keyed(old))
    names = {id(row): name for row, name in named(new)}
    pairs = []
    for (key, row), found in zip(keyed(new), comparison["results"], strict=True):
        old_row = old_rows.get(key)
        users, worse = _worse(old_row, row)
        pairs.append(Pair(names[id(row)], old_row, row, found, users, worse))
    yield from sorted(pairs, key=lambda pair: CHANGES.index(pair.found["change"]))


def _worse(old: Row | None, new: Row) -> tuple[Sequence[str], Floats]:
    """The users of both runs, and how much worse the value of each became."""
    if old is None or new.get("joint"):
        return (), np.empty(0)
    users = names_in_both(new["per_user"], old["per_user"])
    then = np.array(numbers_of(old["per_user"], users), np.float64)
    now = np.array(numbers_of(new["per_user"], users), np.float64)
    return users, np.asarray(_measure(new)(then, now))


def _measure(row: Row) -> Callable[[Any, Any], Any]:
    """How much worse a later value is, or each of an array of them."""
    low, high = row.get("reach") or (0.0, 1.0)
    span = (high - low) or 1.0
    if row["allowed"] == "within":
        return lambda then, now: (abs(now) - abs(then)) / span
    sign = -1 if row["allowed"] == "at least" else 1
    return lambda then, now: sign * (now - then) / span


def cells_of(pair: Pair) -> list[str]:
    """The cells of a verdict in the table of promises."""
    change = pair.found["change"]
    then, now = _values(pair)
    low, high = pair.found["interval"] or (0.0, 0.0)
    margin = pair.found["margin"]
    return [
        pair.name,
        change.upper() if change in LOUD else change,
        _number(then),
        _number(now),
        f"{_number(pair.found['worse'])} [{low:.3f}, {high:.3f}]",
        "" if margin is None else f"{margin:g}",
        str(pair.found["users"]),
    ]


def _values(pair: Pair) -> tuple[float | None, float | None]:
    """The mean of both runs over the users of both;
    without any, the value of each run.
    """
    if pair.users and pair.old is not None:
        then = fmean(numbers_of(pair.old["per_user"], pair.users))
        now = fmean(numbers_of(pair.new["per_user"], pair.users))
        return then, now
    then_measured = None if pair.old is None else measured(pair.old).value
    return then_measured, measured(pair.new).value


def lines_of_groups(pairs: Sequence[Pair]) -> list[list[str]]:
    """The groups of users that became worse most, in cells, the worst first."""
    groups = sorted(_worse_groups(pairs), key=lambda group: -group.worse)
    return [group.cells for group in groups[:MOST]]


class _WorseGroup(NamedTuple):
    """A group of users that became worse by some share of
    the range of values, and its cells.
    """

    worse: float
    cells: list[str]


def _worse_groups(pairs: Sequence[Pair]) -> Iterator[_WorseGroup]:
    for pair in pairs:
        if (
            pair.old is None
            or pair.old["per_user"].keys() != pair.new["per_user"].keys()
        ):
            continue  # means of other users
        estimates = {
            (group["slicing"], group["value"]): group["estimate"]
            for group in pair.old["slices"]
        }
        for group in pair.new["slices"]:
            then = estimates.get((group["slicing"], group["value"]))
            now = group["estimate"]
            is_all_users = not group["slicing"]
            if is_all_users or then is None or now is None:
                continue
            worse = float(_measure(pair.new)(then, now))
            if worse > 0:
                numbers = [
                    _number(then),
                    _number(now),
                    _number(worse),
                    str(group["users"]),
                ]
                yield _WorseGroup(worse, [pair.name, group_in_words(group), *numbers])


def count_of_worse(pairs: Sequence[Pair]) -> int:
    """How many users became worse in any verdict."""
    users: set[str] = set()
    for pair in pairs:
        users.update(
            pair.users[place] for place in np.flatnonzero(pair.worse > 0).tolist()
        )
    return len(users)


Lists = Mapping[str, Sequence[str]]
"""The titles that each user was recommended for the
unchanged request, by the user's id.
"""


def lines_of_users(
    pairs: Sequence[Pair],
    old_lists: Lists,
    new_lists: Lists,
) -> Iterator[str]:
    """The users that became worse most, in verdicts that regressed if any did, each
    once, with both lists.

    The lists are those of the changed request; if a record lacks one, those of the
    unchanged request.
    """
    regressed = [pair for pair in pairs if pair.found["change"] in LOUD]
    for user, pair in _worst_users(regressed or pairs).items():
        assert pair.old is not None
        then = pair.old["per_user"][user]
        now = pair.new["per_user"][user]
        yield f"user {one_line(user)}, {pair.name}: {then:.3f} then, {now:.3f} now"
        request = "the changed request"
        old_titles = _changed(pair.old, user)
        new_titles = _changed(pair.new, user)
        if not old_titles or not new_titles:
            request = "the unchanged request"
            old_titles = old_lists.get(user, ())
            new_titles = new_lists.get(user, ())
        if old_titles == new_titles:
            yield from _titles("then and now", request, old_titles)
        else:
            yield from _titles("then", request, old_titles)
            yield from _titles("now", request, new_titles)


def _worst_users(pairs: Sequence[Pair]) -> dict[str, Pair]:
    """The users that became worse most, the worst first,
    each with the verdict in which it did.
    """
    candidates: list[tuple[float, str, Pair]] = []
    for pair in pairs:
        # No user beyond these is among the worst of all verdicts.
        for place in np.argsort(-pair.worse, kind="stable")[:MOST]:
            worse = float(pair.worse[place])
            if worse > 0:
                candidates.append((worse, pair.users[int(place)], pair))
    worst: dict[str, Pair] = {}
    for _, user, pair in sorted(candidates, key=lambda candidate: -candidate[0]):
        if len(worst) < MOST:
            worst.setdefault(user, pair)
    return worst


def _titles(when: str, request: str, titles: Sequence[str]) -> Iterator[str]:
    """A line with the first titles of a list; none if it is empty."""
    if not titles:
        return
    further = len(titles) - TITLES
    more = f" and {further} more" if further > 0 else ""
    shown = "; ".join(title[:LONGEST] for title in titles[:TITLES])
    yield f"  {when}, to {request}: {one_line(shown)}{more}"


def _changed(row: Row, user: str) -> Sequence[str]:
    """The list of a user for the changed request;
    nothing if the record does not have it.
    """
    for example in row["examples"]:
        if example["user"] == user:
            return example["followup"] or example["source"]
    return ()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
