"""How well text models kept to the form in which they were asked to answer, in words."""

from __future__ import annotations

from pytest_recsys_mt.gate.document import Readable
from pytest_recsys_mt.sanitize import one_line


def read_in_words(model: str, read: Readable) -> str:
    """How well a text model kept to the form in which it was asked to answer."""
    named = read["answers"] - read["unreadable"]
    kinds = read["entries"]
    entries = sum(kinds.values()) - kinds["unparsed"]
    strays = kinds["history"] + kinds["catalogue"] + kinds["outside"]
    text = f"answers of {one_line(model)}: {named} of {read['answers']} name a title"
    faults = [(kinds["duplicate"], "twice"), (strays, "not offered"), (kinds["unknown"], "made up")]
    found = ", ".join(f"{number} {fault}" for number, fault in faults if number)
    return f"{text}; of {entries} titles {found}" if found else text
