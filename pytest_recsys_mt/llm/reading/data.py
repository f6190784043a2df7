"""The entries of answers in JSON: whole, in a fence, after a sentence, or line by line."""

import ast
import html
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.llm.reading.fields import (
    TITLE_KEYS,
    field_name,
    field_of,
    is_of_others,
    measured,
    rank_of,
    score_of,
    with_maker,
    year_of,
)
from pytest_recsys_mt.llm.reading.layout import MAX_PIECES, lines
from pytest_recsys_mt.llm.reading.line import Piece, numbered_text
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.wording import ORDINALS, word_set
from pytest_recsys_mt.safety.sanitize import without_controls

_ARGUMENTS = (
    "arguments", "parameters", "args", "input", "function", "tool_calls", "tool_call", "function_call",
)  # fmt: skip
"""Keys of a tool's call, below which its answer stands."""

_ENTRIES = word_set(
    "entries items list movies films books songs games products articles results recommendations "
    "ranking ranked picks titles selection suggestions top candidates options"
)
"""Keys of a list of entries, beside which a title is the list's."""

_ID = re.compile(r"(?:\w{1,20}_|[a-z]{1,9})?(?:id|idx|index|number|asin)")
_DEPTH = 6
_PLACE = re.compile(r"\D{0,20}(\d{1,3})")
_OPENING = re.compile(r"[\[{]")
_FAR = 2_000  # characters before the first data of an answer; what begins later is none

_QUOTED = 20_000  # most characters of data in the notation of Python


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of an answer, of its data as of its lines, in their order."""
    position, before, values = 0, 0, 0
    for _ in range(MAX_PIECES):
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        start = opening.start()
        decoded = _decoded(text, start)
        if decoded is None:
            if not before and start > _FAR:
                break
            position = start + 1
            continue
        value, end = _clean(decoded[0]), decoded[1]
        group = "objects" if isinstance(value, dict) and _is_entry(value) else str(values)
        entries = list(_entries(value, 0, "", group))
        values += 1
        numbers = isinstance(value, list) and all(isinstance(each, int) for each in value)
        if not (len(value) > 1 if numbers else entries):
            if isinstance(value, dict):  # data without entries are no text either
                yield from _between(text[before:start])
                if _is_no_answer(value):
                    yield Piece(_NO_ANSWER, "line")
                before = end
            position = end  # a list may be a reference, such as ``[1]``
            continue
        yield from _between(text[before:start])
        yield from entries
        position = before = end
    yield from _between(text[before:]) if before else lines(text)


def _between(text: str) -> Iterator[Piece]:
    return (
        piece for piece in lines(text.lstrip(",")) if piece.place == "tag" or piece.text.strip(" ,")
    )


def _with_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that it has several times holds all its values."""
    found: dict[str, Any] = {}
    repeated: set[str] = set()
    for key, value in pairs:
        if key in repeated:
            found[key].append(value)
        elif key in found:
            repeated.add(key)
            found[key] = [found[key], value]
        else:
            found[key] = value
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_with_repeated)


def _decoded(text: str, start: int) -> tuple[Any, int] | None:
    with suppress(ValueError, RecursionError):
        return _DECODER.raw_decode(text, start)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    alone = not any(char in "[{" for char in text[:start]) and end - start <= _QUOTED
    if not alone or end <= start or any(char.isalnum() for char in text[end:]):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            value = ast.literal_eval(text[start:end])
        str(
            value
        )  # a ValueError where a number in hexadecimal has more decimal digits than Python writes
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return (value, end) if isinstance(value, list | dict) else None


def _clean(value: Any, depth: int = 0) -> Any:
    """Data without the control characters and lone surrogates that their escapes wrote; below `_DEPTH` nothing is read."""
    if isinstance(value, str):
        return without_controls(value)
    if depth > _DEPTH + 2:  # an entry and its fields may stand below the last list
        return value
    if isinstance(value, list):
        return [_clean(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(each, depth + 1) for key, each in value.items()}
    return value


def _keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {field_name(key): each for key, each in value.items()}


_JUDGED = re.compile(r"\s*(?:(?:ir|not )?relevant|yes|no|keep|drop)\s*", re.IGNORECASE)
"""A label that judges an entry, and names none."""
_CHOSEN = word_set("recommend recommended include included select selected relevant")
"""Keys that say whether an entry belongs to the list."""


def _titled(keys: Mapping[str, Any]) -> object:
    for key in TITLE_KEYS:
        value = keys.get(key)
        if isinstance(value, str | int) and not (
            isinstance(value, bool) or _JUDGED.fullmatch(str(value))
        ):
            return value
    named = [
        each for key, each in keys.items() if _ID.fullmatch(key) and isinstance(each, str | int)
    ]
    return named[0] if named and not isinstance(named[0], bool) else None


def _is_entry(value: Mapping[Any, Any]) -> bool:
    keys = _keys(value)
    nested = [
        key for key, each in keys.items() if isinstance(each, list | dict) or _is_quoted(key, each)
    ]
    if _numbers_titles(keys):
        return False
    title = _titled(keys)
    if title is None or (isinstance(title, str) and title.count("\n") > 1):
        return False
    return not any(
        key in _ENTRIES or key in _ARGUMENTS or key in _WRAPPERS or role_of(key) for key in nested
    )


def _numbers_titles(keys: Mapping[str, Any]) -> bool:
    """Whether these are titles with their ranks or scores, and not the fields of one entry."""
    strangers = [key for key in keys if not field_of(key) and not _ID.fullmatch(key)]
    numbers = all(type(each) in (int, float) for each in keys.values())
    return numbers and 2 * len(strangers) > len(keys)


def _is_quoted(key: str, value: object) -> bool:
    return key in _ARGUMENTS and isinstance(value, str) and value[:1] in ("{", "[")


def _entries(value: Any, depth: int, name: str, group: str) -> Iterator[Piece]:
    if depth > _DEPTH or (isinstance(value, dict) and _is_no_answer(value)):
        return
    if isinstance(value, list):
        for at, element in enumerate(value):
            match element:
                case bool() | None | float():
                    pass
                case str() | int():
                    yield _entry(element, name, group)
                case dict() if _is_entry(element):
                    if not _is_left_out(_keys(element)):
                        yield _entry(element, name, group)
                case list([int() as rank, str() as title]):
                    yield replace(_entry(title, name, group), number=rank)
                case list([str() as title, int() | float() as score]):
                    yield replace(_entry(title, name, group), score=measured(score))
                case _:
                    part = f"{group}.{at}" if isinstance(element, dict) else group
                    yield from _entries(element, depth + 1, name, part)
    elif isinstance(value, dict):
        yield from _of_mapping(value, depth, name, group)


_FAILED = frozenset(("error", "errors", "detail", "exception", "traceback", "refusal"))
_SCHEMA = frozenset(("properties", "$defs", "$schema", "enum"))
_META = frozenset(("usage", "metadata", "timings", "logprobs", "model", "object", "created"))
"""Keys beside an answer that say how it was made."""

_WRAPPERS = frozenset(("choices", "message", "messages", "content", "data", "response", "delta"))
"""Keys of a server's reply around the answer of its model."""

_TEXTS = frozenset(("content", "text", "answer", "response", "output", "completion"))
"""Keys of a text that may hold the whole answer."""


_NO_ANSWER = "(an error or a schema)"


def _is_no_answer(value: Mapping[Any, Any]) -> bool:
    """Whether data are an error of a server, or the schema that an answer was to have."""
    keys = _keys(value)
    if "type" in keys and _SCHEMA & keys.keys():
        return True
    failed = any(keys.get(key) for key in _FAILED)  # "error": null says that there is none
    lists = any(each and key not in _FAILED for key, each in keys.items() if isinstance(each, list))
    return failed and not lists and not _is_entry(value)


_MARKS = ("True", "False", "yes", "no", "Yes", "No")


def _is_left_out(keys: Mapping[str, Any]) -> bool:
    """Whether an entry says that it is not chosen, or has no rank where there are ranks."""
    ranks = [each for key, each in keys.items() if field_of(key) == "rank"]
    return any(keys.get(key) is False for key in _CHOSEN) or (bool(ranks) and ranks[0] is None)


_ORDINALS = [words.split()[0] for words in ORDINALS]
_ASKS = re.compile(r"search|get|look|fetch|find|query|detail", re.IGNORECASE)
"""Begins the name of a tool that only asks for more."""


def _place(key: str) -> int | None:
    if key.casefold() in _ORDINALS:
        return _ORDINALS.index(key.casefold()) + 1
    number = _PLACE.fullmatch(key)
    return None if number is None else int(number[1])


def _of_mapping(value: dict[Any, Any], depth: int, name: str, group: str) -> Iterator[Piece]:
    keys = _keys(value)
    if _is_entry(value):
        yield _entry(value, name, group)
        return
    lists = [key for key, each in keys.items() if isinstance(each, list)]
    held = {field_of(key.removesuffix("s")) for key in lists}
    if "title" in held and len(held) > 1 and len({len(keys[key]) for key in lists}) == 1:
        columns = [key.removesuffix("s") for key in lists]
        rows = zip(*(keys[key] for key in lists), strict=True)
        yield from _entries(
            [dict(zip(columns, row, strict=True)) for row in rows], depth + 1, name, group
        )
        return
    called = next((keys[key] for key in _ARGUMENTS if key in keys and "output" not in keys), None)
    if isinstance(called, str) and _is_quoted(_ARGUMENTS[0], called):
        with suppress(ValueError, RecursionError):
            called = _clean(json.loads(called))
    if isinstance(called, dict | list):
        if _ASKS.match(str(keys.get("name") or keys.get("tool") or keys.get("function") or "")):
            return
        yield from _entries(called, depth + 1, name, group)
        return
    if value and all(type(each) in (int, float) for each in value.values()):
        yield from _scored(value, name, group)
        return
    if len(value) > 1 and all(each in _MARKS for each in map(str, value.values())):
        for key, each in value.items():
            yield replace(_entry(key, name, group), beside=str(each))
        return
    numbers = [_place(str(key)) for key in value]
    named = all(
        isinstance(each, str) or (isinstance(each, dict) and _is_entry(each))
        for each in value.values()
    )
    if value and named and None not in numbers:
        for number, each in zip(numbers, value.values(), strict=True):
            yield replace(_entry(each, name, group), number=number)
        return
    if value and all(isinstance(each, dict) and _measures(each) for each in value.values()):
        for key, each in value.items():
            inner = _keys(each)
            yield replace(_entry(key, name, group), number=rank_of(inner), score=score_of(inner))
        return
    title = next((keys[key] for key in TITLE_KEYS if isinstance(keys.get(key), str)), "")
    for key, each in keys.items():
        if key in _META:
            continue
        if isinstance(each, str) and key in _TEXTS and "\n" in each:
            yield from pieces(each)
            continue
        inner_name = " ".join(filter(None, (name, title, key.replace("_", " "))))
        if isinstance(each, list | dict):
            yield from _entries(each, depth + 1, inner_name, f"{group}.{key}")
        elif isinstance(each, str) and role_of(key.replace("_", " ")) in ("ranking", "final"):
            for piece in lines(each):
                yield replace(piece, name=piece.name or inner_name, group=f"{group}.{key}")


def _measures(value: dict[Any, Any]) -> bool:
    keys = _keys(value)
    if _numbers_titles(keys):
        return False
    return _titled(keys) is None and (rank_of(keys) is not None or score_of(keys) is not None)


def _scored(value: dict[Any, Any], name: str, group: str) -> Iterator[Piece]:
    numbers, role = list(value.values()), role_of(name)
    if all(isinstance(number, int) and 1800 < number < 2100 for number in numbers):
        yield from (replace(_entry(key, name, group), year=year) for key, year in value.items())
        return
    counted = list(map(str, value)) == [str(at) for at in range(1, len(value) + 1)]
    whole = all(isinstance(number, int) for number in numbers)
    if counted and whole and len({*numbers}) > 1:
        # Ranks with candidates' numbers, or these with their ranks or scores: only the name can say it.
        if role in ("ranking", "final"):
            yield from (_entry(number, name, group) for number in numbers)
            return
        if role != "scores":
            return
    ranks = len(numbers) > 1 and sorted(numbers) == list(range(1, len(numbers) + 1))
    as_ranks = ranks and role != "scores" and (numbers == sorted(numbers) or "rank" in name)
    for key, number in value.items():
        yield replace(
            _entry(key, name, group),
            number=int(number) if as_ranks else None,
            score=None if as_ranks else measured(number),
        )


def _entry(value: Any, name: str, group: str) -> Piece:
    keys = _keys(value) if isinstance(value, dict) else {}
    text = without_controls(html.unescape(str(_titled(keys) if keys else value)))
    title, number = numbered_text(text)
    return Piece(
        title or text,
        "data",
        whole=text if title else with_maker(text, keys),
        year=year_of(keys),
        number=rank_of(keys) or (number if title else None),
        score=score_of(keys),
        name=name,
        group=group,
        beside=" | ".join(
            str(each)
            for key, each in keys.items()
            if isinstance(each, str | bool)
            or (isinstance(each, int) and 0 < each <= MAX_PIECES and not is_of_others(key))
        ),
    )
