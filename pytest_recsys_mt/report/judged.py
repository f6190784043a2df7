"""How much of a run could be judged and read, and why the rest could not."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_recsys_mt.gate.document import Document, Readable, Row
from pytest_recsys_mt.gate.states import State, detail_of, grouped, state_of_test
from pytest_recsys_mt.safety.sanitize import one_line

UNJUDGED: dict[State, str] = {
    "inconclusive": "inconclusive", "error": "in error", "not-applicable": "not applicable",
}  # fmt: skip
LEFT = {
    "quick": "left out of this quick look",
    "standard": "left out as they make many calls (--recsys-effort=thorough runs them)",
}


def is_quick(document: Document) -> bool:
    """Whether a quick look left tests out, so that the run says little of a release."""
    left = document.get("left_out") or {}
    return left.get("effort") == "quick" and bool(left.get("tests"))


def judged(document: Document) -> str:
    """Such as ``6 of 220 tests could be judged: 212 left out of this quick look``; empty for a run without tests.

    A test of several verdicts is in the state of the most important one.
    """
    of_test = grouped(document["results"], lambda row: row["nodeid"])
    counts = Counter(map(state_of_test, of_test.values()))
    made = len(of_test) - sum(counts[state] for state in UNJUDGED)
    left = document.get("left_out") or {"effort": "", "tests": 0}
    total = len(of_test) + left["tests"]
    if not total:
        return ""
    told = [f"{left['tests']} {LEFT.get(left['effort'], 'left out')}"] * bool(left["tests"])
    told += [f"{counts[state]} {word}" for state, word in UNJUDGED.items() if counts[state]]
    text = f"{made} of {total} {'test' if total == 1 else 'tests'} could be judged"
    return f"{text}: {', '.join(told)}" if told else text


LONGEST = 150
"""Characters of an unread answer that are shown in a line."""


def read_in_words(model: str, read: Readable) -> str:
    """How well a text model kept to the form in which it was asked to answer."""
    named = read["answers"] - read["unreadable"]
    kinds = read["entries"]
    entries = sum(kinds.values()) - kinds["unparsed"]
    strays = kinds["history"] + kinds["catalogue"] + kinds["outside"]
    text = f"answers of {one_line(model)}: {named} of {read['answers']} name a title"
    faults = [(kinds["duplicate"], "twice"), (strays, "not offered"), (kinds["unknown"], "made up")]
    found = ", ".join(f"{number} {fault}" for number, fault in faults if number)
    text = f"{text}; of {entries} titles {found}" if found else text
    ambiguous = read.get("ambiguous", 0)  # older records lack it
    return f"{text}; {ambiguous} have several lists of equal claims" if ambiguous else text


def json_instead(read: Readable) -> list[str]:
    """How a text model of which answers are unread is asked for a form that needs no reading, if it has one."""
    unread, answers = read["unreadable"], read["answers"]
    if not (unread and read.get("takes_json")):
        return []
    return [f"{unread} of {answers} answers unread; with answer=offered nothing needs reading"]


def all_read_in_words(readings: Mapping[str, Readable]) -> list[str]:
    """`read_in_words`, `json_instead` and `unread_in_words` of each text model of a record."""
    return [
        text
        for model, read in readings.items()
        for text in (
            read_in_words(model, read),
            *json_instead(read),
            *unread_in_words(read.get("unread") or ()),
        )
    ]


def unread_in_words(unread: Iterable[Mapping[str, Any]]) -> list[str]:
    """Some answers of which nothing could be read, each with the reason and what to ask for."""
    parts = (
        (f"not read: {one_line(each['text'])[:LONGEST]!r}", one_line(each["how"]))
        for each in unread
    )
    return [": ".join(filter(None, both)) for both in parts]


def unread_of(row: Row) -> list[dict[str, str]]:
    """The answers behind a row of which nothing could be read; records are untrusted, and older ones lack them."""
    said = detail_of(row, "unreadable")
    texts = said.get("texts") if isinstance(said, dict) else None
    return [
        {"text": str(each.get("text", "")), "how": str(each.get("how", ""))}
        for each in (texts if isinstance(texts, list) else ())
        if isinstance(each, dict)
    ]
