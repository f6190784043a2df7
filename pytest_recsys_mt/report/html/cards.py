"""The text of the page for each row of the record."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from pytest_recsys_mt.gate.document import EARLIER, Document, Example, Row
from pytest_recsys_mt.gate.states import STATES, measured
from pytest_recsys_mt.report.changes import Change, changes
from pytest_recsys_mt.report.diffs import Line
from pytest_recsys_mt.report.evidence import is_of_one_side, shared_of
from pytest_recsys_mt.report.html import lists, titles, words
from pytest_recsys_mt.report.html.words import State
from pytest_recsys_mt.report.measures import effect_of, limit_of
from pytest_recsys_mt.report.replicates import columns_of
from pytest_recsys_mt.report.seen import is_about_seen, kinds_shown
from pytest_recsys_mt.verdict import wording
from pytest_recsys_mt.verdict.wording import spoken

FEW = 2
"""Examples of a row that is not broken, of which the first
has its calls; the record has all of them.
"""

CHANGES = 6
"""Lines of each kind, removed and added, that are shown of a part of a request; the
transcript has all of it.
"""

SHOWN = 1000
"""Rows with a card on the page, the most important first.
Browsers open a page of some ten megabytes at once.
"""

ABOUT = {
    "effect": "effect", "interval": "interval", "margin": "margin", "noise floor": "floor",
    "p": "p", "p, Holm": "holm", "p, BH": "bh",
}  # fmt: skip
"""The terms of the glossary that explain numbers of rows."""


@dataclass(frozen=True)
class Shown:
    """One user's answers, ready to be shown.

    Attributes:
        sides: Both answers by rank; empty for a verdict on one side only.
        single: The answer, for a verdict on one side only.
        calls: The requests and answers, call by call; empty if the record does not
            have it.
        replicates: All answers to both requests; None if each has one.
    """

    user: str
    caption: str
    sides: Sequence[lists.Line]
    single: Sequence[lists.Place]
    summary: str
    changes: Sequence[Change] = ()
    calls: Sequence[lists.Call] = ()
    replicates: lists.Replicates | None = None


@dataclass(frozen=True)
class Card:
    """One row of the record, in words.

    The parts that only a shown card needs are made when they are first read.

    Attributes:
        shown: Whether the page has it; of a large record it has the first `SHOWN`.
        name: A text that distinguishes it from other rows of that title; may be empty.
        judged: How many rows of the record have a p-value.
    """

    key: str
    shown: bool
    title: str
    name: str
    place: int
    row: Row
    state: State
    alpha: float | None
    judged: int

    @cached_property
    def said(self) -> str:
        """The verdict as a sentence after its subject; the
        advice on settling it stands on the card.
        """
        row = self.row
        long = row["status"] == "inconclusive" and row.get("interval") is not None
        facts = {**row, "reason": ""} if long else row
        return wording.sentence("", self.state.key, facts).strip()

    @cached_property
    def facts(self) -> Sequence[tuple[str, str, str]]:
        """Its numbers: the name, the value, and the term of
        the glossary, which may be empty.
        """
        return [(name, value, ABOUT.get(name, "")) for name, value in _facts(self.row)]

    @property
    def wrong(self) -> Mapping[str, Any] | None:
        """The first wrong answers to its questions, as the
        record has them, and their number.
        """
        found = self.row["details"].get("wrong")
        return found if isinstance(found, Mapping) else None

    @property
    def shared(self) -> str:
        """The common property of its changed answers; empty if none was found."""
        return shared_of(self.row)

    @cached_property
    def examples(self) -> Sequence[Shown]:
        """Users, the worst first."""
        row = self.row
        both = not is_of_one_side(row)
        examples = row.get("examples") or []
        shown = []
        for place, each in enumerate(examples):
            caption = _caption(each, place, row)
            made = _shown(each, caption, both, seen=is_about_seen(row))
            if each.get("replicates"):
                of_all = lists.replicates(columns_of(each, row))
                made = replace(made, replicates=of_all)
            shown.append(made)
        if self.state.key in ("holds", "known", "inconclusive"):
            rest = [
                replace(each, calls=())
                for place, each in enumerate(shown[1:], 1)
                if place < FEW or examples[place].get("told")
            ]
            return [*shown[:1], *rest]
        return shown

    @cached_property
    def smallest(self) -> tuple[Shown, str, str] | None:
        """The smallest counterexample, if the run found one, with
        its effect and how the search ended.
        """
        shrunk = self.row.get("shrunk")
        if shrunk is None:
            return None
        source, followup = shrunk["source"], shrunk.get("followup")
        other = {"answer": []} if followup is None else followup
        example: Example = {
            "user": shrunk["user"],
            "source": source["answer"],
            "source_kinds": source.get("kinds"),
            "followup": other["answer"],
            "followup_kinds": other.get("kinds"),
            "asked": {"source": source, "followup": followup},
        }
        calls = f"{shrunk['calls']:,} {'call' if shrunk['calls'] == 1 else 'calls'}"
        ended = (
            "nothing more can be left out" if shrunk["minimal"] else "the calls ran out"
        )
        return (
            _shown(example, "", followup is not None, seen=is_about_seen(self.row)),
            words.number(shrunk["effect"], effect_of(self.row).percent),
            f"{shrunk.get('ended') or ended}; {calls}",
        )


def cards_of(document: Document) -> list[Card]:
    """A card for every row, the broken promises first."""
    rows: Sequence[Row] = [
        cast("Row", {**EARLIER, **row}) for row in document["results"]
    ]
    alpha = (document.get("settings") or {}).get("alpha")
    judged = sum(row.get("p_value") is not None for row in rows)
    order = sorted(
        enumerate(rows),
        key=lambda each: (
            STATES.index(words.state_of(each[1]).key),
            1.0 if each[1].get("p_value") is None else each[1]["p_value"],
            each[1]["suite"],
            each[1]["nodeid"],
        ),
    )
    titled = [
        (row["model"], row["suite"], titles.title_of(row), titles.name_of(row))
        for row in rows
    ]
    alike = Counter(titled)
    cards = []
    for number, (place, row) in enumerate(order, 1):
        _, _, title, name = titled[place]
        if alike[titled[place]] > 1:
            name = ": ".join(filter(None, [name, titles.distinction(row)]))
        shown, state = number <= SHOWN, words.state_of(row)
        cards.append(
            Card(f"r{number}", shown, title, name, place, row, state, alpha, judged),
        )
    return cards


def _facts(row: Row) -> list[tuple[str, str]]:
    effect = effect_of(row)
    metric, value, _ = measured(row)
    facts = [("oracle", row["oracle"])]
    if value is not None:
        facts.append(
            (effect.name if metric else "effect", words.number(value, effect.percent)),
        )
    if (interval := row.get("interval")) is not None:
        low, high = (words.number(bound, effect.percent) for bound in interval)
        approximate = " (approximate)" if row.get("approximate") else ""
        facts.append(("interval", f"{low} to {high}{approximate}"))
    if limit_of(row):
        facts.append(("threshold" if metric else "margin", limit_of(row)))
    agreed = ("noise floor", row.get("floor")), ("agreement", row.get("agreement"))
    facts += [
        (name, words.number(share)) for name, share in agreed if share is not None
    ]
    claims = (
        ("p", row.get("p_value")),
        ("p, Holm", row.get("p_holm")),
        ("p, BH", row.get("p_bh")),
    )
    facts += [(name, f"{p:.2g}") for name, p in claims if p is not None]
    facts.append(("users", words.counted(row)))
    if row["attempts"] > 1:
        facts.append(("attempts", f"{row['attempts']}, the last one counts"))
    for name, figure in ((row.get("details") or {}).get("figures") or {}).items():
        text = words.number(figure) if isinstance(figure, float) else str(figure)
        facts.append((spoken(str(name)), text))
    return facts


def _caption(example: Example, place: int, row: Row) -> str:
    first = place == 0 and row["users"] > 1
    if row.get("joint"):
        # The record's value of a user is then a pseudo-value of the jackknife, not the
        # user's own.
        everybody = (
            f"pulls the number of all {row['users']:,} users furthest from the promise"
        )
        return everybody if first else ""
    notes = [f"furthest from the promise of all {row['users']:,} users"] * first
    keeps = example.get("keeps")
    if (
        measured(row).metric is not None
    ):  # of a mean, which promises nothing of one user
        value = (row.get("per_user") or {}).get(example["user"])
        notes += [f"this user's value is {words.number(value)}"] * (value is not None)
    elif keeps is not None:
        notes.append("keeps the promise" if keeps else "breaks the promise")
    if (score := example.get("score")) is not None:
        notes.append(f"agreement {score:.2f}")
    return "; ".join(notes)


def _shown(example: Example, caption: str, both: bool, *, seen: bool) -> Shown:
    source, followup = example["source"], example["followup"]
    kinds = (
        kinds_shown(example.get("source_kinds"), seen=seen),
        kinds_shown(example.get("followup_kinds"), seen=seen),
    )
    asked: Mapping[str, lists.Asked | None] = example.get("asked") or {}
    before, after = asked.get("source"), asked.get("followup")
    changed = [*map(_shortened, changes(before, after))] if before and after else ()
    calls = lists.calls_of(before, after)
    sides = lists.aligned(source, followup, *kinds) if both else []
    answer, kind = (source, kinds[0]) if source else (followup, kinds[1])
    single = [] if both else lists.alone(answer, kind)
    return Shown(
        example["user"],
        caption,
        sides,
        single,
        lists.summary(sides),
        changed,
        calls,
    )


def _shortened(change: Change) -> Change:
    kept: list[Line] = []
    count = Counter[str]()
    left = 0
    for mark, text in change.lines:
        count[mark] += 1
        if mark in "-+" and count[mark] > CHANGES:
            left += 1
        elif mark in "-+" or not left:
            kept.append((mark, text))
    if left <= 1:  # no line is saved on one
        return change
    return Change(change.part, (*kept, ("…", f"{left} more changed lines")))
