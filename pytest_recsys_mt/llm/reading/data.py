"""The entries of answers in JSON: whole, in a fence, after a sentence, or line by line."""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.llm.reading.fields import (
    TITLE_KEYS,
    field_of,
    is_of_others,
    measured,
    rank_of,
    score_of,
    with_maker,
    year_of,
)
from pytest_recsys_mt.llm.reading.line import MAX_PIECES, Piece, numbered_text
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.notation import DEPTH, clean, decoded
from pytest_recsys_mt.llm.reading.objects import (
    ARGUMENTS,
    are_numbers,
    fields_of,
    is_entry,
    is_left_out,
    is_no_answer,
    measures,
    titled,
)
from pytest_recsys_mt.llm.reading.running_lines import lines
from pytest_recsys_mt.llm.reading.wording import ORDINALS
from pytest_recsys_mt.safety.sanitize import without_controls

_PLACE = re.compile(r"\D{0,20}(\d{1,3})")
_OPENING = re.compile(r"[\[{]")
_FAR = 2_000  # characters before the first data of an answer; what begins later is none

_META = frozenset(
    ("usage", "metadata", "timings", "logprobs", "model", "object", "created"),
)
"""Keys next to an answer that say how it was made."""

_TEXTS = frozenset(("content", "text", "answer", "response", "output", "completion"))
"""Keys of a text that may hold the whole answer."""

_NO_ANSWER = "(an error or a schema)"
"""The text of a piece in the place of data that are no answer."""

_MARKS = ("True", "False", "yes", "no", "Yes", "No")

_ORDINALS = [words.split()[0] for words in ORDINALS]

_ASKS = re.compile(r"search|get|look|fetch|find|query|detail", re.IGNORECASE)
"""Begins the name of a tool that only asks for more."""


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of an answer, of its data as of its lines, in their order.

    Args:
        text: The text of the answer, or of a field of its data.
    """
    position = 0  # where to look for data
    read_to = 0  # where the text begins that was not read yet
    values = 0
    for _ in range(MAX_PIECES):
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        start = opening.start()
        found = decoded(text, start)
        if found is None:
            if not read_to and start > _FAR:
                break
            position = start + 1
            continue
        value = clean(found[0])
        position = found[1]
        group = (
            "objects" if isinstance(value, dict) and is_entry(value) else str(values)
        )
        entries = list(_entries(value, 0, "", group))
        values += 1
        if _is_list(value, entries):
            yield from _between(text[read_to:start])
            yield from entries
            read_to = position
        elif isinstance(value, dict):  # data without entries are no text either
            yield from _between(text[read_to:start])
            if is_no_answer(value):
                yield Piece(_NO_ANSWER, "line")
            read_to = position
    yield from _between(text[read_to:]) if read_to else lines(text)


def _is_list(value: object, entries: Sequence[Piece]) -> bool:
    """Whether data have entries; a single number in
    brackets may be a reference: ``[1]``.
    """
    if isinstance(value, list) and all(isinstance(element, int) for element in value):
        return len(value) > 1
    return len(entries) > 0


def _between(text: str) -> Iterator[Piece]:
    """The pieces of a text next to data, without commas alone."""
    for piece in lines(text.lstrip(",")):
        if piece.place == "tag" or piece.text.strip(" ,"):
            yield piece


def _entries(value: Any, depth: int, name: str, group: str) -> Iterator[Piece]:
    """The entries in data.

    Args:
        value: The data.
        depth: How many lists and objects stand around them.
        name: The text of the keys around them.
        group: The name that distinguishes this list from others of the answer.
    """
    if depth > DEPTH or (isinstance(value, dict) and is_no_answer(value)):
        return
    if isinstance(value, list):
        for at, element in enumerate(value):
            yield from _of_element(element, at, depth, name, group)
    elif isinstance(value, dict):
        yield from _of_mapping(value, depth, name, group)


def _of_element(
    element: Any,
    at: int,
    depth: int,
    name: str,
    group: str,
) -> Iterator[Piece]:
    """The entries in one element of a list, mostly one."""
    match element:
        case bool() | None | float():
            pass
        case str() | int():
            yield _entry(element, name, group)
        case dict() if is_entry(element):
            if not is_left_out(fields_of(element)):
                yield _entry(element, name, group)
        case list([int() as rank, str() as title]):
            yield replace(_entry(title, name, group), number=rank)
        case list([str() as title, int() | float() as score]):
            yield replace(_entry(title, name, group), score=measured(score))
        case dict():
            yield from _entries(element, depth + 1, name, f"{group}.{at}")
        case _:
            yield from _entries(element, depth + 1, name, group)


def _place(key: str) -> int | None:
    """The place that a key says: ``first``, ``1``, ``rank_1``."""
    folded = key.casefold()
    if folded in _ORDINALS:
        return _ORDINALS.index(folded) + 1
    number = _PLACE.fullmatch(key)
    return None if number is None else int(number[1])


# ---- the entries of an object ----


def _of_mapping(
    value: dict[Any, Any],
    depth: int,
    name: str,
    group: str,
) -> Iterator[Piece]:
    """The entries in an object: itself, its keys, or the contents of its values."""
    keys = fields_of(value)
    if is_entry(value):
        yield _entry(value, name, group)
        return
    rows = _rows_of_columns(keys)
    if rows is not None:
        yield from _entries(rows, depth + 1, name, group)
        return
    arguments = _arguments(keys)
    if arguments is not None:
        tool = str(keys.get("name") or keys.get("tool") or keys.get("function") or "")
        if not _ASKS.match(tool):
            yield from _entries(arguments, depth + 1, name, group)
        return
    keyed = _of_keys(value, name, group) if value else None
    if keyed is not None:
        yield from keyed
        return
    yield from _of_values(keys, depth, name, group)


def _rows_of_columns(keys: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of a table that is written column by column; None for any other object."""
    columns = [key for key, value in keys.items() if isinstance(value, list)]
    names = [column.removesuffix("s") for column in columns]
    kinds = {field_of(name) for name in names}
    lengths = {len(keys[column]) for column in columns}
    if "title" not in kinds or len(kinds) < 2 or len(lengths) != 1:
        return None
    rows = zip(*(keys[column] for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _arguments(keys: Mapping[str, Any]) -> dict[Any, Any] | list[Any] | None:
    """The arguments of a tool's call, also as a string of JSON; None if none."""
    present = [keys[key] for key in ARGUMENTS if key in keys]
    if not present or "output" in keys:
        return None
    arguments = present[0]
    if isinstance(arguments, str) and arguments.startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            arguments = clean(json.loads(arguments))
    return arguments if isinstance(arguments, dict | list) else None


def _of_keys(value: dict[Any, Any], name: str, group: str) -> list[Piece] | None:
    """The entries of an object whose keys are titles or
    places; None for any other object.
    """
    if are_numbers(value):
        return list(_scored(value, name, group))
    if len(value) > 1 and all(str(mark) in _MARKS for mark in value.values()):
        return [
            replace(_entry(key, name, group), other_fields=str(mark))
            for key, mark in value.items()
        ]
    places = [_place(str(key)) for key in value]
    if None not in places and all(_names_entry(entry) for entry in value.values()):
        return [
            replace(_entry(entry, name, group), number=place)
            for place, entry in zip(places, value.values(), strict=True)
        ]
    if all(isinstance(fields, dict) and measures(fields) for fields in value.values()):
        entries = []
        for key, fields in value.items():
            inner = fields_of(fields)
            entry = _entry(key, name, group)
            entries.append(replace(entry, number=rank_of(inner), score=score_of(inner)))
        return entries
    return None


def _names_entry(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and is_entry(value))


def _of_values(
    keys: Mapping[str, Any],
    depth: int,
    name: str,
    group: str,
) -> Iterator[Piece]:
    """The entries in the lists, objects and texts that an object holds."""
    title = next(
        (keys[key] for key in TITLE_KEYS if isinstance(keys.get(key), str)),
        "",
    )
    for key, value in keys.items():
        if key in _META:
            continue
        words = key.replace("_", " ")
        inner_name = " ".join(filter(None, (name, title, words)))
        inner_group = f"{group}.{key}"
        if isinstance(value, list | dict):
            yield from _entries(value, depth + 1, inner_name, inner_group)
        elif not isinstance(value, str):
            continue
        elif key in _TEXTS and "\n" in value:
            yield from pieces(value)
        elif role_of(words) in ("ranking", "final"):
            for piece in lines(value):
                yield replace(piece, name=piece.name or inner_name, group=inner_group)


def _scored(value: dict[Any, Any], name: str, group: str) -> Iterator[Piece]:
    """The entries of an object whose values are numbers:
    years, ranks, scores or candidates' numbers.
    """
    numbers = list(value.values())
    role = role_of(name)
    whole = all(isinstance(number, int) for number in numbers)
    if whole and all(1800 < number < 2100 for number in numbers):
        for key, year in value.items():
            yield replace(_entry(key, name, group), year=year)
        return
    places = list(range(1, len(numbers) + 1))
    counted = [str(key) for key in value] == [str(place) for place in places]
    if counted and whole and len(set(numbers)) > 1:
        # Ranks with candidates' numbers, or these with their ranks or scores: only the
        # name can say it.
        if role in ("ranking", "final"):
            for number in numbers:
                yield _entry(number, name, group)
            return
        if role != "scores":
            return
    may_be_ranks = len(numbers) > 1 and role != "scores" and sorted(numbers) == places
    as_ranks = may_be_ranks and (numbers == places or "rank" in name)
    for key, number in value.items():
        entry = _entry(key, name, group)
        if as_ranks:
            yield replace(entry, number=int(number), score=None)
        else:
            yield replace(entry, number=None, score=measured(number))


def _entry(value: Any, name: str, group: str) -> Piece:
    """The piece of an entry: of an object with its fields, or of a title."""
    keys = fields_of(value) if isinstance(value, dict) else {}
    title = titled(keys) if keys else value
    text = without_controls(html.unescape(str(title)))
    unnumbered, number = numbered_text(text)
    own_number = number if unnumbered else None
    return Piece(
        unnumbered or text,
        "data",
        whole=text if unnumbered else with_maker(text, keys),
        year=year_of(keys),
        number=rank_of(keys) or own_number,
        score=score_of(keys),
        name=name,
        group=group,
        other_fields=" | ".join(
            str(field) for key, field in keys.items() if _may_judge(key, field)
        ),
    )


def _may_judge(key: str, field: object) -> bool:
    """Whether a field may say of an entry how good it is."""
    if isinstance(field, str | bool):
        return True
    return isinstance(field, int) and 0 < field <= MAX_PIECES and not is_of_others(key)
