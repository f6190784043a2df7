"""Finds the entries of a text answer, without any knowledge of titles.

`pieces` cuts an answer into pieces, each with its place: a list, running text, a comment below a
list entry. The parser decides what a piece names.
"""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_recsys_mt.llm.reading.spelling import once
from pytest_recsys_mt.llm.reading.thinking import without_thinking

MAX_CHARACTERS = 100_000
"""Most characters of an answer to read (without its reasoning); the rest is ignored."""

MAX_PIECES = 1_000
"""Most pieces of an answer to read; no list of recommendations is that long."""

Place = Literal["numbered", "bulleted", "data", "line", "note"]
"""The place of a piece.

* ``numbered``, ``bulleted``: an entry of a list of that kind
* ``data``: an element of JSON, a cell of a table, an element of an HTML list
* ``line``: a separate line
* ``note``: below a numbered entry, where comments stand
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer that may name one item, or several in one line.

    Attributes:
        text: The text without its list marker.
        place: Its place.
        whole: With its list marker, for titles that begin like one (``300: Rise of an Empire``).
        year: Year of release, if the data contain it.
    """

    text: str
    place: Place
    whole: str = ""
    year: int | None = None


_STOP = re.compile(
    r"<\|(?:im_end|im_start|endoftext|end_of_text|eot_id|eot|end|return|user|assistant"
    r"|START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution)\|>|</s>|"
    r"<end_of_turn>|\[/?INST\]|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
_BREAK = re.compile(
    r"<(?:br|hr)\s?/?>|</?(?:p|div|ul|ol|tr|table|h[1-6])\b[^<>\n]{0,200}>", re.IGNORECASE
)
_ELEMENT = re.compile(r"<li\b[^<>\n]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,20}(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)

_FENCE = re.compile(r"\s*(?:```|~~~)\s?[\w+-]{0,20}\s*$")
_RULE = re.compile(r"\s*[-=_*~─—]{3,}\s*$")
_TABLE_RULE = re.compile(r"[\s|:+-]+$")

_NUMBER = re.compile(
    r"(?P<bold>\*\*|__)?[#(\[（【]{0,2}(?:(?:no|nr|num|top)\.?\s?|№\s?)?#?(?P<n>\d{1,3})"
    r"(?:st|nd|rd|th|º|ª)?(?P<mark>\s?[.)\]）】:、．。]{1,2}|\s[-–—]|\s?[-–—](?=\s)|\t)"
    r"(?P<end>\*\*|__)?(?P<space>\s*)",
    re.IGNORECASE,
)
_KEYCAP = re.compile(r"(?:([0-9])\ufe0f?\u20e3|([\u2460-\u2473\u2776-\u277f\u24f5-\u24fe])|🔟)\s*")
_BARE_NUMBER = re.compile(
    r"#\d{1,3}\s|\d{1,3},(?=[^\d\s])|\d{1,3}\s?/\s|(?:I{1,3}|IV|VI{0,3}|IX|X)[.)]\s"
)
"""``#1 Heat``, ``1/ Heat``, ``I. Heat``, and the first column of comma-separated values."""

_BULLET = re.compile(
    r"(?:[-*+–—](?=\s)|[•·‣⁃∙▪▫●○◦■□◆◇★☆➤►▶→⇒✓✔✅☑➢❖・※🎬🎥🎞📽🍿⭐🌟👉🔹🔸]\ufe0f?)\s*(?:\[[ xX]?\]\s+)?"
)
_INLINE_NUMBER = re.compile(r"(?:^|(?<=[\s,;)]))[(#]{0,2}(\d{1,3})[.):](?=\s|\*\*|[\"“'‘])")

_TITLE_KEYS = (
    "title", "movie", "movie_title", "movietitle", "movie_name", "name", "film", "film_title",
    "item", "item_title", "item_name", "recommendation", "label", "text", "titel", "titulo", "título",
    "titre", "titolo", "pelicula", "película", "nombre", "电影", "片名", "标题", "名称", "タイトル", "映画", "作品",
)  # fmt: skip
_YEAR_KEYS = ("year", "release_year", "releaseyear", "released", "jahr", "año", "年份", "公開年")


def pieces(text: str) -> list[Piece]:
    """The pieces of a sanitized answer, in their order; reasoning and markup are left out."""
    text = _answer_of(text)
    data = _data(text)
    if data is not None:
        return data[:MAX_PIECES]
    found: list[Piece] = []
    for piece in _lines(text):
        found.append(piece)
        if len(found) >= MAX_PIECES:
            break
    return found


def _answer_of(text: str) -> str:
    """The answer to the user: without the reasoning before it and any further turn after it."""
    text = without_thinking(text)[:MAX_CHARACTERS]
    stop = _STOP.search(text)
    while stop is not None and not text[: stop.start()].strip():
        text = text[stop.end() :]
        stop = _STOP.search(text)
    return text if stop is None else text[: stop.start()]


# ---- JSON ----


def _data(text: str) -> list[Piece] | None:
    """The entries of an answer in JSON (whole, in a fence, after a sentence, or line by line)."""
    decoder = json.JSONDecoder(strict=False)
    found: list[Piece] = []
    position, before = 0, 0
    prose: list[Piece] = []
    for _ in range(MAX_PIECES):
        starts = [s for s in (text.find("[", position), text.find("{", position)) if s >= 0]
        if not starts:
            break
        start = min(starts)
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            if not found and start - before > 2_000:
                break
            position = start + 1
            continue
        entries = list(_entries(value, 0))
        if not _is_answer(value, entries):
            position = end
            continue
        prose += _lines(text[before:start])
        found += entries
        position = before = end
    if not found:
        return None
    return (
        [p for p in prose if p.text.strip(" ,")] + found + list(_lines(text[before:].lstrip(",")))
    )


def _is_answer(value: Any, entries: list[Piece]) -> bool:
    """Whether decoded data are a list of recommendations, not a reference such as ``[1]``."""
    if isinstance(value, dict):
        return bool(entries)
    numbers = all(isinstance(element, int) for element in value)
    return len(value) > 1 if numbers else bool(entries)


def _entries(value: Any, depth: int) -> Iterator[Piece]:
    """The entries in decoded JSON, in document order."""
    if depth > 6:
        return
    if isinstance(value, list):
        for element in value:
            if isinstance(element, bool) or element is None:
                continue
            if isinstance(element, (str, int, float)):
                yield _datum(element)
            else:
                yield from _entries(element, depth + 1)
    elif isinstance(value, dict):
        keys = {str(key).strip().casefold().replace(" ", "_"): key for key in value}
        title = next((keys[key] for key in _TITLE_KEYS if key in keys), None)
        if title is not None and isinstance(value[title], (str, int)):
            yield _datum(value[title], _year(value, keys))
            return
        nested = [v for v in value.values() if isinstance(v, (list, dict))]
        if nested:
            for element in nested:
                yield from _entries(element, depth + 1)
        elif value and all(isinstance(v, str) for v in value.values()):
            ranked = all(re.fullmatch(r"\D{0,20}\d{1,3}", str(key)) for key in value)
            if ranked:
                yield from map(_datum, value.values())


def _datum(value: str | float, year: int | None = None) -> Piece:
    """An element of JSON; models copy the number of a candidate, or count, also within a string."""
    text = html.unescape(str(value))
    number = _NUMBER.match(text)
    title = "" if number is None or not _is_marker(number, text) else text[number.end() :]
    return Piece(title, "data", text, year) if title else Piece(text, "data", year=year)


def _year(value: dict[str, Any], keys: dict[str, str]) -> int | None:
    for key in _YEAR_KEYS:
        if key in keys and re.fullmatch(r"(?:18|19|20)\d\d", str(value[keys[key]]).strip()):
            return int(str(value[keys[key]]))
    return None


# ---- lines ----


def _lines(text: str) -> Iterator[Piece]:
    """The pieces of running lines: tables, lists, sentences."""
    text = _TAG.sub("", _ELEMENT.sub("\n• ", _BREAK.sub("\n", text)))
    lines = [line for line in text.split("\n") if line.strip() and not _FENCE.match(line)]
    numbered = False
    table: list[list[str]] = []
    for line in [*lines, ""]:
        stripped = line.strip()
        if stripped.startswith("|") and stripped.count("|") >= 2:
            if not _TABLE_RULE.match(stripped):
                table.append([cell.strip() for cell in stripped.strip("|").split("|")])
            continue
        if table:
            yield from _table(table)
            table = []
        if not stripped or _RULE.match(stripped):
            continue
        for piece in _marked(stripped):
            if piece.place == "numbered":
                numbered = True
            elif numbered and piece.place in ("bulleted", "line"):
                place: Place = "note" if line[0] in " \t" else "line"
                piece = Piece(piece.text, place, piece.whole)
            yield piece


@once
def _marked(line: str) -> Sequence[Piece]:
    """The pieces of one line by its marker."""
    while line[:1] in (">", "#") and (rest := line.lstrip("#> ")) and not line[1:2].isdigit():
        if rest == line:
            break
        line = rest
    parts = _inline_numbers(line)
    if parts:
        return parts
    number = _NUMBER.match(line)
    if number is not None and _is_marker(number, line):
        text = line[number.end() :].strip()
        if number["bold"] and not number["end"]:
            text = f"**{text}"
        bullet = _BULLET.match(text)
        return [Piece(text[bullet.end() :] if bullet else text, "numbered", line)]
    keycap = _KEYCAP.match(line) or _BARE_NUMBER.match(line)
    if keycap is not None:
        return [Piece(line[keycap.end() :], "numbered", line)]
    bullet = _BULLET.match(line)
    text = line[bullet.end() :].strip() if bullet is not None else ""
    if not text:
        return [Piece(line, "line", line)]
    inner = [] if _BULLET.match(text) else _marked(text)
    if all(piece.place == "line" for piece in inner):
        return [Piece(text, "bulleted", line)]
    return inner


def _is_marker(number: re.Match[str], line: str) -> bool:
    """Whether a number is a list marker: ``3:10 to Yuma`` and ``1.5`` do not begin with one."""
    following = line[number.end() : number.end() + 1]
    tight = not number["space"] and not number["mark"].isspace()
    return not (tight and (following.isdigit() or (":" in number["mark"] and following)))


def _inline_numbers(line: str) -> list[Piece]:
    """``1. Heat 2. Casino 3. Alien`` in one line."""
    marks: list[re.Match[str]] = []
    for match in _INLINE_NUMBER.finditer(line):
        turn = int(marks[-1][1]) + 1 if marks else 1
        if int(match[1]) == turn and (not marks or match[0][-1] == marks[0][0][-1]):
            marks.append(match)
    if len(marks) < 2:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(line)]
    parts = [line[m.end() : end].strip(" \t,;") for m, end in zip(marks, ends, strict=True)]
    if not all(parts):
        return []
    before = line[: marks[0].start()].strip()
    head = [Piece(before, "note")] if before else []
    return head + [Piece(part, "numbered") for part in parts]


def _table(rows: list[list[str]]) -> Iterator[Piece]:
    """The title cells of a Markdown table; its header is left out."""
    header = [cell.strip("*_ ").casefold() for cell in rows[0]]
    named = [i for i, cell in enumerate(header) if cell.replace(" ", "_") in _TITLE_KEYS]
    years = [i for i, cell in enumerate(header) if cell.replace(" ", "_") in _YEAR_KEYS]
    body = (
        rows[1:] if named or (header and header[0] in ("#", "rank", "no.", "no", "nr.")) else rows
    )
    for row in body:
        columns = named[:1] or [
            i for i, cell in enumerate(row) if not cell.strip("*#.) ").isdigit()
        ]
        if columns and columns[0] < len(row) and row[columns[0]].strip():
            year = next((row[i] for i in years if i < len(row)), "")
            released = int(year) if re.fullmatch(r"(?:18|19|20)\d\d", year) else None
            yield Piece(row[columns[0]], "data", year=released)
        else:
            yield from (Piece(cell, "data") for cell in row[:1] if cell)
