"""The entries of answers in JSON: whole, in a fence, after a sentence, or line by line."""

from __future__ import annotations

import ast
import html
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.llm.reading.layout import (
    MAX_PIECES,
    RANK_KEYS,
    SCORE_KEYS,
    TITLE_KEYS,
    YEAR_KEYS,
    Piece,
    lines,
    measured,
    numbered_text,
)
from pytest_recsys_mt.llm.reading.names import role_of

_ARGUMENTS = (
    "arguments",
    "parameters",
    "args",
    "input",
    "function",
    "tool_calls",
    "tool_call",
    "function_call",
)
"""Keys of a tool's call, below which its answer stands."""

_ENTRIES = frozenset(
    [
        "entries", "items", "list", "movies", "films", "books", "songs", "games", "products", "articles",
        "results", "recommendations", "ranking", "ranked", "picks", "titles", "selection", "suggestions", "top",
        "candidates", "options",
    ]
)  # fmt: skip
"""Keys of a list of entries, beside which a title is the list's."""

_ID = re.compile(r"(?:\w+?_?)?(?:id|idx|index|number|asin)")
_DEPTH = 6
_PLACE = re.compile(r"\D{0,20}(\d{1,3})")
_FAR = 2_000  # characters before the first data of an answer; what begins later is none

_QUOTED = 20_000  # most characters of data in the notation of Python


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of an answer, of its data as of its lines, in their order."""
    found, position, before, values = False, 0, 0, 0
    for _ in range(MAX_PIECES):
        starts = [s for s in (text.find("[", position), text.find("{", position)) if s >= 0]
        if not starts:
            break
        start = min(starts)
        decoded = _decoded(text, start)
        if decoded is None:
            if not found and start - before > _FAR:
                break
            position = start + 1
            continue
        value, end = decoded
        group = "objects" if isinstance(value, dict) and _is_entry(value) else str(values)
        entries = list(_entries(value, 0, "", group))
        values += 1
        if not _is_answer(value, entries):
            position = end
            continue
        yield from _between(text[before:start])
        yield from entries
        found, position, before = True, end, end
    yield from _between(text[before:]) if found else lines(text)


def _between(text: str) -> Iterator[Piece]:
    return (
        piece for piece in lines(text.lstrip(",")) if piece.place == "tag" or piece.text.strip(" ,")
    )


def _decoded(text: str, start: int) -> tuple[Any, int] | None:
    """The value that begins there and its end; also in the notation of Python if the answer is nothing else."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    end = max(text.rfind("]"), text.rfind("}")) + 1
    alone = not any(char in "[{" for char in text[:start]) and end - start <= _QUOTED
    if not alone or end <= start or any(char.isalnum() for char in text[end:]):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            value = ast.literal_eval(text[start:end])
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return (value, end) if isinstance(value, list | dict) else None


def _is_answer(value: Any, entries: list[Piece]) -> bool:
    """Whether decoded data are a list of recommendations, not a reference such as ``[1]``."""
    if isinstance(value, dict):
        return bool(entries)
    numbers = all(isinstance(element, int) for element in value)
    return len(value) > 1 if numbers else bool(entries)


def _keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    """The values by their keys as people write them: ``itemId`` as ``item_id``."""
    plain = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).strip().replace(" ", "_"): each
        for key, each in value.items()
    }
    return {key.casefold(): each for key, each in plain.items()}


_CHOSEN = ("recommend", "recommended", "include", "included", "select", "selected", "relevant")
"""Keys that say whether an entry belongs to the list."""


def _titled(keys: Mapping[str, Any]) -> object:
    """What an object names, by its title or else by its number; None if it names nothing."""
    for key in TITLE_KEYS:
        if isinstance(keys.get(key), str | int) and not isinstance(keys[key], bool):
            return keys[key]
    named = [
        each for key, each in keys.items() if _ID.fullmatch(key) and isinstance(each, str | int)
    ]
    return named[0] if named and not isinstance(named[0], bool) else None


def _is_entry(value: Mapping[Any, Any]) -> bool:
    keys = _keys(value)
    nested = [
        key for key, each in keys.items() if isinstance(each, list | dict) or _is_quoted(key, each)
    ]
    return _titled(keys) is not None and not any(
        key in _ENTRIES or key in _ARGUMENTS or role_of(key) for key in nested
    )


def _is_quoted(key: str, value: object) -> bool:
    """Whether a value is data within a string, as the arguments of a tool's call are."""
    return key in _ARGUMENTS and isinstance(value, str) and value[:1] in ("{", "[")


def _entries(value: Any, depth: int, name: str, group: str) -> Iterator[Piece]:
    """The entries in decoded JSON, in document order."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for at, element in enumerate(value):
            if isinstance(element, bool) or element is None:
                continue
            if isinstance(element, str | int | float):
                yield _datum(element, name, group)
            elif isinstance(element, dict) and _is_entry(element):
                if not any(_keys(element).get(key) is False for key in _CHOSEN):
                    yield _of_object(element, name, group)
            elif _is_pair(element):
                yield replace(_datum(element[0], name, group), score=measured(element[1]))
            else:
                part = f"{group}.{at}" if isinstance(element, dict) else group
                yield from _entries(element, depth + 1, name, part)
    elif isinstance(value, dict):
        yield from _of_mapping(value, depth, name, group)


def _is_pair(element: object) -> bool:
    if not isinstance(element, list) or len(element) != 2 or not isinstance(element[0], str):
        return False
    return isinstance(element[1], int | float)


_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
_ASKS = re.compile(r"search|get|look|fetch|find|query|detail", re.IGNORECASE)
"""Begins the name of a tool that only asks for more."""


def _place(key: str) -> int | None:
    """The rank that a key says: ``1``, ``first``; None for any other key."""
    if key.casefold() in _ORDINALS:
        return _ORDINALS.index(key.casefold()) + 1
    number = _PLACE.fullmatch(key)
    return None if number is None else int(number[1])


def _of_mapping(value: dict[Any, Any], depth: int, name: str, group: str) -> Iterator[Piece]:
    keys = _keys(value)
    if _is_entry(value):
        yield _of_object(value, name, group)
        return
    called = next((keys[key] for key in _ARGUMENTS if key in keys), None)
    if isinstance(called, str) and _is_quoted(_ARGUMENTS[0], called):
        try:
            called = json.loads(called)
        except (ValueError, RecursionError):
            called = None
    if isinstance(called, dict | list):
        if _ASKS.match(str(keys.get("name") or keys.get("tool") or keys.get("function") or "")):
            return
        yield from _entries(called, depth + 1, name, group)
        return
    if value and all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in value.values()
    ):
        yield from _scored(value, name, group)
        return
    numbers = [_place(str(key)) for key in value]
    if (
        value
        and None not in numbers
        and all(
            isinstance(each, str) or (isinstance(each, dict) and _is_entry(each))
            for each in value.values()
        )
    ):
        for number, each in zip(numbers, value.values(), strict=True):
            entry = (
                _of_object(each, name, group)
                if isinstance(each, dict)
                else _datum(each, name, group)
            )
            yield replace(entry, number=number)
        return
    if value and all(isinstance(each, dict) and _measures(each) for each in value.values()):
        for key, each in value.items():
            inner = _keys(each)
            yield replace(_datum(key, name, group), number=_rank(inner), score=_score(inner))
        return
    title = next((keys[key] for key in TITLE_KEYS if isinstance(keys.get(key), str)), "")
    for key, each in keys.items():
        inner_name = " ".join(
            filter(None, (name, title if isinstance(title, str) else "", key.replace("_", " ")))
        )
        if isinstance(each, list | dict):
            yield from _entries(each, depth + 1, inner_name, f"{group}.{key}")
        elif isinstance(each, str) and role_of(key.replace("_", " ")) in ("ranking", "final"):
            for piece in lines(each):
                yield replace(piece, name=piece.name or inner_name, group=f"{group}.{key}")


def _measures(value: dict[Any, Any]) -> bool:
    keys = _keys(value)
    return _titled(keys) is None and (_rank(keys) is not None or _score(keys) is not None)


def _scored(value: dict[Any, Any], name: str, group: str) -> Iterator[Piece]:
    """Items with a number each: their ranks if these are 1 to n in order or the name says so, else their scores."""
    numbers = list(value.values())
    if (
        list(map(str, value)) == [str(at) for at in range(1, len(value) + 1)]
        and len({*numbers}) > 1
    ):
        # Ranks with candidates' numbers, or these with their ranks or scores: only the name can say it.
        if role_of(name) in ("ranking", "final") and all(
            isinstance(number, int) for number in numbers
        ):
            yield from (_datum(number, name, group) for number in numbers)
            return
        if role_of(name) != "scores" and all(isinstance(number, int) for number in numbers):
            return
    ranks = len(numbers) > 1 and sorted(numbers) == list(range(1, len(numbers) + 1))
    as_ranks = (
        ranks and role_of(name) != "scores" and (numbers == sorted(numbers) or "rank" in name)
    )
    for key, number in value.items():
        entry = _datum(key, name, group)
        yield (
            replace(entry, number=int(number))
            if as_ranks
            else replace(entry, number=None, score=float(number))
        )


def _of_object(value: Mapping[Any, Any], name: str, group: str) -> Piece:
    keys = _keys(value)
    named = _titled(keys)
    entry = _datum(named if isinstance(named, str | int) else "", name, group, _year(keys))
    beside = " | ".join(str(each) for each in keys.values() if isinstance(each, str | bool))
    return replace(entry, number=_rank(keys) or entry.number, score=_score(keys), beside=beside)


def _datum(value: str | float, name: str, group: str, year: int | None = None) -> Piece:
    """An element of JSON; models copy the number of a candidate, or count, also within a string."""
    text = html.unescape(str(value))
    title, number = numbered_text(text)
    if title:
        return Piece(title, "data", text, year, number, name=name, group=group)
    return Piece(text, "data", year=year, name=name, group=group)


def _year(keys: Mapping[str, Any]) -> int | None:
    for key in YEAR_KEYS:
        if key in keys and re.fullmatch(r"(?:18|19|20)\d\d", str(keys[key]).strip()):
            return int(str(keys[key]))
    return None


def _rank(keys: Mapping[str, Any]) -> int | None:
    found = next((str(keys[key]).strip() for key in RANK_KEYS if key in keys), "")
    return int(found) if re.fullmatch(r"\d{1,4}", found) else None


def _score(keys: Mapping[str, Any]) -> float | None:
    return next((measured(keys[key]) for key in SCORE_KEYS if key in keys), None)
