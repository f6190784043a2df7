"""Lines that are rows: columns without a frame, fields in a line, and numbers above
their entries.

`running_lines` reads tables of Markdown. What says the same in other ways is written as such a
table first, so that there is one reading of columns: which holds the title, which a
rank, which a score.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from pytest_recsys_mt.llm.reading.fields import field_name, field_of, measured
from pytest_recsys_mt.llm.reading.line import LABEL
from pytest_recsys_mt.llm.reading.wording import phrase

FEWEST = 2
"""Fewest lines of a table without a frame."""

_CELL = re.compile(r"</t[dh]>\s*<t[dh]\b[^<>\n]{0,200}>", re.IGNORECASE)
_ROW_BEGINS = re.compile(
    r"<tr\b[^<>\n]{0,200}>\s*<t[dh]\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_ROW_ENDS = re.compile(r"</t[dh]>\s*</tr>", re.IGNORECASE)

_FRAME = str.maketrans("│┃║", "|||")
_FRAME_RULE = re.compile(r"[\s|+:=\-─━═┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╒╤╕╞╪╡╘╧╛┏┳┓┣╋┫┗┻┛]+$")

_COLUMNS = (re.compile(r"\s*\t\s*"), re.compile(r"\s+\|\s+"))
"""The divider of the columns of a table without a frame."""

_FIELDS = re.compile(r"\s*[|;\t]\s*|,\s+")
_FIELD = re.compile(
    r"[\s*_-]*(?P<key>[^\W\d_][\w .#-]{0,20}?)[*_]*\s*[:=][*_]*\s*(?P<value>\S.*?)[\s*_]*$",
)

_REFERENCE = re.compile(
    rf"(?:[-*•]\s)?[\[(]?(?P<label>{LABEL}|[Dd](?=\d))[\[(]?(?P<n>\d{{1,9}})[\])]?\s*(?:[:=,|]|[-–—]\s|\s(?=\())\s*"
    rf"[(\[]?(?:(?P<key>[^\W\d_][\w -]{{0,20}}?)\s*[:=]?\s*)?(?P<value>-?[\d.,]{{1,8}}%?(?:\s?/\s?\d{{1,3}})?)[)\]]?",
    re.IGNORECASE,
)
"""A candidate's number, or a title that is a number, and its score: ``D13: 8``,
``Document 15 (score: 0.98)``, ``6: 0.985``.
"""

_TITLES_FROM = 10_000
"""Numbers from here on are titles, and so are the others next to them."""

_MAYBE_ROW = re.compile(r"[:=|\t,(–—\[-]")
"""Any sign that divides a row."""

_RANK_BEHIND = re.compile(
    r"(?!\d{1,3}[.)]\s)(?:[-*•]\s)?(?P<title>.+?)\s*(?:[:：–—|(\[]|\s-)\s*(?:rank(?:ed)?|place|position|#)\s*[:#]?\s*(?P<rank>\d{1,3})[)\]]?",
    re.IGNORECASE,
)
"""A title and its rank: ``Heat: rank 3``."""

_REASONED = phrase("reasoned", re.IGNORECASE)
_NUMBER_ALONE = re.compile(r"\s*(\d{1,3})[.)]?\s*$")


def html_rows(text: str) -> str:
    """The rows of tables of HTML as those of Markdown."""
    if "<t" not in text:
        return text
    text = _ROW_BEGINS.sub("\n| ", _CELL.sub(" | ", text))
    return _ROW_ENDS.sub(" |\n", text)


def as_tables(lines: Sequence[str]) -> list[str]:
    """Lines, of which those that are rows are rows of a table of Markdown."""
    lines = _numbers_joined([line.translate(_FRAME) for line in lines])
    found: list[str] = []
    for kind, run in groupby(lines, _kind):
        rows = list(run)
        found += (_table(kind, rows) if len(rows) >= FEWEST else None) or rows
    return found


def _kind(line: str) -> str:
    """How a line is divided; lines of one table are of one kind. Empty for other lines."""
    if (
        not _MAYBE_ROW.search(line)
        or line.lstrip().startswith("|")
        or _FRAME_RULE.match(line)
    ):
        return ""
    if _REFERENCE.fullmatch(line.strip()):
        return "scores"
    if _REASONED.fullmatch(line.strip()):
        return "reasons"
    if _RANK_BEHIND.fullmatch(line.strip()):
        return "ranks"
    if fields := _fields(line):
        return f"fields {' '.join(fields)}"
    for divider in _COLUMNS:
        if columns := len(divider.findall(line.strip())):
            return f"{divider.pattern} {columns}"
    return ""


def _table(kind: str, rows: Sequence[str]) -> list[str] | None:
    """The rows as a table of Markdown; None if they are none."""
    if kind == "scores":
        return _of_scores(rows)
    if kind == "reasons":
        found = [_REASONED.fullmatch(row.strip()) for row in rows]
        return list(_framed(["candidate"], [[each["n"]] for each in found if each]))
    if kind == "ranks":
        found = [_RANK_BEHIND.fullmatch(row.strip()) for row in rows]
        return list(
            _framed(
                ["title", "rank"],
                [[each["title"], each["rank"]] for each in found if each],
            ),
        )
    if kind.startswith("fields "):
        fields = [_fields(row) for row in rows]
        return list(_framed([*fields[0]], [[*each.values()] for each in fields]))
    for divider in _COLUMNS:
        if kind.startswith(divider.pattern):
            return [f"| {' | '.join(divider.split(row.strip()))} |" for row in rows]
    return None


def _of_scores(rows: Sequence[str]) -> list[str] | None:
    found = [match for row in rows if (match := _REFERENCE.fullmatch(row.strip()))]
    numbers = [int(each["n"]) for each in found]
    labelled = all(each["label"] for each in found)
    if not labelled and numbers == list(range(1, len(numbers) + 1)):
        return None  # ranks with ratings, or candidates with scores
    if any(measured(each["value"]) is None for each in found):
        return None
    if max(numbers) >= _TITLES_FROM:
        return None
    key = next((each["key"] for each in found if each["key"]), "score")
    return list(
        _framed(["candidate", key], [[each["n"], each["value"]] for each in found]),
    )


def _framed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _fields(line: str) -> Mapping[str, str]:
    """The fields of a line, at least two of which one says a rank or a score; else
    none.

    A part without a name is the title at the beginning, and a reason behind it.
    """
    parts = _FIELDS.split(line.strip())
    if len(parts) < 2:
        return {}
    fields: dict[str, str] = {}
    for at, part in enumerate(parts):
        named = _FIELD.match(part)
        key = field_name(named["key"]) if named else "reason" if at else "title"
        if key in fields and key == "reason":
            continue
        if key in fields or "|" in part:
            return {}
        fields[key] = named["value"] if named else part
    kinds = {field_of(key) for key in fields}
    first = next(iter(fields))
    titled = "title" in kinds or first in REFERENCES
    return fields if titled and kinds & {"rank", "score", "cost"} else {}


REFERENCES = frozenset(
    [
        "candidate",
        "doc",
        "document",
        "passage",
        "item_no",
        "item_number",
        "item_id",
        "movie_id",
        "product_id",
        "book_id",
        "candidate_number",
        "candidate_no",
        "candidate_id",
        "number",
        "no",
        "index",
        "id",
        "idx",
        "nr",
    ],
)
"""Names of a column that holds the candidates' numbers."""


def _numbers_joined(lines: list[str]) -> list[str]:
    """Lines, with numbers that stand alone above their entries in front of them."""
    alone = [at for at, line in enumerate(lines[:-1]) if _NUMBER_ALONE.match(line)]
    numbers = [int(lines[at].strip().rstrip(".)")) for at in alone]
    apart = all(second - first > 1 for first, second in pairwise(alone))
    if len(alone) < FEWEST or numbers != list(range(1, len(alone) + 1)) or not apart:
        return lines
    joined: list[str] = []
    for at, line in enumerate(lines):
        if at in alone:
            continue
        begun = at - 1 in alone
        joined.append(
            f"{lines[at - 1].strip().rstrip('.)')}. {line.lstrip(' :')}"
            if begun
            else line,
        )
    return joined
