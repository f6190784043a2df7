"""Several records of one suite in the order of their runs: what changed, row by row, and the last report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.report.glossary import entries_of
from pytest_recsys_mt.report.html import figures
from pytest_recsys_mt.report.html.answer import Answer, answer_of
from pytest_recsys_mt.report.html.cards import Card, cards_of
from pytest_recsys_mt.report.html.matrix import Key, keyed
from pytest_recsys_mt.report.html.scorecard import counted
from pytest_recsys_mt.report.html.words import STATES, State
from pytest_recsys_mt.safety.sanitize import one_line

KEPT = "run "
"""What the name of a kept run begins with, before its number."""
LATE = 10
"""The latest runs, which have a line each where a verdict is opened."""
DRAWN = 20
"""The latest runs, which are drawn: more have no room beside each other."""
SAID = 6
"""Changes of a verdict that are said in words."""
ROOM = 1_000_000
"""Characters of the examples that a page has."""


@dataclass(frozen=True)
class Run:
    """One record, with its place from 1, the number that it goes by, and why it cannot be compared with the run before."""

    place: int
    number: int
    name: str
    when: str
    record: Document
    answer: Answer
    counts: str
    differs: Sequence[str]


@dataclass(frozen=True)
class Stretch:
    """Runs one after another in which a verdict is in one state; None where they have none."""

    state: State | None
    runs: int
    told: str


@dataclass(frozen=True)
class Track:
    """One verdict across the runs.

    Attributes:
        late: The latest runs, which have a line each, with their numbers.
        changed: Whether its state changed between runs that can be compared.
    """

    key: str
    cards: Sequence[Card | None]
    late: Sequence[tuple[int, Card | None]]
    now: Card
    story: str
    changed: bool
    drawing: str
    stretches: Sequence[Stretch]


def contents_of(records: Sequence[tuple[str, Document]]) -> dict[str, Any]:
    """The variables of ``view.html.j2``, from some records with their names.

    Raises:
        DataError: If they have no test in common.
    """
    ordered = sorted(records, key=lambda each: began(each[1]))
    held = [(name, record, cards_of(record)) for name, record in ordered]
    runs = []
    for place, (name, record, cards) in enumerate(held, 1):
        number, called = place, name
        if name.startswith(KEPT):
            number, called = int(name.removeprefix(KEPT)), ""
        when = began(record)[:16].replace("T", " ")
        answer, counts = answer_of(record, cards), counted(cards)
        differs = () if place == 1 else _differences(ordered[place - 2][1], record)
        runs.append(Run(place, number, called, when, record, answer, counts, differs))
    # A release often has a name of its own: with one model each, runs are of the same one.
    named = any(len(record["models"]) != 1 for _, record in ordered)
    keys = []
    for _, _, cards in held:
        own = keyed(cards, sorted({card.row["model"] for card in cards}))
        keys.append([((card.row["model"] if named else "", *key), card) for key, card in own])
    if len(ordered) > 1:
        _require_common(ordered, keys)
    found: dict[tuple[str, *Key], list[Card | None]] = {}
    for place, own_keys in enumerate(keys):
        for key, card in own_keys:
            found.setdefault(key, [None] * len(held))[place] = card
    tracks = [_track(f"t{n}", cards, runs) for n, cards in enumerate(found.values(), 1)]
    states = list(STATES)
    tracks.sort(
        key=lambda track: (
            states.index(track.now.state.key),
            track.now.row["suite"],
            track.now.row["nodeid"],
        )
    )
    still = [track for track in tracks if not track.changed]
    applied = [track for track in still if track.now.state.key != "not-applicable"]
    return {
        "named": named,
        "runs": runs,
        "tracks": tracks,
        "entries": entries_of(card.row for _, _, cards in held for card in cards),
        "last": runs[-1],
        "changed": [track for track in tracks if track.changed],
        "bad": [track for track in applied if track.now.state.bad],
        "steady": [track for track in applied if not track.now.state.bad],
        "states": STATES,
        "models": sorted({track.now.row["model"] for track in tracks} - {""}),
        "suites": sorted({track.now.row["suite"] for track in tracks}),
        "broken": broken_of(tracks),
        "inapplicable": [track for track in still if track.now.state.key == "not-applicable"],
    }


def began(record: Mapping[str, Any]) -> str:
    """When its run began, as text; empty if it does not say."""
    return str((record.get("time") or {}).get("started") or "")


def without_examples(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what only the report of its run shows, which is nearly all of it."""
    rows = [{**row, "examples": [], "shrunk": None, "per_user": {}} for row in record["results"]]
    return {**record, "results": rows}


def _require_common(
    records: Sequence[tuple[str, Document]], keys: Sequence[Sequence[tuple[tuple[str, *Key], Card]]]
) -> None:
    tests = [{key[:2]: card.row["nodeid"] for key, card in own} for own in keys]
    for place, (name, record) in enumerate(records):
        others = {
            key: test for at, each in enumerate(tests) if at != place for key, test in each.items()
        }
        if not tests[place].keys() & others.keys():
            models = ", ".join(map(one_line, record["models"])) or "no model"
            ours, theirs = (next(iter(each.values()), "none") for each in (tests[place], others))
            raise DataError(
                f"{name!r} ({models}) has no test of the other records: one of its tests is {one_line(ours)!r}, one of "
                f"theirs {one_line(theirs)!r}; a view takes records of one suite, run from one folder, of the same models"
            )


def _differences(old: Document, new: Document) -> list[str]:
    before, after = _facts(old), _facts(new)
    return [
        f"other {name}: {_short(before[name])} then, {_short(after[name])} now"
        for name in before
        if name in after and before[name] != after[name]
    ]


def _facts(record: Document) -> Mapping[str, Any]:
    facts = {
        "data": record["data"],
        "digest of the data": record.get("data_digest"),
        "seed": record["seed"],
        **(options_of(record) if "settings" in record else {}),
    }
    facts.pop("--recsys-model", None)
    return facts


def _short(value: object) -> str:
    text = "none" if value is None else one_line(str(value))
    return text if len(text) <= 24 else f"{text[:12]}…"


def _track(key: str, cards: Sequence[Card | None], runs: Sequence[Run]) -> Track:
    known = [(run, card) for run, card in zip(runs, cards, strict=True) if card]
    told = [f"{known[0][1].state.label} in run {known[0][0].number}"]
    changed = False
    for (first, one), (second, other) in pairwise(known):
        if one.state != other.state:
            # Whether the two, or any between them, cannot be compared.
            apart = any(run.differs for run in runs[first.place : second.place])
            changed |= not apart
            told.append(
                f"{other.state.label} in run {second.number}{' (not comparable)' if apart else ''}"
            )
    drawing = ""
    if any(card and card.row.get("interval") for card in cards):
        parted = [bool(run.differs) for run in runs][-DRAWN:]
        drawing = figures.track([card.row if card else None for card in cards[-DRAWN:]], parted)
    late = [(run.number, card) for run, card in zip(runs, cards, strict=True)][-LATE:]
    story = ", ".join([*told[:1], *["..."] * (len(told) > SAID), *told[1:][1 - SAID :]])
    return Track(
        key, cards, late, known[-1][1], story, changed, drawing, [*_stretches(cards, runs)]
    )


def _stretches(cards: Sequence[Card | None], runs: Sequence[Run]) -> Iterator[Stretch]:
    held = zip(runs, cards, strict=True)
    for state, group in groupby(held, lambda each: each[1].state if each[1] else None):
        numbers = [run.number for run, _ in group]
        which = f"run {numbers[0]}" + f" to {numbers[-1]}" * (len(numbers) > 1)
        yield Stretch(state, len(numbers), f"{state.label if state else 'no verdict'}: {which}")


def broken_of(tracks: Sequence[Track]) -> list[Card]:
    """What is not settled in the last run, with its transcripts: as much of it as the page has room for."""
    last = [card for track in tracks if (card := track.cards[-1]) and card.state.bad]
    room = ROOM
    shown: list[Card] = []
    for card in last:
        room -= len(str(card.row["examples"]))
        if room > 0 or not shown:
            shown.append(replace(card, key=f"last-{card.key}"))
    return shown
