"""Finds the entries of a text answer, without any knowledge of titles; `data` cuts JSON."""

import csv
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from string import ascii_uppercase
from typing import Any, Literal

from pytest_recsys_mt.llm.reading.fields import TITLE_KEYS, field_name, field_of, named
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.spelling import once
from pytest_recsys_mt.llm.reading.thinking import without_thinking
from pytest_recsys_mt.llm.reading.wording import phrase, word_set

MAX_CHARACTERS = 100_000
"""Most characters of an answer to read (without its reasoning); the rest is ignored."""

MAX_PIECES = 1_000
"""Most pieces of an answer to read; no list of recommendations is that long."""

Place = Literal["numbered", "bulleted", "data", "line", "note", "tag"]
"""The place of a piece.

* ``numbered``, ``bulleted``: an entry of a list of that kind
* ``data``: an element of JSON, a cell of a table, an element of an HTML list
* ``line``: a separate line
* ``note``: below a numbered entry, where comments stand
* ``tag``: no text, but where a part of the answer begins or ends, such as ``<answer>``; its name is the text
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer that may name one item, or several in one line, without its list marker."""

    text: str
    place: Place
    whole: str = ""  # with its list marker, for titles that begin like one
    year: int | None = None  # of release, if the data contain it
    number: int | None = None  # the one in its list marker, or the rank in the data
    score: float | None = None  # in the data; the best is the highest
    name: str = ""  # what the data or the beginning of the line call the list
    group: str = ""  # the list that it belongs to, of several in data
    chain: bool = False  # whether it is a whole ranking in one line: ``[3] > [1] > [2]``
    beside: str = ""  # what the data say of the entry in other cells or fields


_STOP = phrase("stop")
_BREAK = phrase("break", re.IGNORECASE)
_ELEMENT = re.compile(r"<li\b[^<>\n]{0,200}>", re.IGNORECASE)
_OF_ENTRIES = frozenset(("b", "i", "u", "em", "strong", "option", "choice", "note"))
"""Tags around an entry or its words, which name no part of the answer."""
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,20}(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)

STRUCK = phrase("struck", re.DOTALL)
_FORMULA = re.compile(r"\\(?:boxed|text|textbf|mathbf)\{([^{}\n]{0,2000})\}")
_ESCAPED = re.compile(r"\\([.#*_\-\[\]()!+~>|])")
_FENCE = re.compile(r"\s*(?:```|~~~)\s?[\w+-]{0,20}\s*$")
_RULE = re.compile(r"\s*[-=_*~─—]{3,}\s*$")
_TABLE_RULE = re.compile(r"[\s|:+-]+$")

_NUMBER, _LABELLED, _RANKED = (
    phrase(key, re.IGNORECASE) for key in ("number", "labelled", "ranked")
)
_KEYCAP = phrase("keycap")
_BARE_NUMBER = phrase("bare_number")

_BULLET = phrase("bullet")
_INLINE_NUMBER = re.compile(r"(?:^|(?<=[\s,;)]))[(#]{0,2}(\d{1,3})[.):](?=\s|\*\*|[\"“'‘])")


LABEL = (
    r"(?:(?:candidate|option|item|movie|film|book|song|track|game|product|article|passage|document|doc|choice|id|number|no|nr)"
    r"[\s_.:#-]{0,2})?"
)
_NUMBERED_ITEM = rf"{LABEL}(?:\[\d{{1,4}}\]|\(\d{{1,4}}\)|\{{\d{{1,4}}\}}|#?\d{{1,4}})"
_ARROW = r"\s*(?:>{1,2}|≻|→|->|=>)\s*"
_LEAD = r"(?P<lead>[^\d\[\]<>|]{0,80}?(?:[:：=]|\b(?:is|are|ist|sind|est|es|são|è))\s*)?"
_CHAIN = re.compile(
    rf"{_LEAD}(?P<chain>{_NUMBERED_ITEM}(?:(?:{_ARROW}|\s*[,;|，、]\s*(?:and\s)?){_NUMBERED_ITEM})+"
    rf"|\[\d{{1,4}}\](?:\s+\[\d{{1,4}}\])+|\d{{1,4}}(?:\s\d{{1,4}}){{2,}}"
    rf"|[\[(]?[A-Z][\])]?(?:{_ARROW}[\[(]?[A-Z][\])]?)+)\s?(?:\([^()\d]{{0,80}}\))?[.。]?",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    rf"(?P<lead>[^\d\[\]<>|]{{0,120}})(?P<chain>\[\d{{1,4}}\](?:{_ARROW}\[\d{{1,4}}\])+)[^\d\[\]<>|]{{0,300}}"
)
"""Also inside a sentence."""
_TITLES = phrase("titles")
_RANK = re.compile(r"(\d{1,4})(?:st|nd|rd|th)?(?:\s*(?:/|of)\s*\d{1,4})?")
_SCORED = phrase("scored")
_TWO_NUMBERS = re.compile(r"#?\d+\W+\d{1,3}")  # a ranking of two candidates: ``3 → 1``


def pieces(text: str) -> list[Piece]:
    """The pieces of a sanitized answer, in their order; reasoning and markup are left out."""
    from pytest_recsys_mt.llm.reading import data

    text = _answer_of(text)
    found = data.pieces(text) if "[" in text or "{" in text else lines(text)
    return list(islice(found, MAX_PIECES))


def _answer_of(text: str) -> str:
    """The answer to the user: without the reasoning before it and any further turn after it."""
    text = STRUCK.sub("", without_thinking(text)[:MAX_CHARACTERS])
    if "\\" in text or "$$" in text:
        text = _FORMULA.sub(r"\1", _FORMULA.sub(r"\1", text)).replace("$$", "")
        text = _ESCAPED.sub(r"\1", text)
    return next(filter(str.strip, _STOP.split(text)), "")


def lines(text: str) -> Sequence[Piece]:
    """The pieces of running lines: tables, lists, sentences; each with its details."""
    return _detailed(list(islice(_lines(text), MAX_PIECES)))


def _detailed(found: list[Piece]) -> Sequence[Piece]:
    """The pieces, where the lines with ranks and scores are parts of those with titles beside them."""
    told = [_detail(piece) for piece in found]
    kinds = [kind for kind, _ in told]
    if sum(kind not in ("", "title") for kind in kinds) < 2:
        return found
    places = [piece.place for piece, kind in zip(found, kinds, strict=True) if not kind]
    own = next((each for each in ("numbered", "bulleted", "data") if each in places), "line")
    kept, waiting, last = list[Piece](), dict[str, Any](), -1
    ahead = next((kind != "title" for kind in kinds if kind), False) and "title" in kinds
    first = next(at for at, piece in enumerate(found) if piece.place != "tag")
    ahead = ahead or (kinds[first] not in ("", "title") and own == "line")
    for piece, (kind, said) in zip(found, told, strict=True):
        if kind == "title" or (not kind and "title" not in kinds and piece.place == own):
            place: Place = "data" if kind or own == "line" else piece.place
            last, said = len(kept), said | waiting | {"place": place}
            kept.append(replace(piece, **said))
            waiting = {}
        elif not kind:
            kept.append(piece)
        elif ahead:
            waiting |= said
        elif last >= 0:
            kept[last] = replace(kept[last], **said)
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
    return ("title", {"text": value}) if key in _TITLES_OF_LINES else ("", {})


def _lines(text: str) -> Iterator[Piece]:
    if _MEASURED_TAG.search(text):
        text = _ATTRIBUTE.sub(_as_line, _FIELD_TAG.sub(_as_line, text))
    if "<" in text:
        text = _TAG.sub(_named, _ELEMENT.sub("\n• ", _BREAK.sub("\n", text)))
    text = _TWO_IN_A_LINE.sub("\n", text)
    kept = [line for line in text.split("\n") if line.strip() and not _FENCE.match(line)]
    lettered = [line for line in kept if _LETTERED.match(line)]
    in_turn = ascii_uppercase.startswith("".join(line[0] for line in lettered))
    if len(lettered) > 2 and in_turn and ">" not in text:
        kept = [f"{ord(x[0]) - 64}. {x[2:].strip()}" if x in lettered else x for x in kept]
    numbered = False
    below: int | None = None  # how far the entry is indented whose comments may follow
    table: list[list[str]] = []
    tables, comma, headed = 0, "", False
    for line in [*kept, ""]:
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
                headed = len(table) == 1
            else:
                table.append([cell.strip() for cell in stripped.strip("|").split("|")])
            continue
        if table:
            tables += 1
            yield from _table(table, f"table {tables}", headed=headed)
            table, headed = [], False
        if not stripped or _RULE.match(stripped):
            continue
        indent = len(line) - len(line.lstrip())
        for piece in _marked(stripped):
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


def _separator(line: str) -> str:
    """What parts the cells of a header of comma-separated values; empty for any other line."""
    for mark in filter(line.__contains__, (",", ";", "\t")):
        cells = [field_name(cell) for cell in line.split(mark)]
        kinds = {field_of(cell) for cell in cells}
        if "title" in kinds and ("id" in cells or kinds & {"rank", "score", "cost", "year"}):
            return mark
    return ""


def _named(tag: re.Match[str]) -> str:
    """A mark in the place of a tag that names a part of the answer; nothing for any other."""
    name = tag[0].strip("</> ").split(" ")[0]
    if name.casefold() in _OF_ENTRIES or not role_of(name):
        return ""
    return f"\n{_MARK}{'' if tag[0].startswith('</') else name}\n"


_NAMING = re.compile(r"recommend|suggest|pick|try\b|choice|empf|sugere|推荐|おすすめ")
_OF_HISTORY = re.compile(r"because|liked|loved|similar|why|reason")
_TWO_IN_A_LINE = re.compile(r"(?<=\S) {3,}(?=\d{1,2}[.)]\s)")
_LETTERED = re.compile(r"[A-Z][.)]\s")
_FIELD_TAG = re.compile(r"<(\w{1,20})>\s*([^<>\n]{1,200}?)\s*</\1>")
_ATTRIBUTE = phrase("attribute")
_MEASURED_TAG = phrase("measured_tag", re.IGNORECASE)


def _as_line(field: re.Match[str]) -> str:
    return f"\n{field[1]}: {field[2]}\n" if field_of(field_name(field[1])) else field[0]


_MARK = "\ue000"  # begins a line that holds the name of a tag


def chained(line: str) -> tuple[str, str] | None:
    """What introduces a ranking in one line, and the ranking; None for any other line."""
    line = line.strip(' \t*_`"')
    found = _CHAIN.fullmatch(line) or _BRACKETED.fullmatch(line) or _TITLES.fullmatch(line)
    return None if found is None else ((found["lead"] or "").strip(), found["chain"].strip())


def without_chain(piece: Piece, is_title: Callable[[str], bool]) -> Sequence[Piece]:
    """The pieces of a line, but no chain if it is a title: ``- Blocks: 2 2 2``."""
    cut = _cut(piece.whole, chains=False) if piece.chain else ()
    return cut if len(cut) == 1 and is_title(cut[0].text) else [piece]


def _cut(line: str, *, chains: bool) -> Sequence[Piece]:
    whole = line
    if line[:1] in (">", "#") and (rest := line.lstrip("#> ")) and not line[1:2].isdigit():
        line = rest
    ranked = _RANKED.fullmatch(line)
    if ranked and not _TWO_NUMBERS.fullmatch(line):
        number = re.search(r"\d+", ranked["rank"])
        line = (
            f"{number[0]}. {ranked['rest']}" if number else ranked["rest"]
        )  # else it may be prose
    if scored := _SCORED.fullmatch(line):
        score = measured(scored["score"] or scored["p"])
        return [Piece(scored["rest"] or scored["title"], "data", line, score=score)]
    if chains and (chain := chained(line)) is not None:
        return [Piece(line, "line", line, name=chain[0], chain=True)]
    if parts := _inline_numbers(line):
        return parts
    number = _number(line) or _LABELLED.match(line)
    if number is not None:
        text = line[number.end() :].strip()
        ends = number["end"] or number.groupdict().get("late")
        if text and number["bold"] and not ends:
            text = f"**{text}"
        bullet = _BULLET.match(text)
        text = text[bullet.end() :] if bullet else text
        return [Piece(text, "numbered", line, number=int(number["n"]))]
    if keycap := _KEYCAP.match(line) or _BARE_NUMBER.match(line):
        return [Piece(line[keycap.end() :], "numbered", line, number=_digits(keycap[0]))]
    bullet = _BULLET.match(line)
    text = line[bullet.end() :].strip() if bullet is not None else ""
    if not text:
        return [Piece(line, "line", whole)]
    inner = [] if _BULLET.match(text) else _cut(text, chains=chains)
    if all(piece.place == "line" and not piece.chain for piece in inner):
        return [Piece(text, "bulleted", line)]
    return [replace(piece, whole=line) if piece.chain else piece for piece in inner]


_marked = once(partial(_cut, chains=True))

_SIGNS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "🥇", "🥈", "🥉")


def _digits(marker: str) -> int | None:
    """The number in a marker such as ``1️⃣``, ``②`` or ``3/``."""
    named = marker.strip(" .)").upper()
    if named in _SIGNS:
        return _SIGNS.index(named) % 10 + 1
    digits = "".join(char for char in marker if char.isdecimal())
    if digits:
        return int(digits)
    number = next(filter(None, (unicodedata.numeric(char, None) for char in marker)), None)
    return None if number is None else int(number)


def _number(line: str) -> re.Match[str] | None:
    """The list marker with a number; ``3:10 to Yuma`` and ``1.5`` do not begin with one."""
    number = _NUMBER.match(line)
    if number is None:
        return None
    following = line[number.end() : number.end() + 1]
    tight = not number["space"] and not number["mark"].isspace()
    inside = following.isdigit() or (":" in number["mark"] and following)
    return None if tight and inside else number


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
    return head + [
        Piece(part, "numbered", number=int(mark[1]))
        for mark, part in zip(marks, parts, strict=True)
    ]


def _table(rows: list[list[str]], group: str, *, headed: bool) -> Iterator[Piece]:
    header = [field_name(cell.strip("*_ ")) for cell in rows[0]]
    names = [key for key in TITLE_KEYS if key in header]
    names += [key for key in header if _NAMING.search(key) and not _OF_HISTORY.search(key)]
    titled = header.index(names[0]) if names else None
    body = rows[1:] if headed or titled is not None or field_of(header[0]) == "rank" else rows
    for row in body:
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
                beside=" | ".join(cell for i, cell in enumerate(row) if i != at),
            )
        else:
            yield from (Piece(cell, "data", group=group) for cell in row[:1] if cell)


def numbered_text(text: str) -> tuple[str, int | None]:
    """A text behind its list marker, and the number in it; an empty text if it begins with none."""
    number = _number(text)
    return ("", None) if number is None else (text[number.end() :], int(number["n"]))


def with_maker(title: str, fields: Mapping[str, Any]) -> str:
    """A title with the artist or author beside it, as a text says both."""
    maker = next(
        (fields[key] for key in ("artist", "author", "singer", "band") if key in fields), ""
    )
    return f"{title} by {maker}" if isinstance(maker, str) and maker else ""


def year_of(fields: Mapping[str, Any]) -> int | None:
    """The year in the fields of an entry."""
    for key in named(fields, "year"):
        if re.fullmatch(r"(?:18|19|20)\d\d", str(fields[key]).strip()):
            return int(str(fields[key]))
    return None


def rank_of(fields: Mapping[str, Any]) -> int | None:
    """The rank in the fields of an entry: ``3``, ``#3``, ``3rd``, ``3/20``."""
    for key in named(fields, "rank"):
        found = _RANK.fullmatch(str(fields[key]).strip("*#.) "))
        return int(found[1]) if found else None
    return None


def score_of(fields: Mapping[str, Any]) -> float | None:
    """The score in the fields of an entry; the best is the highest."""
    for key in named(fields, "score", "cost"):
        value = measured(fields[key])
        if value is not None:
            return -value if field_of(key) == "cost" else value
    return None


def measured(value: object) -> float | None:
    """A score as a number: 0.9, "9.5", "95%", "9/10", "4.5 stars"."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    found = re.fullmatch(
        r"\s*(-?\d{1,9}(?:[.,]\d{1,9})?)\s*(?:%|(?:/|out of)\s*\d{1,4}|stars?|points?|★)?\s*",
        str(value),
    )
    return None if found is None else float(found[1].replace(",", "."))
