"""A leaderboard in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_recsys_mt.report.leaderboard.board import Board, Cell, Line, Spent
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
    """One table: a heading, a title, the names of its columns, and its rows with theirs before them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def letters_of(board: Board) -> dict[str, str]:
    """The letter of each model that was run: a to z, then aa, ab, and so on."""
    return {model: _letter(place) for place, model in enumerate(board.models)}


def _letter(place: int) -> str:
    before, own = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + own)


def number(value: float) -> str:
    """A value with three decimals, or with three digits where it is large."""
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
    heads = [f"{marks.text(model)} ({letter})" for model, letter in letters.items()]

    def values(
        lines: Sequence[Line], published: Sequence[str], simple: Sequence[str]
    ) -> list[list[str]]:
        return [_values(line, board, published, simple, letters, marks) for line in lines]

    found = []
    if models_as_rows:
        for table, held in groupby(board.lines, key=lambda line: line.table):
            lines = list(held)
            names = [marks.text(line.name) for line in lines]
            better = " and ".join(sorted({line.better for line in lines} - {""}))
            printed = [name for name in board.published if any(name in x.published for x in lines)]
            simple = [name for name in board.baselines if any(name in x.baselines for x in lines)]
            first = [*heads, *_others(printed, simple, marks)]
            title = marks.text(table) + (f", {better} is better" if better else "")
            rows = [list(row) for row in zip(first, *values(lines, printed, simple), strict=True)]
            found.append(Sheet(title, ["model", *names], rows))
    else:
        first = [f"{marks.text(line.table)}{_own(line, marks)}" for line in board.lines]
        others = _others(board.published, board.baselines, marks)
        columns = ["measure", "better", *heads, *others]
        rows = [
            [name, line.better or NONE, *cells]
            for name, line, cells in zip(
                first,
                board.lines,
                values(board.lines, board.published, board.baselines),
                strict=True,
            )
        ]
        found.append(Sheet("All measures", columns, rows))
    if board.compared:
        found.append(_ahead(board, marks))
    return [*found, _spent(board, marks)]


def _own(line: Line, marks: Marks) -> str:
    """The name of a line behind that of its table, if the table does not say it."""
    return "" if line.table.startswith(f"{line.name}:") else f", {marks.text(line.name)}"


def _values(
    line: Line,
    board: Board,
    published: Sequence[str],
    simple: Sequence[str],
    letters: Mapping[str, str],
    marks: Marks,
) -> list[str]:
    run = (written(line.cells.get(model), letters, marks) for model in board.models)
    printed = (line.published.get(name) for name in published)
    ruled = (line.baselines.get(name) for name in simple)
    return [*run, *(NONE if value is None else number(value) for value in (*printed, *ruled))]


def _others(published: Sequence[str], simple: Sequence[str], marks: Marks) -> list[str]:
    """The names of what was not run as a model: published models, and simple rules."""
    return [
        *(f"{marks.text(name)} †" for name in published),
        *(f"{marks.text(name)} ‡" for name in simple),
    ]


def _ahead(board: Board, marks: Marks) -> Sheet:
    return Sheet(
        f"Measures on which the row is ahead of the column, of {len(board.lines)}",
        ["model", *(marks.text(model) for model in board.models)],
        [
            [
                marks.text(one),
                *(NONE if one == other else str(board.ahead(one, other)) for other in board.models),
            ]
            for one in board.models
        ],
    )


def _spent(board: Board, marks: Marks) -> Sheet:
    def cells(spent: Spent) -> list[str]:
        return [
            str(spent.calls),
            str(spent.tokens),
            NONE if spent.usd is None else f"{spent.usd:.4f}",
            NONE if spent.seconds is None else f"{spent.seconds:.1f}",
            NONE if spent.missed is None else f"{spent.missed:.3f}",
        ]

    return Sheet(
        "What the answers took",
        ["model", "calls", "tokens", "USD", "seconds", "missed rate"],
        [[marks.text(model), *cells(board.spent[model])] for model in board.models],
    )


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
            parts += [f"## {sheet.title}", markdown_table(sheet)]
        parts += [in_markdown(note) for note in notes(board)]
    return "\n\n".join(parts) + "\n"


def markdown_table(sheet: Sheet) -> str:
    """The table of a sheet whose texts are Markdown."""
    rows = [sheet.columns, ["---", *["---:"] * (len(sheet.columns) - 1)], *sheet.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


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
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for board in boards:
        for line in board.lines:
            about = (board.suite, board.data, line.table, line.name, line.metric, line.better)
            for model, cell in line.cells.items():
                bounds = cell.interval or ("", "")
                ahead = "; ".join(cell.ahead)
                row = (model, "run", cell.value, *bounds, cell.status, int(cell.best), ahead)
                writer.writerow(harmless(each) for each in (*about, *row))
            for model, value in line.published.items():
                row = (model, "published", value, "", "", "", "", "")
                writer.writerow(harmless(each) for each in (*about, *row))
            for name, value in line.baselines.items():
                row = (name, "baseline", value, "", "", "", "", "")
                writer.writerow(harmless(each) for each in (*about, *row))
    return stream.getvalue()


def harmless(value: object) -> object:
    """A text that a spreadsheet does not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t" and value else value


def in_markdown(text: str) -> str:
    """A text as plain text of Markdown."""
    return re.sub(r"([\\`*<>|\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", one_line(text))


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def in_latex(text: str) -> str:
    """A text as plain text of LaTeX."""
    return "".join(_TEX.get(char, char) for char in one_line(text))
