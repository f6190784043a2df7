"""Reads a language model's judgement: exactly one verdict per aspect, or none.

A verdict is a field of the answer's JSON object or follows an aspect's name and a colon at the start of a line, so
"A wins" in the middle of a sentence is none.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pytest_recsys_mt.arena.judging import OVERALL, Appraisal, Aspect, Judgement, Winner
from pytest_recsys_mt.llm.reading.comments import is_refusal
from pytest_recsys_mt.safety.sanitize import one_line, without_controls

Read = TypeVar("Read")

_MOST = 100_000  # most characters of an answer to read
_LIST = r"(?:the\s+)?(?:recommender\s+|recommendation\s+)?(?:system\s+|list\s+|option\s+)?"
_WON = r"(?:\s+(?:wins?|won|is\s+better|is\s+the\s+(?:clear\s+)?winner))?"
_VERDICT = re.compile(
    rf"(?:{_LIST}(?P<list>[AB]){_WON}|(?:it\s+is\s+|it's\s+)?(?:an?\s+)?(?P<tie>tied?|draw|equal))"
    r"(?=\s*(?:[.,;:!)(\u2013\u2014-]|because\b|since\b|$))",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?:(?P<list>[AB])\s+(?:wins|won|is\s+better|is\s+the\s+(?:clear\s+)?winner)"
    r"|(?P<tie>(?:it\s+is|it's|is)\s+a\s+(?:tie|draw)))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?:\s*/\s*1(?:\.0+)?)?(?![\w%/]|[.,]\d)")
_MARKS = "*_`\"'#> \t"


def read_judgement(text: str, aspects: Sequence[Aspect]) -> Judgement:
    """The judgement in an answer."""
    fields: dict[str, Winner]
    fields, reasons = _fields(text, aspects, _winner)
    verdicts: dict[str, Winner | None] = {
        aspect.name: fields.get(aspect.name) for aspect in aspects
    }
    refused = OVERALL not in fields and is_refusal(without_controls(text[:_MOST]))
    return Judgement(fields.get(OVERALL), verdicts, reasons, text, refused=refused)


def read_appraisal(text: str, aspects: Sequence[Aspect]) -> Appraisal:
    """The scores in an answer."""
    fields, _ = _fields(text, aspects, _score)
    scores = {aspect.name: fields.get(aspect.name) for aspect in aspects}
    return Appraisal(fields.get(OVERALL), scores, text)


def _winner(value: Any) -> Winner | None:
    if not isinstance(value, str):
        return None
    said = _plain(value)
    found = _VERDICT.match(said)
    if found is None:
        return None
    winner = _named(found)
    others = [_named(phrase) for phrase in _PHRASE.finditer(said)]
    return winner if all(other == winner for other in others) else None


def _named(match: re.Match[str]) -> Winner:
    if match["tie"]:
        return "tie"
    return "A" if match["list"].upper() == "A" else "B"


def _score(value: Any) -> float | None:
    if isinstance(value, str):
        found = _NUMBER.match(_plain(value))
        value = float(found["number"]) if found else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Compared first: a whole number may be too large for float().
    return float(value) if 0 <= value <= 1 else None


def _fields(
    text: str, aspects: Sequence[Aspect], read: Callable[[Any], Read | None]
) -> tuple[dict[str, Read], dict[str, str]]:
    names = {_key(name): name for name in (*(aspect.name for aspect in aspects), OVERALL)}
    text = without_controls(text[:_MOST])
    said: dict[str, list[tuple[Any, str]]] = {}
    whole = _json_object(text)
    for name, value in _members(whole) if whole is not None else _lines(text, names):
        if _key(name) in names:
            said.setdefault(names[_key(name)], []).append(_parted(value))
    fields, reasons = {}, {}
    for name, values in said.items():
        found = {read(value) for value, _ in values}
        one = found.pop()
        if not found and one is not None:
            fields[name] = one
        reason = one_line(" ".join(filter(None, (reason for _, reason in values))))
        if reason:
            reasons[name] = reason
    return fields, reasons


def _parted(value: Any) -> tuple[Any, str]:
    if isinstance(value, Mapping):
        inside = value.get("winner", value.get("score"))
        return inside, value["reason"] if isinstance(value.get("reason"), str) else ""
    if isinstance(value, str):
        said = _plain(value)
        found = _VERDICT.match(said) or _NUMBER.match(said)
        return value, said[found.end() :].strip(" .,;:!-\u2013\u2014()") if found else ""
    return value, ""


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, including repeated ones."""


def _json_object(text: str) -> _Pairs | None:
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        found = json.loads(text[start : end + 1], object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, _Pairs) else None


def _members(pairs: _Pairs) -> Iterable[tuple[str, Any]]:
    for name, value in pairs:
        if not isinstance(value, _Pairs):
            yield name, value
            continue
        times = Counter(key for key, _ in value)
        # A repeated field has no value.
        yield name, {key: each for key, each in value if times[key] == 1}


def _lines(text: str, names: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        bare = re.sub(r"^[\s*_`\"'#>+\u2022-]*(?:\d{1,2}[.)]\s*)?", "", line)
        name, colon, value = bare.partition(":")
        if not colon:
            name, colon, value = bare.partition(" - ")
        if colon and _key(name) in names:
            yield name, value


def _key(name: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", name).split()).casefold()


def _plain(text: str) -> str:
    return re.sub(r"[*_`\"\u201c\u201d]+", "", text).strip(_MARKS)
