"""Reads a language model's judgement: exactly one verdict per aspect, or none.

A verdict is a field of the answer's JSON object, or the statement of a line on an
aspect. A line that names an aspect and gives only a reason ("accuracy: list A has more
drama than list B") is none, and verdicts may follow it. Two different verdicts on an
aspect are none, unless one of them is marked as final.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pytest_recsys_mt.llm.reading.comments import is_refusal
from pytest_recsys_mt.safety.sanitize import one_line, without_controls
from pytest_recsys_mt.suites.arena.judging import (
    OVERALL,
    Appraisal,
    Aspect,
    Judgement,
    Winner,
)
from pytest_recsys_mt.suites.arena.verdict_lines import (
    CLAIMS,
    LIST,
    SAYS,
    TIE,
    WON,
    Statement,
    key,
    statements,
)

Read = TypeVar("Read")

_MOST = 100_000  # most characters of an answer to read
_VERDICT = re.compile(
    rf"(?:(?:{CLAIMS})?(?:{LIST})(?P<list>[AB])(?:{WON})?|(?P<tie>{TIE}))"
    rf"(?=['\s]*(?:{SAYS['ends'].pattern}))",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    rf"\b(?:(?P<list>[AB])(?:{WON})|(?:{CLAIMS})(?:{LIST})(?P<claimed>[AB])"
    rf"|(?P<tie>{SAYS['tie_inside'].pattern}))(?![a-z])",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?:(?:\s*/\s*|\s+out\s+of\s+)1(?:\.0+)?)?(?![\w%/]|[.,]\d)"
    r"(?=['\s]*(?:[.,;:!)(\u2013\u2014-]|because\b|since\b|$))",
)
_CONCLUSION = re.compile(
    r"['\"(]*(?:(?P<list>[AB])\s+wins|(?P<tie>(?:it\s+is\s+)?(?:a\s+)?tie))['\"),.!\s]*$",
    re.IGNORECASE,
)
"""The end of an answer that was told to conclude with 'A wins,' 'B wins,' or 'Tie'."""
_DENIES = re.compile(
    r"\b(?:not|no|nor|never|neither|cannot|hardly|if|unless|whether|or|but|rather|versus|vs)\b|n't\b",
    re.IGNORECASE,
)
_MARKS = "*_`\"'#> \t"
_APOSTROPHES = {0x2018: "'", 0x2019: "'"}


def read_judgement(text: str, aspects: Sequence[Aspect]) -> Judgement:
    """The judgement in an answer."""
    fields: dict[str, Winner]
    fields, reasons = _fields(text, aspects, _winner)
    verdicts: dict[str, Winner | None] = {
        aspect.name: fields.get(aspect.name) for aspect in aspects
    }
    refused = OVERALL not in fields and is_refusal(without_controls(text[:_MOST]))
    return Judgement(fields.get(OVERALL), verdicts, reasons, text, refused=refused)


def read_conclusion(text: str, aspects: Sequence[Aspect]) -> Judgement:
    """The judgement in an answer that was told to conclude with the overall verdict.

    Where no line states one, the last words of the answer do, if the last sentence
    holds one verdict, denies nothing, and is not on an aspect.
    """
    judgement = read_judgement(text, aspects)
    if judgement.overall is not None or judgement.refused:
        return judgement
    return replace(judgement, overall=_concluded(text, aspects))


def _concluded(text: str, aspects: Sequence[Aspect]) -> Winner | None:
    lines = _plain(without_controls(text[-_MOST:])).strip().splitlines()
    last = lines[-1] if lines else ""
    above = lines[-2].strip() if len(lines) > 1 else ""
    names = tuple(key(aspect.name) for aspect in aspects)
    is_on_aspect = key(last.partition(":")[0]).endswith(names)
    is_below_aspect = key(above).endswith(names)
    if is_on_aspect or is_below_aspect:
        return None
    sentence = re.split(r"(?<=[.!?])\s+(?=\w)", last.strip())[-1]
    found = _CONCLUSION.search(sentence)
    if found is None or _DENIES.search(sentence):
        return None
    verdicts = {
        each.upper() for each in re.findall(r"\b([AB])\s+wins", sentence, re.IGNORECASE)
    }
    if len(verdicts | ({"tie"} if found["tie"] else set())) != 1:
        return None
    return "tie" if found["tie"] else "A" if found["list"].upper() == "A" else "B"


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
    settled = SAYS["unsettled"].search(said) is None
    return winner if settled and all(other == winner for other in others) else None


def _named(match: re.Match[str]) -> Winner:
    said = match.groupdict()
    if said["tie"]:
        return "tie"
    return "A" if (said["list"] or said["claimed"]).upper() == "A" else "B"


def _score(value: Any) -> float | None:
    if isinstance(value, str):
        found = _NUMBER.match(_plain(value))
        value = float(found["number"]) if found else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Compared first: a whole number may be too large for float().
    return float(value) if 0 <= value <= 1 else None


def _fields(
    text: str,
    aspects: Sequence[Aspect],
    read: Callable[[Any], Read | None],
) -> tuple[dict[str, Read], dict[str, str]]:
    names = {
        key(name): name for name in (*(aspect.name for aspect in aspects), OVERALL)
    }
    text = without_controls(text[:_MOST])
    members, around = _json_object(text)
    stated = _by_name(statements(around, names))
    held: dict[str, list[Any]] = {}
    for name, value in members:
        if key(name) in names:
            held.setdefault(names[key(name)], []).append(value)
    fields, reasons = {}, {}
    for name in {*stated, *held}:
        values = [_parted(value) for value in held.get(name, ())]
        lines = [(read(each.value), each) for each in stated.get(name, ())]
        one = (
            _agreed([read(value) for value, _ in values], lines)
            if values
            else _decided(lines)
        )
        if one is not None:
            fields[name] = one
        said = [
            *(reason for _, reason in values),
            *(_parted(each.value)[1] for _, each in lines),
        ]
        if reason := one_line(" ".join(filter(None, said))):
            reasons[name] = reason
    return fields, reasons


def _by_name(found: Iterable[Statement]) -> dict[str, list[Statement]]:
    by_name: dict[str, list[Statement]] = {}
    for each in found:
        by_name.setdefault(each.name, []).append(each)
    return by_name


def _agreed(
    held: Sequence[Read | None],
    lines: Sequence[tuple[Read | None, Statement]],
) -> Read | None:
    """The one value of the fields of an object, which no line around it contradicts."""
    others = {value for value, _ in lines if value is not None}
    return held[0] if {*held} | others == {held[0]} else None


def _decided(lines: Sequence[tuple[Read | None, Statement]]) -> Read | None:
    """The last value that lines give, where all of them, or
    all that are final, give the same.
    """
    lines = [
        (value, each) for value, each in lines if value is not None or not each.explains
    ]
    final = [(value, each) for value, each in lines if each.final]
    if any(value is not None for value, _ in final):
        lines = final
    given = {value for value, _ in lines if value is not None}
    # A line that says something else at the end, such as "hard to say", takes the
    # verdict back.
    return lines[-1][0] if len(given) == 1 else None


def _parted(value: Any) -> tuple[Any, str]:
    if isinstance(value, Mapping):
        inside = value.get("winner", value.get("score"))
        return inside, value["reason"] if isinstance(value.get("reason"), str) else ""
    if isinstance(value, str):
        said = _plain(value)
        found = _VERDICT.match(said) or _NUMBER.match(said)
        return value, said[found.end() :].strip(
            " .,;:!-\u2013\u2014()'",
        ) if found else said
    return value, ""


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, including repeated ones."""


def _json_object(text: str) -> tuple[Iterable[tuple[str, Any]], str]:
    """The members of the object in an answer, and the text around it."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return (), text
    try:
        found = json.loads(text[start : end + 1], object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return (), text
    if not isinstance(found, _Pairs):
        return (), text
    return _members(found), f"{text[:start]}\n{text[end + 1 :]}"


def _members(pairs: _Pairs) -> Iterable[tuple[str, Any]]:
    for name, value in pairs:
        if not isinstance(value, _Pairs):
            yield name, value
            continue
        times = Counter(key for key, _ in value)
        # A repeated field has no value.
        yield name, {key: each for key, each in value if times[key] == 1}


def _plain(text: str) -> str:
    return re.sub(r"[*_`\"\u201c\u201d]+", "", text.translate(_APOSTROPHES)).strip(
        _MARKS,
    )
