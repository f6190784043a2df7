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
    """Such as ``6 of 220 tests could be judged: 212 left out of this quick look``;
    empty for a run without tests.

    A test of several verdicts is in the state of the most important one.
    """
    rows_by_test = grouped(document["results"], lambda row: row["nodeid"])
    states = Counter(map(state_of_test, rows_by_test.values()))
    left = document.get("left_out") or {"effort": "", "tests": 0}
    total = len(rows_by_test) + left["tests"]
    if not total:
        return ""
    reasons = []
    if left["tests"]:
        why_left = LEFT.get(left["effort"], "left out")
        reasons.append(f"{left['tests']} {why_left}")
    could_be_judged = len(rows_by_test)
    for state, word in UNJUDGED.items():
        could_be_judged -= states[state]
        if states[state]:
            reasons.append(f"{states[state]} {word}")
    noun = "test" if total == 1 else "tests"
    text = f"{could_be_judged} of {total} {noun} could be judged"
    if reasons:
        text += f": {', '.join(reasons)}"
    return text


LONGEST = 150
"""Characters of an unread answer that are shown in a line."""


def read_in_words(model: str, read: Readable) -> str:
    """How well a text model kept to the form that its prompt asks for."""
    named = read["answers"] - read["unreadable"]
    kinds = read["entries"]
    titles = sum(kinds.values()) - kinds["unparsed"]
    not_offered = kinds["history"] + kinds["catalogue"] + kinds["outside"]
    text = f"answers of {one_line(model)}: {named} of {read['answers']} name a title"
    faults = {
        "twice": kinds["duplicate"],
        "not offered": not_offered,
        "made up": kinds["unknown"],
    }
    found = [f"{number} {fault}" for fault, number in faults.items() if number]
    if found:
        text += f"; of {titles} titles {', '.join(found)}"
    ambiguous = read.get("ambiguous", 0)  # older records lack it
    if ambiguous:
        text += f"; {ambiguous} have several lists of equal claims"
    return text


def json_instead(read: Readable) -> list[str]:
    """The way to prompt a text model with unread answers for a
    form that needs no reading, if it has one.
    """
    unread = read["unreadable"]
    if not unread or not read.get("takes_json"):
        return []
    counts = f"{unread} of {read['answers']} answers unread"
    return [f"{counts}; with answer=offered nothing needs reading"]


def all_read_in_words(readings: Mapping[str, Readable]) -> list[str]:
    """`read_in_words`, `json_instead` and
    `unread_in_words` of each text model of a record.
    """
    texts = []
    for model, read in readings.items():
        texts.append(read_in_words(model, read))
        texts += json_instead(read)
        texts += unread_in_words(read.get("unread") or ())
    return texts


def unread_in_words(unread: Iterable[Mapping[str, Any]]) -> list[str]:
    """Some answers of which nothing could be read, each
    with the reason and the form to ask for.
    """
    texts = []
    for each in unread:
        answer = one_line(each["text"])[:LONGEST]
        how = one_line(each["how"])
        text = f"not read: {answer!r}"
        if how:
            text += f": {how}"
        texts.append(text)
    return texts


def unread_of(row: Row) -> list[dict[str, str]]:
    """The answers behind a row of which nothing could be read; records are untrusted,
    and older ones lack them.
    """
    said = detail_of(row, "unreadable")
    texts = said.get("texts") if isinstance(said, dict) else None
    if not isinstance(texts, list):
        return []
    answers = []
    for each in texts:
        if isinstance(each, dict):
            text = str(each.get("text", ""))
            how = str(each.get("how", ""))
            answers.append({"text": text, "how": how})
    return answers
