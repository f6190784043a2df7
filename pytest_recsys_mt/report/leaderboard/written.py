"""A leaderboard in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_recsys_mt.report.leaderboard.board import Board, Cell
from pytest_recsys_mt.report.markdown import in_markdown, in_table
from pytest_recsys_mt.sanitize import one_line

NONE = "–"


@dataclass(frozen=True)
class Marks:
    """How one format writes what stands out, and plain text."""

    bold: Callable[[str], str]
    raised: Callable[[str], str]
    text: Callable[[str], str]


@dataclass(frozen=True)
class Sheet:
    """One table, of texts that a format has marked up: its rows begin with their names."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def letters_of(board: Board) -> dict[str, str]:
    """The letter of each model that was run: a to z, then aa, ab, and so on."""
    return {model: _letter(place) for place, model in enumerate(board.models)}


def _letter(place: int) -> str:
    before, own = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + own)


def number(value: float | None) -> str:
    """A value with three decimals, or with three digits where it is large; a dash for none."""
    if value is None:
        return NONE
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def written(cell: Cell | None, letters: Mapping[str, str], marks: Marks) -> str:
    """A cell: the value, bold where it is the best, the letters of those behind it, the bounds."""
    if cell is None:
        return NONE
    told = marks.bold(number(cell.value)) if cell.best else number(cell.value)
    told += marks.raised("".join(letters[model] for model in cell.ahead)) if cell.ahead else ""
    if cell.interval is None:
        return told
    low, high = map(number, cell.interval)
    return f"{told} [{low}, {high}]"


def sheets(board: Board, marks: Marks, *, models_as_rows: bool) -> list[Sheet]:
    """The tables of a board: its measures, who is ahead of whom, and what the answers took."""
    letters = letters_of(board)
    models = [f"{marks.text(model)} ({letter})" for model, letter in letters.items()]
    parts = groupby(board.lines, key=lambda line: line.table) if models_as_rows else ()
    found = []
    for table, held in parts or [("", board.lines)]:
        lines = list(held)
        printed = [name for name in board.published if any(name in x.published for x in lines)]
        simple = [name for name in board.baselines if any(name in x.baselines for x in lines)]
        heads = [
            *models,
            *(f"{marks.text(name)} †" for name in printed),
            *(f"{marks.text(name)} ‡" for name in simple),
        ]
        cells = [
            [
                *(written(line.cells.get(model), letters, marks) for model in board.models),
                *(number(line.published.get(name)) for name in printed),
                *(number(line.baselines.get(name)) for name in simple),
            ]
            for line in lines
        ]
        if models_as_rows:
            better = " and ".join(sorted({line.better for line in lines} - {""}))
            title = marks.text(table) + (f", {better} is better" if better else "")
            rows = [list(row) for row in zip(heads, *cells, strict=True)]
            found.append(Sheet(title, ["model", *(marks.text(x.name) for x in lines)], rows))
        else:
            rows = []
            for line, row in zip(lines, cells, strict=True):
                told = line.table.startswith(f"{line.name}:")
                own = "" if told else f", {marks.text(line.name)}"
                rows.append([f"{marks.text(line.table)}{own}", line.better or NONE, *row])
            found.append(Sheet("All measures", ["measure", "better", *heads], rows))
    if board.compared:
        found.append(_ahead(board, marks))
    return [*found, _spent(board, marks)]


def _ahead(board: Board, marks: Marks) -> Sheet:
    rows = []
    for one in board.models:
        ahead = (NONE if one == other else str(board.ahead(one, other)) for other in board.models)
        rows.append([marks.text(one), *ahead])
    title = f"Measures on which the row is ahead of the column, of {len(board.lines)}"
    return Sheet(title, ["model", *map(marks.text, board.models)], rows)


def _spent(board: Board, marks: Marks) -> Sheet:
    rows = []
    for model in board.models:
        spent = board.spent[model]
        known = (f"{spent.calls}", f"{spent.tokens}")
        maybe = ((spent.usd, ".4f"), (spent.seconds, ".1f"), (spent.missed, ".3f"))
        shown = (NONE if value is None else format(value, form) for value, form in maybe)
        rows.append([marks.text(model), *known, *shown])
    columns = ["model", "calls", "tokens", "USD", "seconds", "missed rate"]
    return Sheet("What the answers took", columns, rows)


def notes(board: Board) -> list[str]:
    """What a reader must know of the tables, in sentences."""
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


# ---- formats ----


def markdown(boards: Sequence[Board], *, models_as_rows: bool) -> str:
    """The boards in Markdown, as GitHub shows it."""
    marks = Marks(lambda text: f"**{text}**", lambda text: f"<sup>{text}</sup>", in_markdown)
    parts = []
    for board in boards:
        parts.append(f"# {in_markdown(board.suite)} on {in_markdown(board.data)}")
        for sheet in sheets(board, marks, models_as_rows=models_as_rows):
            parts += [f"## {sheet.title}", "\n".join(in_table(sheet.columns, sheet.rows))]
        parts += [in_markdown(note) for note in notes(board)]
    return "\n\n".join(parts) + "\n"


def latex_table(title: str, sheet: Sheet) -> str:
    """The table of a sheet whose texts are LaTeX, with booktabs."""
    lines = [
        r"\begin{table}",
        rf"\caption{{{title}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(sheet.columns) - 1)}}}",
        r"\toprule",
        " & ".join(sheet.columns) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in sheet.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    marked = "\n".join(lines).replace("†", r"$\dagger$").replace("‡", r"$\ddagger$")
    return marked.replace(NONE, "--")


def latex(boards: Sequence[Board], *, models_as_rows: bool) -> str:
    """The boards as tables of LaTeX; they need the package booktabs."""
    marks = Marks(
        lambda text: rf"\textbf{{{text}}}", lambda text: rf"\textsuperscript{{{text}}}", in_latex
    )
    parts = ["% needs \\usepackage{booktabs}"]
    for board in boards:
        for sheet in sheets(board, marks, models_as_rows=models_as_rows):
            title = f"{in_latex(board.suite)} on {in_latex(board.data)}. {sheet.title}."
            parts.append(latex_table(title, sheet))
        parts.append("\n".join(f"% {one_line(note)}" for note in notes(board)))
    return "\n\n".join(parts) + "\n"


CSV_COLUMNS = (
    "suite", "data", "table", "measure", "metric", "better", "model", "origin", "value", "low", "high", "status",
    "best", "ahead_of",
)  # fmt: skip


def comma_separated(boards: Sequence[Board]) -> str:
    """The boards as a table with a line for each value, for pandas and R."""
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


def in_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, whose texts a spreadsheet does not take for formulas."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(
            f"'{each}" if isinstance(each, str) and each.startswith(tuple("=+-@\t")) else each
            for each in row
        )
    return stream.getvalue()


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def in_latex(text: str) -> str:
    """A text as plain text of LaTeX."""
    return "".join(_TEX.get(char, char) for char in one_line(text))
