"""Tables that commands write, with lines below them, in each format: terminal,
Markdown, LaTeX, CSV and HTML.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_recsys_mt.report.compared import say
from pytest_recsys_mt.report.markdown import in_markdown, in_table
from pytest_recsys_mt.report.outputs import raised_as_data_error, write_out
from pytest_recsys_mt.report.sheet import Cell, Sheet, Value
from pytest_recsys_mt.report.table import Column, write_cells
from pytest_recsys_mt.safety.sanitize import one_line

NONE = "–"


@dataclass(frozen=True)
class _Marks:
    bold: str
    raised: str
    text: Callable[[str], str]

    def cell(self, cell: Cell) -> str:
        value = cell if isinstance(cell, Value) else Value(None)
        text = self.text(plain(cell) if value is not cell else number(value.number))
        text = self.bold.format(text) if value.best else text
        text += self.raised.format(self.text(value.raised)) if value.raised else ""
        return text + _bounds(value)


def number(value: float | None) -> str:
    """A value with three decimals, or with four digits
    where it is large; a dash for none.
    """
    if value is None:
        return NONE
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def plain(cell: Cell) -> str:
    """A cell as text."""
    if isinstance(cell, Value):
        return (
            f"{number(cell.number)}{cell.raised and f' {cell.raised}'}{_bounds(cell)}"
        )
    return str(cell) if isinstance(cell, str | int) else number(cell)


def _bounds(value: Value) -> str:
    return " [{}, {}]".format(*map(number, value.bounds)) if value.bounds else ""


def write_sheets(
    output: Path | None,
    what: str,
    title: str,
    sheets: Sequence[Sheet],
    usual: str = ".md",
    **formats: Callable[[], str],
) -> None:
    """Print some tables in the format of the ending `usual`, or write them to a file in
    that of its ending, as `formats` say where they do. `what` names them in a word
    or two: ``leaderboard``.

    Raises:
        DataError: If the file cannot be written.
        MissingExtraError: If it is a page, and the libraries that make one are not
            installed.
    """
    ending = usual if output is None else output.suffix
    own = formats.get(ending.removeprefix("."))
    with raised_as_data_error("these are not records as --recsys-json writes them"):
        text = own() if own else WRITERS[ending](what, title, sheets)
    write_out(text, output, what)


def markdown(what: str, title: str, sheets: Sequence[Sheet]) -> str:
    """The tables in Markdown, as GitHub shows it."""
    marks = _Marks("**{}**", "<sup>{}</sup>", in_markdown)
    headed = any(sheet.level == 1 for sheet in sheets)
    parts = [] if headed else [f"# {in_markdown(title)}"]
    for sheet in sheets:
        if sheet.title:
            parts.append(f"{'#' * sheet.level} {in_markdown(sheet.title)}")
        if sheet.rows:
            head, *rows = [
                [*map(marks.cell, row)] for row in (sheet.columns, *sheet.rows)
            ]
            parts.append("\n".join(in_table(head, rows, sheet.wordy)))
        if sheet.notes:
            parts.append("\n".join(f"* {in_markdown(note)}" for note in sheet.notes))
    return "\n\n".join(parts) + "\n"


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "†": r"$\dagger$", "‡": r"$\ddagger$", "±": r"$\pm$", NONE: "--",
}  # fmt: skip


def in_latex(text: str) -> str:
    """A text as plain text of LaTeX."""
    return "".join(_TEX.get(char, char) for char in one_line(text))


def latex(what: str, title: str, sheets: Sequence[Sheet]) -> str:
    """The tables in LaTeX; they need the package booktabs."""
    marks = _Marks(r"\textbf{{{}}}", r"\textsuperscript{{{}}}", in_latex)
    parts, above = ["% needs \\usepackage{booktabs}"], ""
    for sheet in sheets:
        if not sheet.columns:
            above = f"{sheet.title}. " if sheet.title else above
        elif sheet.rows:
            head, *rows = (
                " & ".join(map(marks.cell, row)) + r" \\"
                for row in (sheet.columns, *sheet.rows)
            )
            sides = "l" * sheet.wordy + "r" * (len(sheet.columns) - sheet.wordy)
            lines = (
                r"\begin{table}", rf"\caption{{{in_latex(above + sheet.title)}.}}", rf"\begin{{tabular}}{{{sides}}}",
                r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}",
            )  # fmt: skip
            parts.append("\n".join(lines))
        parts += ["\n".join(f"% {one_line(note)}" for note in sheet.notes)] * bool(
            sheet.notes,
        )
    return "\n\n".join(parts) + "\n"


_FORMULA = re.compile(r"(?!-[\d.]+(e-?\d+)?( ± [\d.]+)?$)[=+\-@\t]")


def in_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, whose texts a spreadsheet does not take for formulas."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(
            f"'{x}" if isinstance(x, str) and _FORMULA.match(x) else x for x in row
        )
    return stream.getvalue()


def _comma_separated(what: str, title: str, sheets: Sequence[Sheet]) -> str:
    rows = [
        (sheet.title, plain(row[0]), column, plain(cell))
        for sheet in sheets
        for row in sheet.rows
        for column, cell in zip(sheet.columns[1:], row[1:], strict=True)
    ]
    return in_csv(("table", "line", "column", "cell"), rows)


class _Lines(io.StringIO):
    def write(self, text: str, **_: Any) -> int:
        return super().write(text)

    def write_line(self, text: str) -> None:
        self.write(f"{text}\n")


def _in_lines(what: str, title: str, sheets: Sequence[Sheet]) -> str:
    out = _Lines()
    say(out, title)
    for sheet in sheets:
        out.write_line("")
        say(out, sheet.title)
        if sheet.rows:
            columns = [
                Column(name, words=at == 0, marked=at == 1 and sheet.wordy > 1)
                for at, name in enumerate(sheet.columns)
            ]
            write_cells(out, columns, [[*map(plain, row)] for row in sheet.rows])
        for note in sheet.notes:
            say(out, note, "  ")
    return out.getvalue()


def _page(what: str, title: str, sheets: Sequence[Sheet]) -> str:
    from pytest_recsys_mt.report.html.page import fill, require_html
    from pytest_recsys_mt.report.html.sheet_drawings import drawn

    require_html()
    from markupsafe import Markup, escape

    marks = _Marks(
        "<b>{}</b>",
        "<sup>{}</sup>",
        lambda text: str(escape(one_line(text))),
    )
    contents = {
        "kicker": what,
        "title": one_line(title),
        "sheets": [(sheet, drawn(sheet) if sheet.drawn else "") for sheet in sheets],
        "deeper": any(sheet.level == 1 for sheet in sheets),
        "marked": lambda cell: Markup(marks.cell(cell)),
    }
    return fill("sheets.html.j2", contents)


WRITERS: Mapping[str, Callable[[str, str, Sequence[Sheet]], str]] = {
    ".txt": _in_lines,
    ".md": markdown,
    ".tex": latex,
    ".csv": _comma_separated,
    ".html": _page,
}
