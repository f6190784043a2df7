"""The rows that a report shows: those that do not hold one
by one, those that do not apply by reason.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import (
    STATES,
    detail_of,
    grouped,
    measured,
    state_of,
    vacuous_of,
)
from pytest_recsys_mt.report.short_failures import smallest_of
from pytest_recsys_mt.report.short_names import distinct_names, test_of_row
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict import wording
from pytest_recsys_mt.verdict.verdict import FITS_NEEDED, NEEDED
from pytest_recsys_mt.verdict.wording import unread

ORDER = STATES[: STATES.index("holds")]
"""The states that are listed one by one, the most important first."""

MANY = 3
"""From so many tests on that got no verdict for one reason, they share one sentence."""

WORTH_TELLING = 0.5
"""From how many expected wrong claims on a summary says so."""

SHOWN_REASONS = 3
"""So many reasons why tests do not apply are shown one by one;
if there are more, `-v` shows the others.
"""


def listed(names: Iterable[str]) -> str:
    """Each name once, in their order; between semicolons if one of them has a comma."""
    distinct = list(dict.fromkeys(names))
    has_comma = any(", " in name for name in distinct)
    return ("; " if has_comma else ", ").join(distinct)


@dataclass(frozen=True)
class Unsettled:
    """A row that does not simply hold, or the first of several rows that share one
    sentence.

    Attributes:
        row: The row.
        place: Where it stands: its test and its oracle. Empty for several rows without
            a verdict.
        sentence: The sentence on it, or on all of them.
        together: Whether it stands for several rows that have a place.
    """

    row: Row
    place: tuple[str, ...]
    sentence: str
    together: bool = False

    def where(self, several: bool) -> str:
        """Its suite, its place, and its recommender if there are `several`."""
        parts = [self.row["suite"], *self.place]
        if several:
            parts.append(self.row["model"])
        return ", ".join(part for part in parts if part)


def unsettled(rows: Sequence[Row]) -> list[Unsettled]:
    """The rows that do not simply hold, the most important first."""
    found: list[Unsettled] = []
    for state in ORDER:
        rows_in_state = [row for row in rows if state_of(row) == state]
        for group in grouped(rows_in_state, _alike).values():
            found += _of_group(group)
    return found


def _of_group(rows: Sequence[Row]) -> list[Unsettled]:
    """Rows with the same key by `_alike`: together, or each alone."""
    first = rows[0]
    if len(rows) > 1 and smallest_of(first):
        return [_on_one_example(rows)]
    if len(rows) >= MANY and not _has_number(first):
        return [_without_verdict(rows)]
    return [_alone(row) for row in rows]


def _alike(row: Row) -> tuple[str, ...]:
    """The key of rows that share one sentence: their
    smallest example, else the reason of no verdict.
    """
    smallest = smallest_of(row) if row["status"] == "violated" else ""
    if smallest:
        return row["suite"], row["model"], row["oracle"], smallest
    key = (row["suite"], row["model"], row["reason"])
    if not _has_number(row):
        return key
    # With a number, it shares its sentence with no other.
    return (*key, row["nodeid"], row["oracle"])


def _has_number(row: Row) -> bool:
    return measured(row).value is not None


def _alone(row: Row) -> Unsettled:
    return Unsettled(row, (test_of_row(row), row["oracle"]), sentence_of(row))


def _without_verdict(rows: Sequence[Row]) -> Unsettled:
    """Rows that got no verdict for one reason."""
    first = rows[0]
    state = state_of(first)
    names = listed(distinct_names(rows))
    verb = "got no verdict" if state == "error" else f"are {state}"
    text = f"{len(rows)} promises {verb}: {first['reason']}. They are {names}."
    return Unsettled(first, (), one_line(text))


def _on_one_example(rows: Sequence[Row]) -> Unsettled:
    """Rows that are violated on one smallest example: one failure, seen
    several times.
    """
    first = rows[0]
    shrunk = first["shrunk"] or {}
    user = shrunk.get("user", "")
    values = []
    for row in rows:
        numbers = measured(row)
        # `never_differs` has none: any change breaks it.
        limit = "" if numbers.limit is None else f", limit {numbers.limit:g}"
        values.append(f"{name_of_row(row)} {numbers.value:.3f}{limit}")
    text = (
        f"{len(rows)} promises are {first['status']} with one smallest example, that of user {user}: "
        f"one failure, seen {len(rows)} times. {'; '.join(values)}."
    )
    tests = ", ".join(dict.fromkeys(test_of_row(row) for row in rows))
    return Unsettled(first, (tests, first["oracle"]), one_line(text), together=True)


def sentence_of(row: Row) -> str:
    """The sentence of a row in one line, and which attempt of its test that was."""
    attempts = row["attempts"]
    text = sentence(row)
    if attempts > 1:
        text += f" The last of {attempts} attempts."
    return one_line(text)


def vacuous(rows: Iterable[Row]) -> list[str]:
    """The promises that are kept vacuously, one text for each
    recommender and each part that it does not read.
    """
    vacuous_rows = [row for row in rows if vacuous_of(row)]
    groups = grouped(vacuous_rows, lambda row: (row["model"], vacuous_of(row)))
    texts = []
    for (model, aspect), group in groups.items():
        verb = "holds" if len(group) == 1 else "hold"
        details = group[0]["details"]
        what_is_unread = unread(aspect, details.get("unread"))
        names = listed(name_of_row(row) for row in group)
        texts.append(
            one_line(
                f"{len(group)} {verb} vacuously: {model} {what_is_unread} ({names})",
            ),
        )
    return texts


def _name(row: Row, several: bool) -> str:
    """The name of a row's promise, and of its recommender if there are `several`."""
    name = name_of_row(row)
    return f"{name} of {row['model']}" if several else name


def without_number(rows: Iterable[Row], several: bool = False) -> str:
    """The verdicts that hold with users without a number, with how many; or empty.

    Args:
        rows: The rows of a run.
        several: Whether they are of several recommenders, so that these are named.
    """
    verdicts = []
    for row in rows:
        counts = _users_without_number(row)
        if row["status"] == "holds" and counts:
            verdicts.append(f"{_name(row, several)} ({counts})")
    if not verdicts:
        return ""
    distinct = "; ".join(dict.fromkeys(verdicts))
    return one_line(f"users without a number: {distinct}")


def _users_without_number(row: Row) -> str:
    """How many users have no number for which reason, of how
    many with a request; empty if all have one.
    """
    account = row.get("account") or {}
    counts = []
    if account.get("both_ends"):
        counts.append(f"{account['both_ends']} at both ends")
    if account.get("left_out"):
        counts.append(f"{account['left_out']} left out")
    if not counts:
        return ""
    return f"{', '.join(counts)} of {account.get('asked', 0)}"


def with_changed_lists(rows: Iterable[Row], several: bool = False) -> str:
    """The verdicts on deterministic recommenders that hold although lists changed, with
    how many; or empty.

    Args:
        rows: The rows of a run.
        several: Whether they are of several recommenders, so that these are named.
    """
    changes_by_name: dict[str, dict[str, Any]] = {}
    for row in rows:
        changed = detail_of(row, "changed")
        if (
            row["status"] != "holds"
            or not isinstance(changed, dict)
            or not changed.get("changed")
        ):
            continue
        name = _name(row, several)
        other = changes_by_name.get(name)
        # Of several oracles on one relation, that with most lists counts.
        if other is None or changed.get("lists", 0) > other.get("lists", 0):
            changes_by_name[name] = changed
    if not changes_by_name:
        return ""
    verdicts = []
    for name, changed in changes_by_name.items():
        counts = f"{changed['changed']} of {changed.get('lists')}"
        largest = changed.get("largest", 0)
        verdicts.append(f"{name} ({counts}, by at most {largest:.2f})")
    return one_line(
        f"lists that changed where the promise holds: {'; '.join(verdicts)}",
    )


def claims(rows: Iterable[Row], alpha: float) -> str:
    """How many claims a run made, how many wrong ones to expect, and which claims are
    of capped losses; or empty.

    Each claim has the error rate alpha of its own, so of many some may be wrong.
    """
    number = 0
    number_of_cap: Counter[str] = Counter()
    for row in rows:
        if row["status"] not in ("holds", "violated"):
            continue
        number += 1
        if "cap" in row["details"]:
            cap = row["details"]["cap"]
            number_of_cap[f"{cap:g}"] += 1
    expected = alpha * number
    if expected < WORTH_TELLING and not number_of_cap:
        return ""
    ones = "one is" if expected <= 1 else "ones are"
    total = (
        f"claims: {number}, each wrong with a probability of at most {alpha:g}, so at most {expected:.2g} wrong {ones} "
        f"to be expected"
    )
    parts = [total]
    for cap, capped in number_of_cap.items():
        parts.append(f"{capped} of them of losses that count up to {cap} a user")
    return "; ".join(parts)


def needed_of(row: Row, what: str = NEEDED) -> int:
    """How many users, or fits, would settle verdicts for which
    those of the run are too few; records are untrusted.
    """
    details = row.get("details")
    needed = details.get(what) if isinstance(details, dict) else None
    return needed if isinstance(needed, int) else 0


def inapplicable(rows: Iterable[Row]) -> list[str]:
    """The tests that do not apply, one text for each reason,
    with the suites that do not apply at all.
    """
    all_rows = list(rows)
    left_out = [row for row in all_rows if row["status"] == "not-applicable"]
    rows_by_reason = grouped(left_out, lambda row: row["reason"])
    texts = []
    for reason, group in sorted(
        rows_by_reason.items(),
        key=lambda entry: -len(entry[1]),
    ):
        where = ", ".join(_shares_of_suites(group, all_rows))
        remedy = _remedy(group)
        texts.append(
            f"{len(group)} not applicable: {one_line(reason)}{remedy} ({where})",
        )
    return texts


def _shares_of_suites(rows: Sequence[Row], all_rows: Sequence[Row]) -> list[str]:
    """How many rows of each suite some rows are, in words; of their
    recommenders alone.
    """
    models = {row["model"] for row in rows}
    sizes = Counter(row["suite"] for row in all_rows if row["model"] in models)
    # Sorted, so that suites with as many rows come in the order of their names.
    counts = Counter(sorted(row["suite"] for row in rows))
    shares = []
    for suite, count in counts.most_common():
        share = "all" if count == sizes[suite] else str(count)
        shares.append(f"{share} of {suite}")
    return shares


def _remedy(rows: Sequence[Row]) -> str:
    """How many users or fits would make tests apply that
    do not, as far as their rows say.
    """
    fits = max(needed_of(row, FITS_NEEDED) for row in rows)
    if fits:
        return f"; about {fits:,} a side would do (--recsys-replicates={fits})"
    users = max(needed_of(row) for row in rows)
    if not users:
        return ""
    in_data = max(
        row["details"].get("users_in_data", 0) for row in rows if needed_of(row)
    )
    if 0 < in_data < users:
        return f"; all {in_data:,} users of the data would be too few for some"
    return f"; about {users:,} would do (--recsys-users={users})"


def few_of(reasons: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """The first of the reasons of `inapplicable`, which name most
    tests, and how many others there are.
    """
    if len(reasons) <= SHOWN_REASONS + 1:
        return [*reasons]
    counts = Counter(row["reason"] for row in rows if row["status"] == "not-applicable")
    left = sum(sorted(counts.values(), reverse=True)[SHOWN_REASONS:])
    more = len(reasons) - SHOWN_REASONS
    return [
        *reasons[:SHOWN_REASONS],
        f"{left} not applicable for {more} other reasons: -v lists them",
    ]


def sentence(row: Row) -> str:
    """The value, its limit, and how sure that is, in a sentence: ``shuffle(0) is
    violated: the ... is 0.229 (...)``.
    """
    against = f" against {row['against']}" if row.get("against") else ""
    return wording.sentence(f"{name_of_row(row)}{against}", state_of(row), row)
