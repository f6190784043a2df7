"""What people see of many rows: those that do not hold one by one, those that do not apply by reason."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt import wording
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import STATES, detail_of, grouped, measured, state_of, vacuous_of
from pytest_recsys_mt.report.short_failures import smallest_of
from pytest_recsys_mt.report.short_names import distinct_names, test_of_row
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict import FITS_NEEDED, NEEDED
from pytest_recsys_mt.wording import unread

ORDER = STATES[: STATES.index("holds")]
"""The states that are told one by one, the most important first."""
MANY = 3
"""From so many tests on that got no verdict for one reason, they share one sentence."""


@dataclass(frozen=True)
class Unsettled:
    """A row that does not simply hold, or the first of several without a verdict for one reason, and its place."""

    row: Row
    place: tuple[str, ...]
    sentence: str
    together: bool = False  # whether it stands for several rows with a place

    def where(self, several: bool) -> str:
        """Its suite, its place, and its recommender if there are `several`."""
        model = self.row["model"] if several else ""
        return ", ".join(filter(None, [self.row["suite"], *self.place, model]))


def unsettled(rows: Sequence[Row]) -> list[Unsettled]:
    """The rows that do not simply hold, the most important first."""
    found = []
    for state in ORDER:
        here = [row for row in rows if state_of(row) == state]
        for own in grouped(here, _alike).values():
            if len(own) > 1 and smallest_of(own[0]):
                found.append(_seen_again(own))
            elif len(own) >= MANY and measured(own[0]).value is None:
                names = ", ".join(dict.fromkeys(distinct_names(own)))
                verb = "got no verdict" if state == "error" else f"are {state}"
                text = f"{len(own)} promises {verb}: {own[0]['reason']}. They are {names}."
                found.append(Unsettled(own[0], (), one_line(text)))
            else:
                found += [Unsettled(r, (test_of_row(r), r["oracle"]), told_of(r)) for r in own]
    return found


def _seen_again(rows: Sequence[Row]) -> Unsettled:
    """Rows that are violated on one smallest example: one failure, seen several times."""
    user = (rows[0]["shrunk"] or {}).get("user", "")
    told = "; ".join(
        f"{name_of_row(row)} {measured(row).value:.3f}, limit {measured(row).limit:g}"
        for row in rows
    )
    text = (
        f"{len(rows)} promises are {rows[0]['status']} with one smallest example, that of user {user}: "
        f"one failure, seen {len(rows)} times. {told}."
    )
    places = dict.fromkeys(test_of_row(row) for row in rows)
    return Unsettled(rows[0], (", ".join(places), rows[0]["oracle"]), one_line(text), together=True)


def _alike(row: Row) -> tuple[str, ...]:
    if row["status"] == "violated" and (small := smallest_of(row)):
        return row["suite"], row["model"], row["oracle"], small
    alone = [row["nodeid"], row["oracle"]] if measured(row).value is not None else []
    return row["suite"], row["model"], row["reason"], *alone


WORTH_TELLING = 0.5
"""From how many expected wrong claims on a summary says so."""


def told_of(row: Row) -> str:
    """The sentence of a row in one line, and which attempt of its test that was."""
    attempts = row["attempts"]
    return one_line(
        f"{sentence(row)}{f' The last of {attempts} attempts.' if attempts > 1 else ''}"
    )


def vacuous(rows: Iterable[Row]) -> list[str]:
    """The promises that are kept vacuously, one text for each recommender and what it does not read."""
    found = grouped(filter(vacuous_of, rows), lambda row: (row["model"], vacuous_of(row)))
    return [
        one_line(
            f"{len(own)} {'holds' if len(own) == 1 else 'hold'} vacuously: {model} {unread(aspect, own[0]['details'].get('unread'))} "
            f"({', '.join(dict.fromkeys(map(name_of_row, own)))})"
        )
        for (model, aspect), own in found.items()
    ]


def without_number(rows: Iterable[Row], several: bool = False) -> str:
    """The verdicts that hold beside users without a number, with how many, of `several` recommenders; or empty."""
    found = []
    for row in rows:
        account = row.get("account") or {}
        parts = ((account.get("both_ends"), "at both ends"), (account.get("left_out"), "left out"))
        told = ", ".join(f"{count} {word}" for count, word in parts if count)
        if row["status"] == "holds" and told:
            name = f"{name_of_row(row)} of {row['model']}" if several else name_of_row(row)
            found.append(f"{name} ({told} of {account.get('asked', 0)})")
    return one_line(f"users without a number: {'; '.join(dict.fromkeys(found))}") if found else ""


def with_changed_lists(rows: Iterable[Row], several: bool = False) -> str:
    """The verdicts on deterministic recommenders that hold although lists changed, with how many; or empty."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        changed = detail_of(row, "changed")
        if row["status"] == "holds" and isinstance(changed, dict) and changed.get("changed"):
            name = f"{name_of_row(row)} of {row['model']}" if several else name_of_row(row)
            before = found.get(name)
            if before is None or changed.get("lists", 0) > before.get("lists", 0):
                found[name] = changed  # of several oracles on one relation that with most lists
    told = "; ".join(
        f"{name} ({each['changed']} of {each.get('lists')}, by at most {each.get('largest', 0):.2f})"
        for name, each in found.items()
    )
    return one_line(f"lists that changed where the promise holds: {told}") if found else ""


def claims(rows: Iterable[Row], alpha: float) -> str:
    """How many claims a run made, how many wrong ones to expect, and which claims are of capped losses; or empty.

    Each claim has the error rate alpha of its own, so of many some may be wrong.
    """
    made = [row for row in rows if row["status"] in ("holds", "violated")]
    caps = Counter(f"{row['details']['cap']:g}" for row in made if "cap" in row["details"])
    capped = [
        f"{count} of them of losses that count up to {cap} a user" for cap, count in caps.items()
    ]
    expected = alpha * len(made)
    if expected < WORTH_TELLING and not capped:
        return ""
    told = (
        f"claims: {len(made)}, each wrong with a probability of at most {alpha:g}, so at most {expected:.2g} wrong "
        f"{'one is' if expected <= 1 else 'ones are'} to be expected"
    )
    return "; ".join([told, *capped])


def needed_of(row: Row, what: str = NEEDED) -> int:
    """How many users, or fits, would settle what those asked are too few for; records are untrusted."""
    needed = row["details"].get(what) if isinstance(row.get("details"), dict) else None
    return needed if isinstance(needed, int) else 0


def inapplicable(rows: Iterable[Row]) -> list[str]:
    """The tests that do not apply, one text for each reason, with the suites that do not apply at all."""
    listed = list(rows)
    left_out = [row for row in listed if row["status"] == "not-applicable"]
    of_reason = grouped(left_out, lambda row: row["reason"])
    told = []
    for reason, own in sorted(of_reason.items(), key=lambda each: -len(each[1])):
        models = {row["model"] for row in own}
        everything = Counter(row["suite"] for row in listed if row["model"] in models)
        suites = Counter(sorted(row["suite"] for row in own)).most_common()
        where = ", ".join(
            f"all of {suite}" if number == everything[suite] else f"{number} of {suite}"
            for suite, number in suites
        )
        more = max((needed_of(row) for row in own), default=0)
        told_more = f"; about {more:,} would do (--recsys-users={more})" if more else ""
        most = max(
            (row["details"].get("users_in_data", 0) for row in own if needed_of(row)), default=0
        )
        if 0 < most < more:
            told_more = f"; all {most:,} users of the data would be too few for some"
        if fits := max((needed_of(row, FITS_NEEDED) for row in own), default=0):
            told_more = f"; about {fits:,} a side would do (--recsys-replicates={fits})"
        told.append(f"{len(own)} not applicable: {one_line(reason)}{told_more} ({where})")
    return told


SHOWN_REASONS = 3
"""So many reasons why tests do not apply are shown one by one; if there are more, `-v` shows the others."""


def few_of(reasons: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """The first of the reasons of `inapplicable`, which name most tests, and how many there are beside them."""
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
    """What was seen, against which limit, and how sure that is: ``shuffle(0) is violated: the ... is 0.229 (...)``."""
    beside = f" against {row['against']}" if row.get("against") else ""
    return wording.sentence(f"{name_of_row(row)}{beside}", state_of(row), row)
