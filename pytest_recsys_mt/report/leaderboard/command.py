"""The command `recsys-mt leaderboard`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_recsys_mt.report.html.page import render_leaderboard
from pytest_recsys_mt.report.leaderboard.board import Board, boards_of
from pytest_recsys_mt.report.leaderboard.written import comma_separated, latex, markdown
from pytest_recsys_mt.report.outputs import put_out, record_at, require_output, told_as_data


def write_leaderboard(
    records: Sequence[Path], output: Path | None, suite: str, models: str | None
) -> None:
    """Write the boards of some records.

    Raises:
        DataError: If a record cannot be read or shown, or the file cannot be written.
    """
    require_output(output, _FORMATS, records)
    documents = [(str(path), record_at(path)) for path in records]
    with told_as_data("these are not records as --recsys-json writes them"):
        boards = boards_of(documents, suite)
        as_rows = any(map(_more_models, boards)) if models is None else models == "rows"
        text = _FORMATS[".md" if output is None else output.suffix](boards, models_as_rows=as_rows)
    put_out(text, output, "leaderboard")


def _more_models(board: Board) -> bool:
    """Whether a board has more models, published ones too, than measures of any test."""
    measures = Counter(line.table for line in board.lines)
    return len(board.models) + len(board.published) > max(measures.values())


_FORMATS: Mapping[str, Callable[..., str]] = {
    ".md": markdown,
    ".csv": lambda boards, models_as_rows: comma_separated(boards),
    ".tex": latex,
    ".html": render_leaderboard,
}
