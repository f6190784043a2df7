"""Finds the entries of a text answer, without any knowledge of titles; `data` cuts JSON."""

import csv
import html
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from string import ascii_uppercase
from typing import Any

from pytest_recsys_mt.llm.reading.fields import (
    TITLE_KEYS,
    field_name,
    field_of,
    is_of_others,
    rank_of,
    score_of,
    with_maker,
    year_of,
)
from pytest_recsys_mt.llm.reading.line import Piece, Place, marked
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.rows import REFERENCES, as_tables, html_rows
from pytest_recsys_mt.llm.reading.thinking import without_thinking
from pytest_recsys_mt.llm.reading.wording import phrase, word_set

MAX_CHARACTERS = 100_000
"""Most characters of an answer to read (without its reasoning); the rest is ignored."""

MAX_PIECES = 1_000
"""Most pieces of an answer to read; no list of recommendations is that long."""

_STOP = phrase("stop")

_BREAK = phrase("break", re.IGNORECASE)

_ELEMENT = re.compile(r"<li\b[^<>\n]{0,200}>", re.IGNORECASE)

_OF_ENTRIES = frozenset(("b", "i", "u", "em", "strong", "option", "choice", "note"))
"""Tags around an entry or its words, which name no part of the answer."""

_TAG = re.compile(r"</?[a-z][a-z0-9]{0,20}(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)

STRUCK = phrase("struck", re.DOTALL)

_FORMULA = re.compile(r"\\(?:boxed|text|textbf|mathbf)\{([^{}\n]{0,2000})\}")

_ESCAPED = re.compile(r"\\([.#*_\-\[\]()!+~>|&%$])")

_FENCE = re.compile(r"\s*(?:```|~~~)\s?[\w+-]{0,20}\s*$")

_RULE = re.compile(r"\s*[-=_*~─—]{3,}\s*$")

_TABLE_RULE = re.compile(r"[\s|:+=\-─━═┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╒╤╕╞╪╡╘╧╛┏┳┓┣╋┫┗┻┛]+$")


def pieces(text: str) -> list[Piece]:
    """The pieces of a sanitized answer, in their order; reasoning and markup are left out."""
    from pytest_recsys_mt.llm.reading import data

    text = _answer_of(text)
    found = data.pieces(text) if "[" in text or "{" in text else lines(text)
    return list(islice(found, MAX_PIECES))


_PAGE = re.compile(r"\s*(?:<!doctype\s+html|<html|<\?xml[^>]*>\s*<(?:error|html))\b", re.IGNORECASE)
"""Begins a page of a server, such as an error or a sign-in, in the place of an answer."""


def _answer_of(text: str) -> str:
    if _PAGE.match(text):
        return ""
    text = _decoded(text)
    if "<" in text and _ENTITY.search(text):
        text = html.unescape(text)
    text = STRUCK.sub("", without_thinking(text)[:MAX_CHARACTERS])
    if "\\" in text or "$$" in text:
        text = _FORMULA.sub(r"\1", _FORMULA.sub(r"\1", text)).replace("$$", "")
        text = _ESCAPED.sub(r"\1", _LATEX_ITEM.sub("• ", _ENVIRONMENT.sub("", text)))
    text = _SPEAKER.sub("", _first_turn(text))
    return next(filter(str.strip, _STOP.split(text)), "")


def _decoded(text: str) -> str:
    """A text that is a string of JSON as a whole, as it was before."""
    whole = text.strip()
    if not (whole.startswith('"') and whole.endswith('"') and '\\"' in whole):
        return text
    with suppress(ValueError):
        said = json.loads(whole)
        return said if isinstance(said, str) else text
    return text


_ENTITY = re.compile(r"&(?:[a-z]{2,8}|#\d{2,5});", re.IGNORECASE)
_LATEX_ITEM = re.compile(r"\\item(?![a-z])\s*")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{\w+\}")
_SPEAKER = re.compile(
    r"\A\s*(?:(?:assistant|response|output)\s?:\s*|a(?:nswer)?:\s*(?=\d{1,2}[.)]\s))", re.IGNORECASE
)
_TURN = phrase("turn", re.IGNORECASE | re.MULTILINE)
_ASKED = re.compile(r"\W*(?:user|human|question|q)\b", re.IGNORECASE)
_FEWEST = 2  # entries that are a list


def _first_turn(text: str) -> str:
    """An answer without the turns that a model invents behind it: what follows its list and another's question."""
    turns = list(_TURN.finditer(text))
    if len(turns) > 1 and turns[0].start() == 0 and _ASKED.match(text):
        return ""  # a whole conversation, of which no turn is the answer
    for turn in turns:
        before = [
            piece for line in text[: turn.start()].split("\n") for piece in marked(line.strip())
        ]
        entries = sum(piece.place in ("numbered", "bulleted", "data") for piece in before)
        if (
            entries >= _FEWEST
            or any(piece.chain for piece in before)
            or "{" in text[: turn.start()]
        ):
            return text[: turn.start()]
    return text


def lines(text: str) -> Sequence[Piece]:
    """The pieces of running lines: tables, lists, sentences; each with its details."""
    return _detailed(list(islice(_lines(text), MAX_PIECES)))


def _detailed(found: list[Piece]) -> Sequence[Piece]:
    told = [_detail(piece) for piece in found]
    if not any(kind == "title" for kind, _ in told):
        told = [("", {}) if kind == "year" else (kind, said) for kind, said in told]
    kinds = [kind for kind, _ in told]
    if sum(kind not in ("", "title") for kind in kinds) < 2:
        return found
    places = [piece.place for piece, kind in zip(found, kinds, strict=True) if not kind]
    own = next((each for each in ("numbered", "bulleted", "data") if each in places), "line")
    kept, waiting, last = list[Piece](), dict[str, Any](), -1
    ahead = next((kind != "title" for kind in kinds if kind), False) and "title" in kinds
    first = next(at for at, piece in enumerate(found) if piece.place != "tag")
    ahead = ahead or (kinds[first] not in ("", "title") and own == "line")
    title = kinds.index("title") if "title" in kinds else len(kinds)
    before = {*kinds[:title]} if ahead else set()  # "rank: 1", "title: Heat", "year: 1995"
    for piece, (kind, said) in zip(found, told, strict=True):
        if kind == "title" or (not kind and "title" not in kinds and piece.place == own):
            place: Place = "data" if kind or own == "line" else piece.place
            last, said = len(kept), said | waiting | {"place": place}
            kept.append(replace(piece, **said))
            waiting = {}
        elif not kind:
            kept.append(piece)
        elif kind in before:
            waiting |= said
        elif last >= 0:
            kept[last] = replace(kept[last], **said)
        if kind == "year":
            kept.append(piece)
    return kept


_DETAIL = phrase("detail_layout")

_TITLES_OF_LINES = word_set(
    "title movie film name item book song product game titel titulo título titre"
)


def _detail(piece: Piece) -> tuple[str, dict[str, Any]]:
    """What a line says of an entry, ``Score: 5.6/10``: its kind, and the parts of a piece; none for any other."""
    found = None
    if piece.place in ("line", "note", "bulleted") and not piece.chain:
        found = _DETAIL.fullmatch(piece.text)
    if found is None:
        return "", {}
    key, value = field_name(found["key"]), found["value"].strip("\"'“”") or found["value"]
    fields = {key: value.strip("#")}
    if (rank := rank_of(fields)) is not None:
        return "rank", {"number": rank}
    if (score := score_of(fields)) is not None:
        return "score", {"score": score}
    if (year := year_of(fields)) is not None:
        return "year", {"year": year}
    return ("title", {"text": value}) if key in _TITLES_OF_LINES else ("", {})


def _prepared(text: str) -> list[str]:
    """The lines of a text, with rows of any kind as rows of a table, and letters before entries as numbers."""
    if _MEASURED_TAG.search(text):
        text = _ATTRIBUTE.sub(_as_line, _FIELD_TAG.sub(_as_line, text))
    if "<" in text:
        text = _TAG.sub(_named, _ELEMENT.sub("\n• ", _BREAK.sub("\n", html_rows(text))))
    text = _TWO_IN_A_LINE.sub("\n", text)
    kept = [line for line in text.split("\n") if line.strip() and not _FENCE.match(line)]
    kept = _with_bullets_below(kept)
    lettered = [line for line in kept if _LETTERED.match(line)]
    letters = "".join(line.lstrip()[0].upper() for line in lettered)
    if len(lettered) > 2 and ascii_uppercase.startswith(letters) and ">" not in text:
        kept = [_with_number(line) if line in lettered else line for line in kept]
    return as_tables(kept)


_NUMBERED = re.compile(r"(?P<indent>[ \t]*)(?P<number>\d{1,3})[.)]\s+")


def _with_bullets_below(lines: list[str]) -> list[str]:
    """Lines with bullets in place of the numbers of lists that stand indented below the entries of a numbered one."""
    found = {at: number for at, line in enumerate(lines) if (number := _NUMBERED.match(line))}
    margin = min((len(each["indent"]) for each in found.values()), default=0)
    outer = [at for at, each in found.items() if len(each["indent"]) == margin]
    if len(outer) == len(found) or outer[0] != min(found):
        return lines
    # Of one list whose first line lost its indent the entries go on counting; lists below begin anew.
    counted = [int(found[at]["number"]) for at in outer] == list(range(1, len(outer) + 1))
    begin_anew = all(
        found[at + 1]["number"] == "1" for at in outer if at + 1 in found and at + 1 not in outer
    )
    if len(outer) < 2 or not (counted and begin_anew):
        return lines
    below = found.keys() - {*outer}
    return [
        _NUMBERED.sub(r"\g<indent>- ", line, 1) if at in below else line
        for at, line in enumerate(lines)
    ]


def _with_number(line: str) -> str:
    """A line with the number of the letter before it: ``B) Heat`` as ``2. Heat``."""
    entry = line.lstrip()
    return f"{ord(entry[0].upper()) - 64}. {entry[2:].strip()}"


def _lines(text: str) -> Iterator[Piece]:
    numbered = False
    below: int | None = None  # how far the entry is indented whose comments may follow
    table: list[list[str]] = []
    tables, comma, headed = 0, "", False
    for line in [*_prepared(text), ""]:
        stripped = line.strip()
        if line[:1] == _MARK:
            yield Piece(line[1:], "tag")
            continue
        if not comma:
            comma = _separator(stripped)
        elif comma not in stripped:
            comma = ""
        if comma:
            table.append(next(csv.reader([stripped], delimiter=comma)))
            continue
        if stripped.startswith("|") and stripped.count("|") >= 2:
            if _TABLE_RULE.match(stripped):
                headed = headed or len(table) == 1
            else:
                table.append([cell.strip() for cell in stripped.strip("|").split("|")])
            continue
        if table and _TABLE_RULE.match(stripped):
            headed = headed or len(table) == 1
            continue
        if table:
            tables += 1
            yield from _table(table, f"table {tables}", headed=headed)
            table, headed = [], False
        if not stripped or _RULE.match(stripped):
            continue
        indent = len(line) - len(line.lstrip())
        if not indent and _names_a_list(stripped):
            numbered, below = False, None  # what stands below it is no comment on an entry above it
        for piece in marked(stripped):
            if piece.place == "numbered":
                numbered = True
            elif piece.place == "bulleted" and not numbered:
                if below is not None and indent > below:
                    piece = replace(piece, place="note")
                else:
                    heading = piece.text.rstrip("*_ ").endswith((":", "："))
                    below = None if heading else indent
            elif numbered and piece.place in ("bulleted", "line"):
                piece = replace(piece, place="note" if line[0] in " \t" else "line")
            yield piece


def _names_a_list(line: str) -> bool:
    """Whether a line is a heading that says that the answer stands below it."""
    heading = line.startswith("#") or line.rstrip("*_ ").endswith((":", "："))
    return heading and role_of(line.strip("#*_:： ")) in ("final", "ranking")


def _separator(line: str) -> str:
    for mark in filter(line.__contains__, (",", ";", "\t")):
        cells = [field_name(cell) for cell in line.split(mark)]
        kinds = {field_of(cell) for cell in cells}
        if "title" in kinds and ("id" in cells or kinds & {"rank", "score", "cost", "year"}):
            return mark
    return ""


def _named(tag: re.Match[str]) -> str:
    name = tag[0].strip("</> ").split(" ")[0]
    if name.casefold() in _OF_ENTRIES or not role_of(name):
        return ""
    return f"\n{_MARK}{'' if tag[0].startswith('</') else name}\n"


_NAMING = re.compile(r"recommend|suggest|pick|try\b|choice|empf|sugere|推荐|おすすめ")

_OF_HISTORY = re.compile(r"because|liked|loved|similar|why|reason")

_TWO_IN_A_LINE = re.compile(r"(?<=\S) {3,}(?=\d{1,2}[.)]\s)")

_LETTERED = re.compile(r"\s*(?:[A-Z][.)]|[a-z]\))\s")

_FIELD_TAG = re.compile(r"<(\w{1,20})>\s*([^<>\n]{1,200}?)\s*</\1>")

_ATTRIBUTE = phrase("attribute")

_MEASURED_TAG = phrase("measured_tag", re.IGNORECASE)


def _as_line(field: re.Match[str]) -> str:
    return f"\n{field[1]}: {field[2]}\n" if field_of(field_name(field[1])) else field[0]


_MARK = "\ue000"  # begins a line that holds the name of a tag


_NO_RANK = frozenset(("", "-", "–", "—", "none", "n/a"))


def _ranked(header: Sequence[str], body: Sequence[list[str]]) -> Sequence[list[str]]:
    """The rows that have a rank, if a column of ranks leaves others without one."""
    for at, name in enumerate(header):
        cells = [row[at].strip().casefold() if at < len(row) else "" for row in body]
        if field_of(name) == "rank" and any(cell in _NO_RANK for cell in cells):
            chosen = [row for row, cell in zip(body, cells, strict=True) if cell not in _NO_RANK]
            return chosen or body
    return body


def _table(rows: list[list[str]], group: str, *, headed: bool) -> Iterator[Piece]:
    header = [field_name(cell.strip("*_ ")) for cell in rows[0]]
    half = len(header) // 2
    if half > 1 and header == header[:half] * 2:  # ranks 1 to 5 beside 6 to 10
        sides = [[row[at : at + half] for row in rows[1:]] for at in (0, half)]
        yield from _table([rows[0][:half], *sides[0], *sides[1]], group, headed=True)
        return
    names = [key for key in TITLE_KEYS if key in header]
    names += [key for key in header if _NAMING.search(key) and not _OF_HISTORY.search(key)]
    names += [key for key in header if key.strip(".") in REFERENCES and names == []]
    if names and field_of(names[0]) == "rank" and len(header) < 2:
        names = []
    titled = header.index(names[0]) if names else None
    ranks = [row[0].strip("*#. ") for row in rows]
    if titled is None and len(header) > 1 and ranks == [str(at) for at in range(1, len(rows) + 1)]:
        titled, headed = 1, False  # a column of ranks, without names
    named = bool(names) or headed
    body = rows[1:] if named or field_of(header[0]) == "rank" else rows
    for row in _ranked(header, body):
        words = (i for i, cell in enumerate(row) if not cell.strip("*#.) ").isdigit())
        at = next(words, len(row)) if titled is None else titled
        if at < len(row) and row[at].strip():
            cells = dict(zip(header, row, strict=False)) if body is not rows else {}
            yield Piece(
                row[at],
                "data",
                whole=with_maker(row[at], cells),
                year=year_of(cells),
                number=rank_of(cells),
                score=score_of(cells),
                group=group,
                beside=" | ".join(
                    "" if cell.isdecimal() and i < len(header) and is_of_others(header[i]) else cell
                    for i, cell in enumerate(row)
                    if i != at
                ),
            )
        else:
            yield from (Piece(cell, "data", group=group) for cell in row[:1] if cell)
