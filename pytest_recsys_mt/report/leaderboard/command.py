"""The command `recsys-mt leaderboard`: the boards of some records as tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from pytest_recsys_mt.report.leaderboard.board import Board, boards_of
from pytest_recsys_mt.report.leaderboard.lines import Cell as Measured
from pytest_recsys_mt.report.leaderboard.lines import Line
from pytest_recsys_mt.report.outputs import (
    raised_as_data_error,
    record_at,
    require_output,
)
from pytest_recsys_mt.report.sheet import Cell, Sheet, Value
from pytest_recsys_mt.report.sheets import NONE, WRITERS, in_csv, write_sheets


def write_leaderboard(
    records: Sequence[Path],
    output: Path | None,
    suite: str,
    models: str | None,
) -> None:
    """Write the boards of some records.

    Args:
        records: The records.
        output: The file to write; None for the terminal.
        suite: The suite whose boards are written; empty for all.
        models: ``rows`` or ``columns``; None for the one with the narrower tables.

    Raises:
        DataError: If a record cannot be read or shown, or the file cannot be written.
    """
    require_output(output, WRITERS, records)
    documents = [(str(path), record_at(path)) for path in records]
    with raised_as_data_error("these are not records as --recsys-json writes them"):
        boards = boards_of(documents, suite)
        if models is None:
            as_rows = any(_has_more_models_than_measures(board) for board in boards)
        else:
            as_rows = models == "rows"
        sheets: list[Sheet] = []
        every_model: set[str] = set()
        for board in boards:
            sheets += sheets_of(board, models_as_rows=as_rows)
            every_model.update(board.models)
        noun = "board" if len(boards) == 1 else "boards"
        title = f"{len(every_model)} models, {len(boards)} {noun}"
    write_sheets(
        output,
        "leaderboard",
        title,
        sheets,
        csv=lambda: _comma_separated(boards),
    )


def _has_more_models_than_measures(board: Board) -> bool:
    measures_by_table = Counter(line.table for line in board.lines)
    most_measures = max(measures_by_table.values())
    models = len(board.models) + len(board.published)
    return models > most_measures


def _letter(place: int) -> str:
    """The letters of a place from 0: a to z, then aa, ab and so on, as columns of
    spreadsheets are called.
    """
    before, last = divmod(place, 26)
    leading = _letter(before - 1) if before else ""
    return leading + chr(ord("a") + last)


def _value(cell: Measured | None, letters: Mapping[str, str]) -> Value:
    """The cell of a sheet; `letters` are those of the models."""
    if cell is None:
        return Value(None)
    ahead = "".join(letters[model] for model in cell.ahead)
    return Value(cell.value, cell.best, ahead, cell.interval)


def sheets_of(board: Board, *, models_as_rows: bool) -> list[Sheet]:
    """The tables of a board: its measures, who is ahead
    of whom, and the cost of the answers.
    """
    heading = f"{board.suite} on {board.data}"
    sheets = [Sheet(heading, level=1)]
    if models_as_rows:
        for table, lines in groupby(board.lines, key=lambda line: line.table):
            sheets.append(_models_as_rows(board, table, list(lines)))
    else:
        sheets.append(_models_as_columns(board))
    if board.compared:
        sheets.append(_ahead(board))
    return [*sheets, _spent(board), Sheet(notes=_notes(board))]


def _models_as_rows(board: Board, table: str, lines: Sequence[Line]) -> Sheet:
    """The measures of one table as columns."""
    rows: list[list[Cell]] = []
    for heading, values in _values_by_model(board, lines).items():
        rows.append([heading, *values])
    names = ["model"]
    names += [line.name for line in lines]
    directions = {line.better for line in lines if line.better}
    better = " and ".join(sorted(directions))
    title = f"{table}, {better} is better" if better else table
    return Sheet(title, names, rows)


def _models_as_columns(board: Board) -> Sheet:
    """All measures as rows."""
    values_by_model = _values_by_model(board, board.lines)
    rows: list[list[Cell]] = []
    for place, line in enumerate(board.lines):
        is_named = line.table.startswith(f"{line.name}:")
        measure = line.table if is_named else f"{line.table}, {line.name}"
        values = [
            values_of_model[place] for values_of_model in values_by_model.values()
        ]
        rows.append([measure, line.better or NONE, *values])
    return Sheet("All measures", ["measure", "better", *values_by_model], rows, wordy=2)


def _values_by_model(board: Board, lines: Sequence[Line]) -> dict[str, list[Value]]:
    """The values of some lines by the headings of models: those that were run,
    published ones, and simple rules.
    """
    letters = {model: _letter(place) for place, model in enumerate(board.models)}
    values: dict[str, list[Value]] = {}
    for model, letter in letters.items():
        heading = f"{model} ({letter})"
        cells = [line.cells.get(model) for line in lines]
        values[heading] = [_value(cell, letters) for cell in cells]
    # Names that have no value in these lines get no column.
    for name in board.published:
        numbers = [line.published.get(name) for line in lines]
        if any(name in line.published for line in lines):
            values[f"{name} †"] = [Value(number) for number in numbers]
    for name in board.baselines:
        numbers = [line.baselines.get(name) for line in lines]
        if any(name in line.baselines for line in lines):
            values[f"{name} ‡"] = [Value(number) for number in numbers]
    return values


def _ahead(board: Board) -> Sheet:
    """On how many measures each model is ahead of each other."""
    rows: list[list[Cell]] = []
    for one in board.models:
        row: list[Cell] = [one]
        for other in board.models:
            row.append(NONE if one == other else board.ahead(one, other))
        rows.append(row)
    title = f"Measures on which the row is ahead of the column, of {len(board.lines)}"
    return Sheet(title, ["model", *board.models], rows)


def _spent(board: Board) -> Sheet:
    """The calls of each model, their tokens, US dollars and seconds, and the share of
    answers without a choice.
    """
    rows: list[list[Cell]] = []
    for model in board.models:
        spent = board.spent[model]
        usd = NONE if spent.usd is None else f"{spent.usd:.4f}"
        seconds = NONE if spent.seconds is None else f"{spent.seconds:.1f}"
        missed = NONE if spent.missed is None else f"{spent.missed:.3f}"
        rows.append([model, spent.calls, spent.tokens, usd, seconds, missed])
    columns = ["model", "calls", "tokens", "USD", "seconds", "missed rate"]
    return Sheet("What the answers took", columns, rows)


def _notes(board: Board) -> list[str]:
    """How to read the tables."""
    notes = [
        "Values have the bounds of their verdicts. The best value of the models that were run is bold.",
    ]
    if len(board.models) > 1 and not board.compared:
        notes.append(
            "No two values were compared: the records have no values per user of both.",
        )
    elif len(board.models) > 1:
        notes.append(
            f"The letters at a value name the models that it is ahead of, compared on the users (or questions) of "
            f"both: at most {board.alpha:.0%} of such boards name any wrongly (Holm's correction over all of them, both "
            f"ways). {board.compared} of {board.pairs} pairs of values were compared; the others have no values of the "
            f"same users.",
        )
    if board.published:
        sources = "; ".join(board.sources)
        notes.append(
            f"† Published, measured on other data or other questions: {sources}.",
        )
    if board.baselines:
        notes.append(
            "‡ Simple rules, computed on the questions that the models were asked.",
        )
    for name, why in board.partial.items():
        notes.append(f"{name} is the record of a partial run: {why}.")
    return notes


CSV_COLUMNS = (
    # The measure.
    "suite",
    "data",
    "table",
    "measure",
    "metric",
    "better",
    # Of whom: a model that was run, a published one, or a simple rule.
    "model",
    "origin",
    # The value; the rest only of models that were run.
    "value",
    "low",
    "high",
    "status",
    "best",
    "ahead_of",
)

_ONLY_OF_MODELS = CSV_COLUMNS[CSV_COLUMNS.index("value") + 1 :]


def _comma_separated(boards: Sequence[Board]) -> str:
    """One line for each value, published ones and those of simple rules among them."""
    rows: list[tuple[object, ...]] = []
    empty = [""] * len(_ONLY_OF_MODELS)
    for board in boards:
        for line in board.lines:
            measure = (
                board.suite,
                board.data,
                line.table,
                line.name,
                line.metric,
                line.better,
            )
            for model, cell in line.cells.items():
                low, high = cell.interval or ("", "")
                is_best = int(cell.best)
                ahead_of = "; ".join(cell.ahead)
                verdict = (cell.value, low, high, cell.status, is_best, ahead_of)
                rows.append((*measure, model, "run", *verdict))
            for name, value in line.published.items():
                rows.append((*measure, name, "published", value, *empty))
            for name, value in line.baselines.items():
                rows.append((*measure, name, "baseline", value, *empty))
    return in_csv(CSV_COLUMNS, rows)
