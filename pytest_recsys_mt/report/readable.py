"""How well text models kept to the form in which they were asked to answer, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_recsys_mt.gate.document import Readable, Row, detail_of
from pytest_recsys_mt.sanitize import one_line

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
