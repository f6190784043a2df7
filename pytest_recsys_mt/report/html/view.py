"""Several records of one suite in the order of their runs:
what changed, row by row, and the last report.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from typing import Any

from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.report.glossary import entries_of
from pytest_recsys_mt.report.html import effects
from pytest_recsys_mt.report.html.answer import Answer, answer_of
from pytest_recsys_mt.report.html.cards import Card, cards_of
from pytest_recsys_mt.report.html.matrix import Key, keyed
from pytest_recsys_mt.report.html.scorecard import counted
from pytest_recsys_mt.report.html.words import STATES, State
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

KEPT = "run "
"""The beginning of the name of a kept run, before its number."""
LATE = 10
"""The latest runs, which have a line each where a verdict is opened."""
DRAWN = 20
"""The latest runs, which are drawn: more have no room side by side."""
SAID = 6
"""Changes of a verdict that are said in words."""
ROOM = 1_000_000
"""Characters of the examples that a page has."""


KeyedCard = tuple[tuple[str, *Key], Card]
"""A card with the key that it shares with those of other runs: its model if runs differ
in it, its test, and more.
"""


@dataclass(frozen=True)
class Run:
    """One record.

    Attributes:
        place: Its place among the records, from 1.
        number: The number that it goes by.
        differs: Why it cannot be compared with the run before; empty if it can.
    """

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
    """Runs one after another in which a verdict is in one
    state; None if they have no verdict.
    """

    state: State | None
    runs: int
    text: str


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
    ordered = sorted(records, key=lambda named_record: began(named_record[1]))
    cards_by_run = [cards_of(record) for _, record in ordered]
    runs = _runs(ordered, cards_by_run)
    # A release often has a name of its own: with one model each, runs are of the same
    # one.
    several_models = any(len(record["models"]) != 1 for _, record in ordered)
    keys = [_keys(cards, several_models) for cards in cards_by_run]
    if len(ordered) > 1:
        _require_common(ordered, keys)
    tracks = _tracks(keys, runs)
    unchanged = [track for track in tracks if not track.changed]
    inapplicable = [
        track for track in unchanged if track.now.state.key == "not-applicable"
    ]
    applied = [track for track in unchanged if track.now.state.key != "not-applicable"]
    every_card = chain.from_iterable(cards_by_run)
    return {
        "named": several_models,
        "runs": runs,
        "tracks": tracks,
        "entries": entries_of(card.row for card in every_card),
        "last": runs[-1],
        "changed": [track for track in tracks if track.changed],
        "bad": [track for track in applied if track.now.state.bad],
        "steady": [track for track in applied if not track.now.state.bad],
        "states": STATES,
        "models": sorted({track.now.row["model"] for track in tracks} - {""}),
        "suites": sorted({track.now.row["suite"] for track in tracks}),
        "broken": broken_of(tracks),
        "inapplicable": inapplicable,
    }


def _runs(
    ordered: Sequence[tuple[str, Document]],
    cards_by_run: Sequence[Sequence[Card]],
) -> list[Run]:
    """The runs in their order; a kept run goes by its own
    number, any other by its place and its name.
    """
    runs: list[Run] = []
    for place, ((name, record), cards) in enumerate(
        zip(ordered, cards_by_run, strict=True),
        1,
    ):
        is_kept = name.startswith(KEPT)
        run = Run(
            place=place,
            number=int(name.removeprefix(KEPT)) if is_kept else place,
            name="" if is_kept else name,
            when=began(record)[:16].replace("T", " "),
            record=record,
            answer=answer_of(record, cards),
            counts=counted(cards),
            differs=_differences(runs[-1].record, record) if runs else (),
        )
        runs.append(run)
    return runs


def _keys(cards: Sequence[Card], several_models: bool) -> list[KeyedCard]:
    """The cards of a run by the keys that they share with those of other runs."""
    models = sorted({card.row["model"] for card in cards})
    keys = []
    for key, card in keyed(cards, models):
        model = card.row["model"] if several_models else ""
        keys.append(((model, *key), card))
    return keys


def _tracks(keys: Sequence[Sequence[KeyedCard]], runs: Sequence[Run]) -> list[Track]:
    """The verdicts across the runs: by the state of their last, its
    suite and its test.
    """
    cards_by_key: dict[tuple[str, *Key], list[Card | None]] = {}
    for place, keys_of_run in enumerate(keys):
        for key, card in keys_of_run:
            cards_by_key.setdefault(key, [None] * len(runs))[place] = card
    tracks = [
        _track(f"t{n}", cards, runs) for n, cards in enumerate(cards_by_key.values(), 1)
    ]
    order_of_states = list(STATES)

    def place_of(track: Track) -> tuple[int, str, str]:
        row = track.now.row
        return order_of_states.index(track.now.state.key), row["suite"], row["nodeid"]

    return sorted(tracks, key=place_of)


def began(record: Mapping[str, Any]) -> str:
    """When its run began, as text; empty if it does not say."""
    return str((record.get("time") or {}).get("started") or "")


def without_examples(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without the parts that only the report of its run
    shows, which is nearly all of it.
    """
    removed: dict[str, Any] = {"examples": [], "shrunk": None, "per_user": {}}
    return {**record, "results": [{**row, **removed} for row in record["results"]]}


def _require_common(
    records: Sequence[tuple[str, Document]],
    keys: Sequence[Sequence[KeyedCard]],
) -> None:
    """Check that each record has a test of another.

    Raises:
        DataError: If one has none.
    """
    # The first two parts of a key are the model and the test.
    tests = [
        {key[:2]: card.row["nodeid"] for key, card in keys_of_run}
        for keys_of_run in keys
    ]
    for place, (name, record) in enumerate(records):
        own = tests[place]
        others: dict[tuple[str, str], str] = {}
        for tests_of_other in (*tests[:place], *tests[place + 1 :]):
            others |= tests_of_other
        if own.keys() & others.keys():
            continue
        models = ", ".join(one_line(model) for model in record["models"]) or "no model"
        ours = next(iter(own.values()), "none")
        theirs = next(iter(others.values()), "none")
        raise DataError(
            f"{name!r} ({models}) has no test of the other records: one of its tests is {one_line(ours)!r}, one of "
            f"theirs {one_line(theirs)!r}; a view takes records of one suite, run from one folder, of the same models",
        )


def _differences(old: Document, new: Document) -> list[str]:
    """Why two runs cannot be compared: the differences of their requests or data."""
    before = _facts(old)
    after = _facts(new)
    return [
        f"other {name}: {_short(before[name])} then, {_short(after[name])} now"
        for name in before
        if name in after and before[name] != after[name]
    ]


def _facts(record: Document) -> Mapping[str, Any]:
    """The facts that two runs must share to be compared, by the names
    that users know.
    """
    facts: dict[str, Any] = {
        "data": record["data"],
        "digest of the data": record.get("data_digest"),
        "seed": record["seed"],
    }
    if "settings" in record:
        facts |= options_of(record)
    facts.pop("--recsys-model", None)
    return facts


def _short(value: object) -> str:
    text = "none" if value is None else one_line(str(value))
    return text if len(text) <= 24 else f"{text[:12]}…"


def _track(key: str, cards: Sequence[Card | None], runs: Sequence[Run]) -> Track:
    """One verdict across all runs, from its card in each."""
    cards_and_runs = list(zip(cards, runs, strict=True))
    known = [(card, run) for card, run in cards_and_runs if card]
    first_card, first_run = known[0]
    last_card, _ = known[-1]
    story = [f"{first_card.state.label} in run {first_run.number}"]
    changed = False
    for (card_before, before), (card, run) in pairwise(known):
        if card_before.state == card.state:
            continue
        # The two cannot be compared either if a run between them cannot.
        is_comparable = not any(
            between.differs for between in runs[before.place : run.place]
        )
        changed |= is_comparable
        how = "" if is_comparable else " (not comparable)"
        story.append(f"{card.state.label} in run {run.number}{how}")
    if len(story) > SAID:
        story[1 : 1 - SAID] = ["..."]
    drawing = ""
    if any(card.row.get("interval") for card, _ in known):
        rows = [card.row if card else None for card in cards[-DRAWN:]]
        parted = [bool(run.differs) for run in runs[-DRAWN:]]
        drawing = effects.track(rows, parted)
    return Track(
        key=key,
        cards=cards,
        late=[(run.number, card) for card, run in cards_and_runs[-LATE:]],
        now=last_card,
        story=", ".join(story),
        changed=changed,
        drawing=drawing,
        stretches=list(_stretches(cards, runs)),
    )


def _stretches(cards: Sequence[Card | None], runs: Sequence[Run]) -> Iterator[Stretch]:
    states = [card.state if card else None for card in cards]
    numbered_states = zip(states, runs, strict=True)
    for state, group in groupby(numbered_states, lambda numbered: numbered[0]):
        numbers = [run.number for _, run in group]
        label = state.label if state else "no verdict"
        which = f"run {numbers[0]}"
        if len(numbers) > 1:
            which += f" to {numbers[-1]}"
        yield Stretch(state, len(numbers), f"{label}: {which}")


def broken_of(tracks: Sequence[Track]) -> list[Card]:
    """The verdicts that are not settled in the last run, with as many
    transcripts as the page has room for.
    """
    room = ROOM
    shown: list[Card] = []
    for track in tracks:
        card = track.cards[-1]
        if card is None or not card.state.bad:
            continue
        room -= len(str(card.row["examples"]))
        if room > 0 or not shown:
            shown.append(replace(card, key=f"last-{card.key}"))
    return shown
