"""The command `recsys-mt leaderboard`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from pytest_recsys_mt.errors import DataError, PolicyError
from pytest_recsys_mt.files import written_whole
from pytest_recsys_mt.gate.baseline import record_in
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.report.html.page import clean, render_leaderboard
from pytest_recsys_mt.report.leaderboard.board import Board, boards_of
from pytest_recsys_mt.report.leaderboard.written import comma_separated, latex, markdown


def write_leaderboard(
    records: Sequence[Path], output: Path | None, suite: str, models: str | None
) -> None:
    """Write the boards of some records.

    Args:
        records: As ``--recsys-json`` wrote them.
        output: The file; its ending says the format. None prints Markdown.
        suite: The only suite to show; empty for all.
        models: Whether models are ``rows`` or ``columns``; None decides by their number.

    Raises:
        DataError: If a record cannot be read or shown, or the file cannot be written.
    """
    if output is not None and output.suffix not in _FORMATS:
        raise DataError(
            f"{str(output)!r} has no known ending; give -o a file that ends in {', '.join(_FORMATS)}"
        )
    if output is not None and output.resolve() in (path.resolve() for path in records):
        raise DataError(f"{str(output)!r} is a record; name another file with -o")
    boards = boards_of([(str(path), record_at(path)) for path in records], suite)
    as_rows = any(map(_more_models, boards)) if models is None else models == "rows"
    text = _FORMATS[".md" if output is None else output.suffix](as_rows)(boards)
    if output is None:
        print(text, end="")
        return
    try:
        with written_whole(output, 0o644) as stream:
            stream.write(text)
    except OSError as error:
        raise DataError(f"{str(output)!r} cannot be written: {error.strerror}") from error
    print(f"leaderboard written to {output}")


def record_at(path: Path) -> Document:
    """The record in a file, harmless to show.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        return cast("Document", clean(record_in(path)))
    except PolicyError as error:
        raise DataError(f"{str(path)!r}: {error}") from error


def _more_models(board: Board) -> bool:
    """Whether a board has more models, published ones too, than measures of any test."""
    measures = Counter(line.table for line in board.lines)
    return len(board.models) + len(board.published) > max(measures.values())


_FORMATS: Mapping[str, Callable[[bool], Callable[[Sequence[Board]], str]]] = {
    ".md": lambda as_rows: partial(markdown, models_as_rows=as_rows),
    ".csv": lambda _: comma_separated,
    ".tex": lambda as_rows: partial(latex, models_as_rows=as_rows),
    ".html": lambda as_rows: partial(render_leaderboard, models_as_rows=as_rows),
}
