"""Finds the entries of running lines: of tables, lists and sentences."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from string import ascii_uppercase

from pytest_recsys_mt.llm.reading.details import detailed
from pytest_recsys_mt.llm.reading.fields import field_name, field_of
from pytest_recsys_mt.llm.reading.line import MAX_PIECES, Piece, marked
from pytest_recsys_mt.llm.reading.names import role_of
from pytest_recsys_mt.llm.reading.rows import as_tables, html_rows
from pytest_recsys_mt.llm.reading.tables import pieces_of_table
from pytest_recsys_mt.llm.reading.wording import phrase

_BREAK = phrase("break", re.IGNORECASE)

_ELEMENT = re.compile(r"<li\b[^<>\n]{0,200}>", re.IGNORECASE)

_OF_ENTRIES = frozenset(("b", "i", "u", "em", "strong", "option", "choice", "note"))
"""Tags around an entry or its words, which name no part of the answer."""

_TAG = re.compile(r"</?[a-z][a-z0-9]{0,20}(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)

_FENCE = re.compile(r"\s*(?:```|~~~)\s?[\w+-]{0,20}\s*$")

_RULE = re.compile(r"\s*[-=_*~─—]{3,}\s*$")

_TABLE_RULE = re.compile(r"[\s|:+=\-─━═┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╒╤╕╞╪╡╘╧╛┏┳┓┣╋┫┗┻┛]+$")


def lines(text: str) -> Sequence[Piece]:
    """The pieces of running lines: tables, lists, sentences; each with its details."""
    return detailed(list(islice(_lines(text), MAX_PIECES)))


def _prepared(text: str) -> list[str]:
    """The lines of a text, with rows of any kind as rows of a
    table, and letters before entries as numbers.
    """
    if _MEASURED_TAG.search(text):
        text = _FIELD_TAG.sub(_as_line, text)
        text = _ATTRIBUTE.sub(_as_line, text)
    if "<" in text:
        text = _BREAK.sub("\n", html_rows(text))
        text = _ELEMENT.sub("\n• ", text)
        text = _TAG.sub(_named, text)
    text = _TWO_IN_A_LINE.sub("\n", text)
    kept = [
        line for line in text.split("\n") if line.strip() and not _FENCE.match(line)
    ]
    kept = _with_bullets_below(kept)
    if ">" not in text:  # a chain of letters is a ranking
        kept = _with_numbers_for_letters(kept)
    return as_tables(kept)


def _with_numbers_for_letters(lines: list[str]) -> list[str]:
    """Lines with the numbers of the letters before them,
    if these are A, B, C and so on.
    """
    lettered = [line for line in lines if _LETTERED.match(line)]
    letters = "".join(line.lstrip()[0].upper() for line in lettered)
    if len(lettered) < 3 or not ascii_uppercase.startswith(letters):
        return lines
    return [_with_number(line) if line in lettered else line for line in lines]


_NUMBERED = re.compile(r"(?P<indent>[ \t]*)(?P<number>\d{1,3})[.)]\s+")


def _with_bullets_below(lines: list[str]) -> list[str]:
    """Lines with bullets in place of the numbers of lists that stand indented below the
    entries of a numbered one.
    """
    numbered = {}
    for at, line in enumerate(lines):
        match = _NUMBERED.match(line)
        if match is not None:
            numbered[at] = match
    if not numbered:
        return lines
    margin = min(len(match["indent"]) for match in numbered.values())
    outer = [at for at, match in numbered.items() if len(match["indent"]) == margin]
    below = numbered.keys() - set(outer)
    if not below or len(outer) < 2 or outer[0] != min(numbered):
        return lines
    # Of one list whose first line lost its indent the entries go on counting; lists
    # below begin anew.
    counts = [int(numbered[at]["number"]) for at in outer] == list(
        range(1, len(outer) + 1),
    )
    firsts_below = [at + 1 for at in outer if at + 1 in below]
    if not counts or any(numbered[at]["number"] != "1" for at in firsts_below):
        return lines
    bulleted = list(lines)
    for at in below:
        bulleted[at] = _NUMBERED.sub(r"\g<indent>- ", lines[at], count=1)
    return bulleted


def _with_number(line: str) -> str:
    """A line with the number of the letter before it: ``B) Heat`` as ``2. Heat``."""
    entry = line.lstrip()
    return f"{ord(entry[0].upper()) - 64}. {entry[2:].strip()}"


def _lines(text: str) -> Iterator[Piece]:
    """The pieces of a text, line by line; what stands below an entry is a note."""
    numbered = False  # whether a numbered list has begun
    bullet_indent: int | None = None  # that of the entry whose comments may follow
    for line in _without_tables(_prepared(text)):
        if isinstance(line, Piece):
            yield line
            continue
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if not indent and _names_a_list(stripped):
            # What stands below it is no comment on an entry above it.
            numbered = False
            bullet_indent = None
        for piece in marked(stripped):
            if piece.place == "numbered":
                numbered = True
                yield piece
            elif numbered and piece.place in ("bulleted", "line"):
                yield replace(piece, place="note" if line[0] in " \t" else "line")
            elif piece.place != "bulleted":
                yield piece
            elif bullet_indent is not None and indent > bullet_indent:
                yield replace(piece, place="note")
            else:
                bullet_indent = None if _ends_in_colon(piece.text) else indent
                yield piece


def _without_tables(lines: Sequence[str]) -> Iterator[str | Piece]:
    """The lines outside of tables, and the pieces of tables
    and tags; a table stands at its end.
    """
    table = list[list[str]]()
    headed = False  # whether a rule stands below the first row
    tables = 0
    comma = ""  # the separator of a table of values, if the line may be one
    for line in [*lines, ""]:
        stripped = line.strip()
        if line[:1] == _MARK:
            yield Piece(line[1:], "tag")
            continue
        if not comma:
            comma = _separator(stripped)
        elif comma not in stripped:
            comma = ""
        row = _cells(stripped, comma)
        is_rule = (
            not comma
            and (row is not None or bool(table))
            and _TABLE_RULE.match(stripped)
        )
        if is_rule:
            headed = headed or len(table) == 1
            continue
        if row is not None:
            table.append(row)
            continue
        if table:
            tables += 1
            yield from pieces_of_table(table, f"table {tables}", headed=headed)
            table = []
            headed = False
        if stripped and not _RULE.match(stripped):
            yield line


def _cells(line: str, comma: str) -> list[str] | None:
    """The cells of a row, separated by `comma` or within
    bars; None if a line is no row.
    """
    if comma:
        return next(csv.reader([line], delimiter=comma))
    if line.startswith("|") and line.count("|") >= 2:
        return [cell.strip() for cell in line.strip("|").split("|")]
    return None


def _ends_in_colon(text: str) -> bool:
    return text.rstrip("*_ ").endswith((":", "："))


def _names_a_list(line: str) -> bool:
    """Whether a line is a heading that says that the answer stands below it."""
    heading = line.startswith("#") or _ends_in_colon(line)
    return heading and role_of(line.strip("#*_:： ")) in ("final", "ranking")


def _separator(line: str) -> str:
    """What separates the names of columns in a line; empty if it is no header."""
    for mark in (",", ";", "\t"):
        if mark not in line:
            continue
        columns = [field_name(cell) for cell in line.split(mark)]
        kinds = {field_of(column) for column in columns}
        measured = "id" in columns or not kinds.isdisjoint(
            ("rank", "score", "cost", "year"),
        )
        if measured and "title" in kinds:
            return mark
    return ""


def _named(tag: re.Match[str]) -> str:
    """A line of its own for a tag that names a part of the
    answer; nothing for any other tag.
    """
    name = tag[0].strip("</> ").split(" ")[0]
    if name.casefold() in _OF_ENTRIES or not role_of(name):
        return ""
    begun = "" if tag[0].startswith("</") else name
    return f"\n{_MARK}{begun}\n"


_TWO_IN_A_LINE = re.compile(r"(?<=\S) {3,}(?=\d{1,2}[.)]\s)")

_LETTERED = re.compile(r"\s*(?:[A-Z][.)]|[a-z]\))\s")

_FIELD_TAG = re.compile(r"<(\w{1,20})>\s*([^<>\n]{1,200}?)\s*</\1>")

_ATTRIBUTE = phrase("attribute")

_MEASURED_TAG = phrase("measured_tag", re.IGNORECASE)


def _as_line(field: re.Match[str]) -> str:
    return f"\n{field[1]}: {field[2]}\n" if field_of(field_name(field[1])) else field[0]


_MARK = "\ue000"  # begins a line that holds the name of a tag
