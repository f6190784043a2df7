"""The command `recsys-mt answers --user`: all answers to each question of one user."""

import math
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from pytest_recsys_mt.gate.baseline import document_in
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.report.outputs import raised_as_data_error
from pytest_recsys_mt.report.replicates import Column, Entry, base_of, columns_of
from pytest_recsys_mt.safety.errors import DataError, PolicyError
from pytest_recsys_mt.safety.sanitize import one_line, sanitize
from pytest_recsys_mt.safety.widths import cut_to, padded, width
from pytest_recsys_mt.verdict.wording import typed

LEAST_WIDTH = 40
"""Columns of a line on a terminal that has fewer."""

USUAL = (80, 24)
"""Columns and lines where there is no terminal."""

LABEL = 7
"""Columns of the rank, or of the name of a count."""

LEAST_ROOM = 15
"""Columns of an answer at least. As many answers as fit so stand side by side; of more,
as many stand in each block.
"""

NAMED = 8
"""Users whom an error names."""

SHOW = typed("show-user")
"""The option that keeps the answers of a user."""

LEGEND = (
    "Compared with the first answer: ~3 stood in place 3 there, + is not in it. ! is faulty: not offered, unknown, "
    "named twice, or in the history where the verdict is about that. lost: entries of the first answer that this one "
    "lacks; empty: how many places it is shorter than the longest."
)


@dataclass(frozen=True)
class _Question:
    """A request and its changed form, with all answers to both, and the verdicts on
    them.
    """

    model: str
    name: str
    columns: Sequence[Column]
    verdicts: Sequence[str]


def show_user(records: Sequence[Path], user: str, limit: int) -> Iterator[str]:
    """The lines that the command prints of each record.

    Args:
        records: The records.
        user: The id of the user.
        limit: Most questions of a record that are shown; 0 for all.

    Raises:
        DataError: If a file is no record, or no verdict of it shows an answer of the
            user.
    """
    for number, path in enumerate(records):
        if number:
            yield ""
        try:
            document: Document = document_in(path)  # type: ignore[assignment]
        except PolicyError as error:
            raise DataError(f"{str(path)!r}: {error}") from error
        with raised_as_data_error(
            f"{str(path)!r}: this is not a record as --recsys-json writes it",
        ):
            lines = list(_of_record(document, path, sanitize(user), limit))
        yield from lines


def _of_record(
    document: Document,
    path: Path,
    user: str,
    limit: int,
) -> Iterator[str]:
    rows = document["results"]
    questions = _questions(rows, user)
    judged = sum(user in (row.get("per_user") or {}) for row in rows)
    if not questions:
        raise _not_shown(rows, path, user, judged)
    verdicts = sum(len(question.verdicts) for question in questions)
    yield from _wrapped(
        f"user {user} on {document['data']}: {_counted(len(questions), 'question')}, with all answers that the record "
        f"has ({path})",
    )
    if judged > verdicts:
        yield from _wrapped(
            f"{_counted(judged - verdicts, 'more verdict')} on the user shows the answers of others; run again with "
            f"{SHOW}={user}",
        )
    yield from _wrapped(LEGEND)
    shown = questions[:limit] if limit else questions
    for question in shown:
        yield ""
        yield from _lines_of(question)
    left = len(questions) - len(shown)
    if left > 0:
        yield ""
        yield f"{left} more; --limit=0 shows all"


def _questions(rows: Sequence[Row], user: str) -> list[_Question]:
    """The questions of a user, each once, however many verdicts are on it."""
    found = []
    for row in rows:
        for example in row["examples"]:
            if example["user"] == user:
                columns = columns_of(example, row)
                name = row["relation"] or "the unchanged request"
                if row.get("against"):  # records of earlier versions lack it
                    name += f" against {row['against']}"
                found.append((row, name, columns))
    questions = []
    by_question = grouped(
        found,
        lambda each: (each[0]["model"], each[1], repr(each[2])),
    )
    for (model, name, _), alike in by_question.items():
        verdicts = [f"{row['oracle']} {row['status']}" for row, _, _ in alike]
        questions.append(_Question(model, name, alike[0][2], verdicts))
    return questions


def _not_shown(rows: Sequence[Row], path: Path, user: str, judged: int) -> DataError:
    """The error where no verdict shows an answer of a user."""
    shown = dict.fromkeys(each["user"] for row in rows for each in row["examples"])
    names = ", ".join(map(one_line, [*shown][:NAMED])) or "nobody"
    more = f" and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
    if judged:
        known = f"{_counted(judged, 'verdict')} of it is on this user, but a record keeps the answers of a few users of each"
        again = ""
    else:
        known = (
            "no verdict of it has a value of this user, who may not be in the data, or was not drawn, asked or answered (a "
            "record does not list the users of the data)"
        )
        again = f"if {user!r} is one, "
    return DataError(
        f"{str(path)!r} shows no answer of user {user!r}: {known}; it shows those of {names}{more}; {again}run again with "
        f"{SHOW}={user}, which asks nothing that the cache has",
    )


def _lines_of(question: _Question) -> Iterator[str]:
    """A question with its verdicts, and all answers to it."""
    yield from _wrapped(f"{question.model}: {question.name}")
    yield from _wrapped(f"    {', '.join(question.verdicts)}", indent=4)
    columns = question.columns
    if columns and not columns[0].is_base:
        yield from _wrapped(f"    compared with {base_of(columns)}", indent=4)
    blocks = math.ceil(len(columns) / ((_width() - LABEL) // (LEAST_ROOM + 1)))
    abreast = math.ceil(len(columns) / max(1, blocks))
    for begin in range(0, len(columns), max(1, abreast)):
        block = columns[begin : begin + abreast]
        if blocks > 1:
            end = begin + len(block)
            yield f"answers {begin + 1} to {end} of {len(columns)}"
        yield from _block(block, abreast)


def _block(columns: Sequence[Column], abreast: int) -> Iterator[str]:
    """Some answers side by side, with their counts below."""
    room = (_width() - LABEL) // abreast - 1
    yield _line("", [column.name for column in columns], room)
    by_rank = zip_longest(*(column.entries for column in columns))
    rank = 0
    for rank, entries in enumerate(by_rank, 1):
        cells = [_cell(entry, room) for entry in entries]
        yield _line(f"{rank:>3}", cells, room)
    if not rank:
        yield _line("", ["(nothing)"] * len(columns), room)
    for name in columns[0].counts:
        counts = [column.counts[name] for column in columns]
        if any(counts):
            yield _line(name, [str(count) for count in counts], room)


def _cell(entry: Entry | None, room: int) -> str:
    """A title with its marks; a dash where the answer has ended."""
    if entry is None:
        return "-"
    marks = {"moved": f"~{entry.was} ", "new": "+ "}.get(entry.change, "")
    if entry.fault:
        marks += "! "
    return marks + cut_to(one_line(entry.title), room - len(marks))


def _line(label: str, cells: Sequence[str], room: int) -> str:
    text = f"{label:<{LABEL}}" + " ".join(padded(cell, room) for cell in cells)
    return text.rstrip()


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _width() -> int:
    """The columns of a line."""
    return max(LEAST_WIDTH, shutil.get_terminal_size(USUAL).columns)


_FILLER = "\0"
"""Stands behind a wide character, so that it counts twice; safe text has none."""


def _wrapped(text: str, indent: int = 0) -> list[str]:
    """A text in lines that fit, the first with the spaces that it begins with."""
    lead = text[: len(text) - len(text.lstrip())]
    counted = [each + _FILLER * (width(each) - 1) for each in one_line(text)]
    lines = textwrap.wrap(
        "".join(counted),
        _width(),
        initial_indent=lead,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
    return [line.replace(_FILLER, "") for line in lines]
