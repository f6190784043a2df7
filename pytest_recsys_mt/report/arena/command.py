"""The command `recsys-mt arena`: the page of an arena, as HTML or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.report.arena.tables import Cell, Table, tables_of
from pytest_recsys_mt.report.html.page import source_of
from pytest_recsys_mt.report.markdown import in_markdown, in_table
from pytest_recsys_mt.report.outputs import put_out, record_at, require_output, told_as_data
from pytest_recsys_mt.sanitize import one_line

ENDINGS = (".html", ".md")
COLOURS = ("#2b6cb0", "#a0aec0", "#c05621", "#2f855a")
WIDTH, BAR, LABEL, GAP = 420, 14, 260, 6
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:.5rem 0}th,td{border-bottom:1px solid #bbb;padding:.2rem .6rem;"
    "text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "section{overflow-x:auto}"
)


def write_arena(record: Path, output: Path | None) -> None:
    """Write the page of an arena.

    Raises:
        DataError: If the record cannot be read or has no arena, or the file cannot be written.
    """
    require_output(output, ENDINGS, [record])
    document = record_at(record)
    with told_as_data(f"{str(record)!r} is not a record as --recsys-json writes it"):
        tables = tables_of(document)
    if not tables:
        raise DataError(
            f"{str(record)!r} has no verdict of an arena; run pytest --pyargs "
            f"pytest_recsys_mt.suites.arena --recsys-judge=SPEC --recsys-json=FILE"
        )
    as_html = output is not None and output.suffix == ".html"
    put_out(page(tables) if as_html else markdown(tables), output, "arena")


def markdown(tables: Sequence[Table]) -> str:
    """The tables in Markdown."""
    out = ["# Arena"]
    for table in tables:
        out.append(f"## {in_markdown(table.title)}")
        columns, *rows = (
            [in_markdown(_shown(cell)) for cell in row] for row in (table.columns, *table.rows)
        )
        out.append("\n".join(in_table(columns, rows, ["---"] * len(columns))))
        if table.note:
            out.append(in_markdown(table.note))
    return "\n\n".join(out) + "\n"


def page(tables: Sequence[Table]) -> str:
    """The tables and their drawings as one HTML file that loads nothing and runs nothing."""
    policy = f"default-src 'none'; style-src {source_of(STYLE)}"
    sections = "\n".join(map(_section, tables))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width"><title>Arena</title>'
        f"<style>{STYLE}</style></head>\n<body>\n<h1>Arena</h1>\n{sections}\n</body></html>\n"
    )


def _section(table: Table) -> str:
    head = "".join(f"<th>{_in_html(name)}</th>" for name in table.columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    note = f"<p>{_in_html(table.note)}</p>" if table.note else ""
    return (
        f"<section><h2>{_in_html(table.title)}</h2>{_drawing(table)}{note}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></section>"
    )


def _cell(cell: Cell) -> str:
    number = ' class="n"' if isinstance(cell, (int, float)) else ""
    return f"<td{number}>{_in_html(_shown(cell))}</td>"


def _drawing(table: Table) -> str:
    if not table.drawn:
        return ""
    numbers = [
        [value if isinstance(value := row[at], float) else 0.0 for at in table.bars]
        for row in table.rows
    ]
    stacked = table.drawn == "stacked"
    largest = max((sum(row) if stacked else max(row) for row in numbers), default=0.0) or 1.0
    parts: list[str] = []
    top = 0.0
    for row, values in zip(table.rows, numbers, strict=True):
        height = BAR if stacked else BAR * len(values)
        parts.append(
            f'<text x="{LABEL - 8}" y="{top + height / 2 + 4:g}" text-anchor="end" font-size="12">'
            f"{_in_html(_shown(row[0])[:40])}</text>"
        )
        left = 0.0
        for at, value in enumerate(values):
            width = WIDTH * value / largest
            x, y = (left, top) if stacked else (0.0, top + BAR * at)
            told = f"{table.columns[table.bars[at]]}: {_shown(row[table.bars[at]])}"
            parts.append(
                f'<rect x="{LABEL + x:.1f}" y="{y:g}" width="{width:.1f}" height="{BAR - 2}" '
                f'fill="{COLOURS[at % len(COLOURS)]}"><title>{_in_html(told)}</title></rect>'
            )
            left += width
        top += height + GAP
    for at, column in enumerate(table.bars):
        x = LABEL + 130 * at
        parts.append(
            f'<rect x="{x}" y="{top + 4:g}" width="10" height="10" fill="{COLOURS[at % len(COLOURS)]}"/>'
            f'<text x="{x + 14}" y="{top + 13:g}" font-size="12">{_in_html(table.columns[column])}</text>'
        )
    label, width = _in_html(table.title), LABEL + WIDTH + 10
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {width} {top + 24:g}" width="{width}">'
        f"{''.join(parts)}</svg>"
    )


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return str(cell)


def _in_html(text: str) -> str:
    return escape(one_line(text), quote=True)
