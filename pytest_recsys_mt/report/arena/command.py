"""The command `recsys-mt arena`: what a record says of an arena, in the form of figures 3, 4 and 6 of "RecSys Arena".

The paper (https://arxiv.org/abs/2412.11068) prints no numbers of the figures; Tables 1 and 2 are published numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.document import Document, Row, detail_of
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

PUBLISHED = {"NRMS": (0.7521, 1.9485), "LightGCN": (0.6824, 1.9139), "SASRec": (0.6772, 1.7884),
             "DeepFM": (0.6146, 1.7237)}  # fmt: skip
"""AUC (Table 1) and Q against FM (Table 2) on MovieLens, judged by GPT-4o."""

OF_JUDGES = ("judge:", "judge_sees:", "judge_seldom:")

Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """A table; it is drawn by the columns `bars`, as stacked shares or each number as a bar."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    drawn: Literal["", "stacked", "bars"] = ""
    bars: Sequence[int] = ()


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


def tables_of(document: Document) -> list[Table]:
    """The tables of a record; empty if it has no arena."""
    rows = [row for row in document["results"] if "arena" in row["suite"]]
    league = next((each for row in rows if (each := detail_of(row, "league"))), None)
    pairs = league["pairs"] if league else list(_pairs(rows))
    return [
        *_verdicts(rows),
        *(_of_pairs(pairs) if pairs else ()),
        *(_of_league(league) if league else ()),
        *_published(rows),
    ]


def _pairs(rows: Iterable[Row]) -> Iterable[Mapping[str, Any]]:
    """The comparisons with the baseline, for a run without a league."""
    for row in rows:
        figures = detail_of(row, "figures") or {}
        if row["oracle"] == "preferred:overall" and "won" in figures:
            other = row["relation"].partition(" against ")[2]
            yield {
                **figures,
                "one": row["model"],
                "other": other,
                "clear": row["status"] != "inconclusive",
            }


def _verdicts(rows: Sequence[Row]) -> Iterable[Table]:
    for title, of_judges in (("The judge under test", True), ("The recommenders", False)):
        found = [
            (
                row["model"],
                row["oracle"].partition(":")[2] if of_judges else row["relation"],
                row["status"],
                row.get("estimate"),
                "[{:.2f}, {:.2f}]".format(*ends) if (ends := row.get("interval")) else "",
                row.get("users"),
                row.get("reason") or "",
            )
            for row in rows
            if row["oracle"].startswith(OF_JUDGES) is of_judges
            and row["status"] != "not-applicable"
        ]
        columns = ("recommender", "test", "verdict", "effect", "interval", "users", "why")
        if found:
            yield Table(title, columns, found)


def _of_pairs(pairs: Sequence[Mapping[str, Any]]) -> Iterable[Table]:
    names = [f"{pair['one']} against {pair['other']}" for pair in pairs]
    shares = []
    for name, pair in zip(names, pairs, strict=True):
        counts = [pair["won"], pair["tied"], pair["lost"]]
        percent = [100 * count / (sum(counts) or 1.0) for count in counts]
        shares.append((name, *percent, pair["not read"], "" if pair["clear"] else "not clear"))
    columns = ("Q", "Q, lower bound", "Q, upper bound")
    yield Table(
        "Figure 3: won, tied and lost by the first of each pair, percent",
        ("pair", "won", "tied", "lost", "not read", ""),
        shares,
        "Each pair of lists was shown in both orders; the paper shows one.",
        "stacked",
        (1, 2, 3),
    )
    yield Table(
        "Figure 4: Q of each pair",
        ("pair", "Q", "lower bound", "upper bound"),
        [(name, *map(pair.get, columns)) for name, pair in zip(names, pairs, strict=True)],
        "Q = (won + tied) / (lost + tied); intervals of 95 % over users.",
        "bars",
        (1,),
    )


def _of_league(league: Mapping[str, Any]) -> Iterable[Table]:
    systems = league["systems"]
    metrics = [name for name in systems[0] if name not in ("name", "strength", "low", "high")]
    place = league["first place"]
    yield Table(
        "Strengths",
        ("recommender", "strength", "lower bound", "upper bound", *metrics),
        [
            tuple(each[name] for name in ("name", "strength", "low", "high", *metrics))
            for each in systems
        ],
        f"Bradley-Terry, natural logarithms of odds; intervals of 95 % over users. The list shown first "
        f"has an advantage of {place['value']:.2f} [{place['low']:.2f}, {place['high']:.2f}].",
    )
    names = [each["name"] for each in systems]
    q = {(each["one"], each["other"]): each["Q"] for each in league["pairs"]}
    yield Table(
        "Q of the row against the column",
        ("", *names),
        [(one, *(_of_both(q, one, other) for other in names)) for one in names],
    )
    kinds = sorted({kind for each in league["aspects"].values() for kind in each["correlations"]})
    yield Table(
        "Correlation of strengths with offline metrics, by aspect",
        ("aspect", *kinds),
        [
            (name, *(each["correlations"].get(kind, "") for kind in kinds))
            for name, each in league["aspects"].items()
        ],
        f"Over {len(names)} recommenders; with so few, little is significant.",
    )
    normalised = league["normalised"]
    if normalised:
        columns = list(normalised)
        own = [name for name in names if name in normalised[columns[0]]]
        yield Table(
            "Figure 6: relative and absolute, each divided by its largest",
            ("recommender", *columns),
            [(name, *(normalised[column][name] for column in columns)) for name in own],
            f"Q is against {league['baseline']}. The more bars of one colour differ, the better it tells "
            "the recommenders apart.",
            "bars",
            range(1, len(columns) + 1),
        )
    best = [max(values) for values in zip(*PUBLISHED.values(), strict=True)]
    yield Table(
        "Figure 6, published: GPT-4o on MovieLens",
        ("recommender", "AUC", "Q"),
        [(name, auc / best[0], q / best[1]) for name, (auc, q) in PUBLISHED.items()],
        "From Tables 1 and 2 of the paper, which prints no absolute scores.",
        "bars",
        (1, 2),
    )


def _of_both(q: Mapping[tuple[str, str], Cell], one: str, other: str) -> Cell:
    """Q of a pair, which is the reciprocal the other way round."""
    if one == other:
        return None
    if (one, other) in q:
        return q[one, other]
    value = q[other, one]
    if not isinstance(value, float):
        return 0.0 if str(value).startswith("infinite") else value
    return 1 / value if value else "infinite"


def _published(rows: Iterable[Row]) -> Iterable[Table]:
    given = next((each for row in rows if (each := detail_of(row, "published"))), None)
    if given:
        yield Table(f"Published: {given['source']}", given["columns"], given["rows"])


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
