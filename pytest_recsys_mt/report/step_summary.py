"""The run as Markdown, for the page of a GitHub Actions job (``GITHUB_STEP_SUMMARY``)."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from pytest_recsys_mt.gate.comparison import name_of_row
from pytest_recsys_mt.gate.document import Comparison, Document, Row, measured, state_of
from pytest_recsys_mt.report.compared import changed

WORDS = {
    "holds": "holds",
    "violated": "**violated**",
    "inconclusive": "unclear",
    "error": "**error**",
    "not-applicable": "n/a",
    "known": "known",
    "mended": "**fixed**",
}
MOST = 200
"""Most lines of a table: GitHub shows no summary above a mebibyte."""


def append(path: Path, document: Document, written: Sequence[str] = ()) -> None:
    """Append the run to the file, after the output of other steps, and where its reports are."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(markdown(document))
        if written:
            stream.write(f"\nWrote {', '.join(map(cell, written))}.\n")


def markdown(document: Document) -> str:
    """The run as GitHub's Markdown.

    Args:
        document: The record.
    """
    gate = document["gate"]
    lines = [
        f"## recsys-mt: gate {gate['status']}",
        "",
        f"{cell(', '.join(document['models']))} on {cell(document['data'])}, seed {document['seed']}",
        "",
        cell(gate["sentence"]),
        "",
        *(f"* {cell(reason)}" for reason in gate["reasons"]),
        "",
    ]
    for comparison in gate["comparisons"]:
        lines += _comparison(comparison, document["results"])
    key = lambda row: (row["suite"], row["model"])
    for (suite, model), rows in groupby(sorted(document["results"], key=key), key=key):
        lines += [
            f"### {cell(suite)}, {cell(model or 'no model')}",
            "",
            "| relation | verdict | effect or value | bounds | limit | users |",
            "|---|---|---:|---:|---:|---:|",
            *_cut([_row(row) for row in rows]),
            "",
        ]
    commands = dict.fromkeys(row["reproduce"] for row in document["results"] if row["reproduce"])
    if commands:
        shown = "\n".join(html.escape(command) for command in list(commands)[:MOST])
        lines += [
            "<details><summary>To run this test again</summary>",
            f"<pre>{shown}</pre>",
            "</details>",
        ]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """`text` literally in a Markdown table: no markup, no link, no mention, no line break."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|~#@!])", lambda found: f"&#{ord(found[1])};", plain)


def _row(row: Row) -> str:
    _, value, limit = measured(row)
    word = WORDS[state_of(row)]
    if value is None or row["interval"] is None:
        return f"| {cell(name_of_row(row))} | {word} | {cell(row['reason'])[:300]} | | | |"
    low, high = row["interval"]
    shown = "" if limit is None else f"{limit:g}"
    approximate = " (approximate)" if row.get("approximate") else ""
    return (
        f"| {cell(name_of_row(row))} | {word} | {value:.3f} | {low:.3f} to {high:.3f}{approximate} | "
        f"{shown} | "
        f"{row['users']} |"
    )


def _comparison(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    where = comparison["baseline"] or "this run"
    lines = [
        f"### {cell(comparison['model'])} against {cell(comparison['against'])} of {cell(where)}",
        "",
        *(f"* refused: {cell(reason)}" for reason in comparison["refused"]),
    ]
    counts = comparison["counts"]
    lines += [", ".join(f"{count} {change}" for change, count in sorted(counts.items())), ""]
    told = list(changed(comparison, rows))
    if told:
        lines += ["| relation | change | worse by | bounds | margin | users |"]
        lines += ["|---|---|---:|---:|---:|---:|"]
        lines += _cut(
            [
                f"| {cell(name)} | {each['change']} | "
                f"{each['worse']:.3f} | {low:.3f} to {high:.3f} | "
                f"{each['margin']:g} | {each['users']} |"
                for name, each, (low, high) in told
            ]
        )
        lines += ["", cell(comparison["bounds"])]
    return [*lines, ""]


def _cut(lines: list[str]) -> list[str]:
    left = len(lines) - MOST
    return lines if left <= 0 else [*lines[:MOST], f"| and {left} more, in the record | | | | | |"]
