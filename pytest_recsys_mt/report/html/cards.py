"""The text of the page for each row of the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pytest_recsys_mt.gate.document import EARLIER, Document, Example, Row, measured
from pytest_recsys_mt.report.changes import the_catalogue
from pytest_recsys_mt.report.html import lists, words
from pytest_recsys_mt.report.html.words import State


@dataclass(frozen=True)
class Shown:
    """One user's answers, ready to be shown.

    Attributes:
        user: Id of the user.
        caption: Why this user is shown.
        sides: Both answers by rank; empty for a verdict on one side only.
        single: The answer, for a verdict on one side only.
        summary: The changes of the items, in words.
    """

    user: str
    caption: str
    sides: Sequence[lists.Line]
    single: Sequence[lists.Place]
    summary: str


@dataclass(frozen=True)
class Part:
    """One part of the smallest counterexample: its content before and after the change."""

    name: str
    source: Sequence[str]
    followup: Sequence[str]
    changed: bool


@dataclass(frozen=True)
class Smallest:
    """The smallest counterexample."""

    user: str
    effect: str
    ended: str
    parts: Sequence[Part]
    answers: Shown


@dataclass(frozen=True)
class Card:
    """One row of the record, in words.

    Attributes:
        key: Its id on the page.
        title: The test's name as words.
        row: The row itself.
        state: Its state.
        sentences: The verdict.
        facts: Its numbers, by name.
        examples: Users, the worst first.
        smallest: The smallest counterexample, if the run looked for one and found one.
    """

    key: str
    title: str
    row: Row
    state: State
    sentences: Sequence[str]
    facts: Sequence[tuple[str, str]]
    examples: Sequence[Shown]
    smallest: Smallest | None

    @property
    def name(self) -> str:
        """The relation, else the parameters of the test, else empty."""
        relation, against = self.row["relation"], self.row.get("against")
        if relation and against:
            return f"{relation} against {against}"
        return relation or _parameters(self.row)


def cards_of(document: Document) -> list[Card]:
    """A card for every row, the broken promises first."""
    rows: Sequence[Row] = [cast("Row", {**EARLIER, **row}) for row in document["results"]]
    alpha = (document.get("settings") or {}).get("alpha")
    judged = sum(row.get("p_value") is not None for row in rows)
    weight = {key: number for number, key in enumerate(words.STATES)}
    order = sorted(
        rows,
        key=lambda row: (
            weight[words.state_of(row).key],
            1.0 if row.get("p_value") is None else row["p_value"],
            row["suite"],
            row["nodeid"],
        ),
    )
    return [
        Card(
            key=f"r{number}",
            title=_title(row),
            row=row,
            state=words.state_of(row),
            sentences=words.verdict(row, alpha, judged),
            facts=_facts(row),
            examples=_examples(row),
            smallest=_smallest(row),
        )
        for number, row in enumerate(order, 1)
    ]


def _title(row: Row) -> str:
    test = row["nodeid"].rpartition("::")[2].partition("[")[0]
    spoken = words.spoken(test.removeprefix("test_"))
    return spoken[:1].upper() + spoken[1:]


def _parameters(row: Row) -> str:
    """The parameters of a test without a relation, except the model."""
    parameters = row["nodeid"].rpartition("::")[2].partition("[")[2].removesuffix("]")
    from pytest_recsys_mt.metamorphic import slug

    return str(parameters.removeprefix(slug(row["model"])).removeprefix("-"))


def _facts(row: Row) -> list[tuple[str, str]]:
    """The numbers of a row, under their names in the record."""
    effect = words.effect_of(row)
    metric, value, _ = measured(row)
    facts = [("oracle", row["oracle"])]
    if value is not None:
        facts.append((effect.name if metric else "effect", words.number(value, effect.percent)))
    if (interval := row.get("interval")) is not None:
        low, high = (words.number(bound, effect.percent) for bound in interval)
        approximate = " (approximate)" if row.get("approximate") else ""
        facts.append(("interval", f"{low} to {high}{approximate}"))
    if words.limit_of(row):
        facts.append(("threshold" if metric else "margin", words.limit_of(row)))
    agreed = ("noise floor", row.get("floor")), ("agreement", row.get("agreement"))
    facts += [(name, words.number(share)) for name, share in agreed if share is not None]
    claims = (("p", row.get("p_value")), ("p, Holm", row.get("p_holm")), ("p, BH", row.get("p_bh")))
    facts += [(name, f"{p:.2g}") for name, p in claims if p is not None]
    facts.append(("users", words.counted(row)))
    if row["attempts"] > 1:
        facts.append(("attempts", f"{row['attempts']}, the last one counts"))
    for name, figure in ((row.get("details") or {}).get("figures") or {}).items():
        text = words.number(figure) if isinstance(figure, float) else str(figure)
        facts.append((words.spoken(str(name)), text))
    return facts


def _examples(row: Row) -> list[Shown]:
    examples = row.get("examples") or []
    both = bool(row["relation"]) and any(
        each["source"] or each.get("score") is not None for each in examples
    )
    return [_shown(each, _caption(each, place, row), both) for place, each in enumerate(examples)]


def _caption(example: Example, place: int, row: Row) -> str:
    keeps = example.get("keeps")
    said = "" if keeps is None else "keeps the promise" if keeps else "breaks the promise"
    if place == 0 and row["users"] > 1:
        said = f"furthest from the promise of all {row['users']:,} users" + (
            f"; {said}" if said else ""
        )
    if (score := example.get("score")) is not None:
        said += f"{'; ' if said else ''}agreement {score:.2f}"
    return said


def _shown(example: Example, caption: str, both: bool) -> Shown:
    source, followup = example["source"], example["followup"]
    kinds = example.get("source_kinds") or (), example.get("followup_kinds") or ()
    if not both:
        answer, kind = (source, kinds[0]) if source else (followup, kinds[1])
        return Shown(example["user"], caption, (), lists.alone(answer, kind), "")
    sides = lists.aligned(source, followup, *kinds)
    return Shown(example["user"], caption, sides, (), lists.summary(sides))


def _smallest(row: Row) -> Smallest | None:
    shrunk = row.get("shrunk")
    if shrunk is None:
        return None
    source, followup = shrunk["source"], shrunk.get("followup")
    before = _parts(source)
    after = {} if followup is None else _parts(followup)
    parts = [
        Part(name, texts, after.get(name, ()), followup is not None and after[name] != texts)
        for name, texts in before.items()
        if texts or after.get(name)
    ]
    example: Example = {
        "user": shrunk["user"],
        "source": source["answer"],
        "source_kinds": source.get("kinds"),
        "followup": [] if followup is None else followup["answer"],
        "followup_kinds": None if followup is None else followup.get("kinds"),
    }
    calls = f"{shrunk['calls']:,} {'call' if shrunk['calls'] == 1 else 'calls'}"
    ended = "nothing more can be left out" if shrunk["minimal"] else "the calls ran out"
    return Smallest(
        user=shrunk["user"],
        effect=words.number(shrunk["effect"], words.effect_of(row).percent),
        ended=f"{ended}; {calls}",
        parts=parts,
        answers=_shown(example, "", followup is not None),
    )


def _parts(request: Mapping[str, Any]) -> dict[str, list[str]]:
    """Every part of a request, by name, as lines of text."""
    low, high = request["scale"]
    offered = request["candidates"]
    return {
        "user": [request["user"]],
        "history": [f"{each['title']}: {each['rating']:g}" for each in request["history"]],
        "scale": [f"{low:g} to {high:g}"],
        "candidates": (
            [the_catalogue(len(request.get("seen", ())))]
            if offered is None
            else [each["title"] for each in offered]
        ),
        "asked for": [f"{request['k']} items"],
        "instruction": [request["instruction"]] if request["instruction"] else [],
        "edits": list(request["edits"]),
    }
