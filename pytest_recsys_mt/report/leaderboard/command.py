"""The command `recsys-mt leaderboard`: the boards of some records as tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from pytest_recsys_mt.report.leaderboard.board import Board, boards_of
from pytest_recsys_mt.report.leaderboard.board import Cell as Measured
from pytest_recsys_mt.report.outputs import record_at, require_output, told_as_data
from pytest_recsys_mt.report.sheets import NONE, WRITERS, Cell, Sheet, Value, in_csv, write_sheets


def write_leaderboard(
    records: Sequence[Path], output: Path | None, suite: str, models: str | None
) -> None:
    """Write the boards of some records.

    Raises:
        DataError: If a record cannot be read or shown, or the file cannot be written.
    """
    require_output(output, WRITERS, records)
    documents = [(str(path), record_at(path)) for path in records]
    with told_as_data("these are not records as --recsys-json writes them"):
        boards = boards_of(documents, suite)
        as_rows = any(map(_more_models, boards)) if models is None else models == "rows"
        sheets = [each for board in boards for each in sheets_of(board, models_as_rows=as_rows)]
        count = len({model for board in boards for model in board.models})
        title = f"{count} models, {len(boards)} {'board' if len(boards) == 1 else 'boards'}"
    write_sheets(output, "leaderboard", title, sheets, csv=lambda: _comma_separated(boards))


def _more_models(board: Board) -> bool:
    measures = Counter(line.table for line in board.lines)
    return len(board.models) + len(board.published) > max(measures.values())


def _letter(place: int) -> str:
    before, own = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + own)


def _value(cell: Measured | None, letters: Mapping[str, str]) -> Value:
    if cell is None:
        return Value(None)
    ahead = "".join(letters[model] for model in cell.ahead)
    return Value(cell.value, cell.best, ahead, cell.interval)


def sheets_of(board: Board, *, models_as_rows: bool) -> list[Sheet]:
    """The tables of a board: its measures, who is ahead of whom, and what the answers took."""
    letters = {model: _letter(place) for place, model in enumerate(board.models)}
    models = [f"{model} ({letter})" for model, letter in letters.items()]
    parts = groupby(board.lines, key=lambda line: line.table) if models_as_rows else ()
    found = [Sheet(f"{board.suite} on {board.data}", level=1)]
    for table, held in parts or [("", board.lines)]:
        lines = list(held)
        printed = [name for name in board.published if any(name in x.published for x in lines)]
        simple = [name for name in board.baselines if any(name in x.baselines for x in lines)]
        heads = [*models, *(f"{name} †" for name in printed), *(f"{name} ‡" for name in simple)]
        cells = [
            [
                *(_value(line.cells.get(model), letters) for model in board.models),
                *(Value(line.published.get(name)) for name in printed),
                *(Value(line.baselines.get(name)) for name in simple),
            ]
            for line in lines
        ]
        if models_as_rows:
            better = " and ".join(sorted({line.better for line in lines} - {""}))
            title = table + (f", {better} is better" if better else "")
            rows = [[head, *row] for head, *row in zip(heads, *cells, strict=True)]
            found.append(Sheet(title, ["model", *(line.name for line in lines)], rows))
        else:
            rows = []
            for line, row in zip(lines, cells, strict=True):
                own = "" if line.table.startswith(f"{line.name}:") else f", {line.name}"
                rows.append([f"{line.table}{own}", line.better or NONE, *row])
            found.append(Sheet("All measures", ["measure", "better", *heads], rows, wordy=2))
    if board.compared:
        found.append(_ahead(board))
    return [*found, _spent(board), Sheet(notes=_notes(board))]


def _ahead(board: Board) -> Sheet:
    rows: list[list[Cell]] = [
        [one, *(NONE if one == other else board.ahead(one, other) for other in board.models)]
        for one in board.models
    ]
    title = f"Measures on which the row is ahead of the column, of {len(board.lines)}"
    return Sheet(title, ["model", *board.models], rows)


def _spent(board: Board) -> Sheet:
    rows: list[list[Cell]] = []
    for model in board.models:
        spent = board.spent[model]
        maybe = ((spent.usd, ".4f"), (spent.seconds, ".1f"), (spent.missed, ".3f"))
        shown = (NONE if value is None else format(value, form) for value, form in maybe)
        rows.append([model, spent.calls, spent.tokens, *shown])
    columns = ["model", "calls", "tokens", "USD", "seconds", "missed rate"]
    return Sheet("What the answers took", columns, rows)


def _notes(board: Board) -> list[str]:
    told = [
        "Values have the bounds of their verdicts. The best value of the models that were run is bold."
    ]
    if len(board.models) > 1 and not board.compared:
        told.append("No two values were compared: the records have no values per user of both.")
    elif len(board.models) > 1:
        told.append(
            f"The letters at a value name the models that it is ahead of, compared on the users (or questions) of "
            f"both: at most {board.alpha:.0%} of such boards name any wrongly (Holm's correction over all of them, both "
            f"ways). {board.compared} of {board.pairs} pairs of values were compared; the others have no values of the "
            f"same users."
        )
    if board.published:
        told.append(
            f"† Published, measured on other data or other questions: {'; '.join(board.sources)}."
        )
    if board.baselines:
        told.append("‡ Simple rules, computed on the questions that the models were asked.")
    for name, why in board.partial.items():
        told.append(f"{name} is the record of a partial run: {why}.")
    return told


CSV_COLUMNS = (
    "suite", "data", "table", "measure", "metric", "better", "model", "origin", "value", "low", "high", "status",
    "best", "ahead_of",
)  # fmt: skip


def _comma_separated(boards: Sequence[Board]) -> str:
    rows: list[tuple[object, ...]] = []
    for board in boards:
        for line in board.lines:
            about = (board.suite, board.data, line.table, line.name, line.metric, line.better)
            for model, cell in line.cells.items():
                bounds = cell.interval or ("", "")
                ahead = "; ".join(cell.ahead)
                run = (model, "run", cell.value, *bounds, cell.status, int(cell.best), ahead)
                rows.append((*about, *run))
            for origin, values in (("published", line.published), ("baseline", line.baselines)):
                for model, value in values.items():
                    rows.append((*about, model, origin, value, "", "", "", "", ""))
    return in_csv(CSV_COLUMNS, rows)
