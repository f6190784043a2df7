"""The run as Markdown, for the page of a GitHub Actions job (``GITHUB_STEP_SUMMARY``)."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from pytest_recsys_mt.gate.document import Comparison, Document, Row, grouped, measured, state_of
from pytest_recsys_mt.report.compared import ONE_RUN, changed
from pytest_recsys_mt.report.folding import (
    Unsettled,
    inapplicable,
    told_of,
    unsettled,
    vacuous,
)
from pytest_recsys_mt.report.judged import is_quick, judged, read_in_words
from pytest_recsys_mt.report.measures import limit_in_short
from pytest_recsys_mt.report.short_names import named

WORDS = {
    "violated": "**violated**",
    "inconclusive": "inconclusive",
    "error": "**error**",
    "known": "known",
    "mended": "**fixed**",
}
LONGEST = 600
"""Most characters of a sentence; the record has all of it."""
MOST = 200
"""Most lines of a table: GitHub shows no summary above a mebibyte."""


def append(path: Path, document: Document, written: Sequence[str] = ()) -> None:
    """Append the run to the file, after the output of other steps, and where its reports are."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(markdown(document))
        if written:
            stream.write(f"\nWrote {', '.join(map(cell, written))}.\n")


def markdown(document: Document) -> str:
    """The run as GitHub's Markdown."""
    gate = document["gate"]
    lines = [
        f"## recsys-mt: gate {gate['status']}{' (a quick look)' if is_quick(document) else ''}",
        "",
        f"{cell(', '.join(document['models']))} on {cell(document['data'])}, seed {document['seed']}",
        "",
        cell(gate["sentence"]),
        "",
        *(f"{cell(text)}.\n" for text in [judged(document)] if text),
        *_cut(_reasons(document), "* and {} more, in the record"),
        "",
        *(f"{cell(read_in_words(*each))}.\n" for each in document["readings"].items()),
    ]
    for comparison in gate["comparisons"]:
        lines += _comparison(comparison, document["results"])
    rows = document["results"]
    several = len({row["model"] for row in rows if row["model"]}) > 1
    found = [_entry(each, several) for each in unsettled(rows)]
    if found:
        lines += ["### What does not hold", "", *_cut(found, "* and {} more, in the record"), ""]
    folded = (*vacuous(rows), *inapplicable(rows))
    lines += [*_green(rows), *(f"* {cell(text)}" for text in folded), ""]
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
    # GitHub links a name behind @ and a number behind # even then, unless something stands between.
    plain = re.sub(r"(?<!\w)@|#", "\\g<0>\u200b", plain)
    return re.sub(r"([\\`*_\[\]|~#@!])", lambda found: f"&#{ord(found[1])};", plain)


def _entry(entry: Unsettled, several: bool) -> str:
    row = entry.row
    where = [row["suite"], *entry.place, *([row["model"]] if several and row["model"] else [])]
    return (
        f"* {WORDS[state_of(row)]} {cell(entry.sentence[:LONGEST])} "
        f"({cell(', '.join(filter(None, where)))})"
    )


def _reasons(document: Document) -> list[str]:
    """Why the gate failed, but for what stands below anyway; what concerns a test begins with its sentence."""
    of_test = grouped(document["results"], lambda row: row["nodeid"])
    lines = []
    for reason in document["gate"]["reasons"]:
        kind, _, nodeid = reason.partition(": ")
        rows = of_test.get(nodeid, [])
        if any(kind == row["status"] and state_of(row) in WORDS for row in rows):
            continue
        said = " ".join(told_of(row) for row in rows)[:LONGEST]
        lines.append(f"* {cell(f'{said} ({reason})' if said else reason)}")
    return lines


def _green(rows: Sequence[Row]) -> list[str]:
    key = lambda row: (row["suite"], row["model"])
    kept = [row for row in rows if state_of(row) == "holds"]
    lines = []
    for (suite, model), group in groupby(sorted(kept, key=key), key=key):
        own = list(group)
        lines += [
            f"<details><summary>{cell(suite)}, {cell(model or 'no model')}: {len(own)} hold</summary>",
            "",
            "| name | measured | bounds | limit | users |",
            "|---|---:|---:|---:|---:|",
            *_cut(
                [_row(row, name) for row, name in named(own)],
                "| and {} more, in the record | | | | |",
            ),
            "",
            "</details>",
            "",
        ]
    return lines


def _row(row: Row, name: str) -> str:
    _, value, _ = measured(row)
    shown = "" if value is None else f"{value:.3f}"
    bounds = ""
    if row["interval"] is not None:
        approximate = " (approximate)" if row.get("approximate") else ""
        bounds = f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}{approximate}"
    return f"| {cell(name)} | {shown} | {bounds} | {cell(limit_in_short(row))} | {row['users']} |"


def _comparison(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    where = comparison["baseline"] or "this run"
    lines = [
        f"### {cell(comparison['model'])} against {cell(comparison['against'])} of {cell(where)}",
        "",
        *([] if comparison["baseline"] else [f"{ONE_RUN[0].upper()}{ONE_RUN[1:]}.", ""]),
        *(f"* refused: {cell(reason)}" for reason in comparison["refused"]),
    ]
    counts = comparison["counts"]
    lines += [", ".join(f"{count} {change}" for change, count in sorted(counts.items())), ""]
    told = list(changed(comparison, rows))
    if told:
        lines += ["| name | change | worse by | bounds | margin | users |"]
        lines += ["|---|---|---:|---:|---:|---:|"]
        lines += _cut(
            [
                f"| {cell(name)} | {each['change']} | "
                f"{each['worse']:.3f} | {low:.3f} to {high:.3f} | "
                f"{each['margin']:g} | {each['users']} |"
                for name, each, (low, high) in told
            ],
            "| and {} more, in the record | | | | | |",
        )
        lines += ["", cell(comparison["bounds"])]
    return [*lines, ""]


def _cut(lines: list[str], rest: str) -> list[str]:
    left = len(lines) - MOST
    return lines if left <= 0 else [*lines[:MOST], rest.format(left)]
