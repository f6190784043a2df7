"""The run as Markdown, for the page of a GitHub Actions job (``GITHUB_STEP_SUMMARY``)."""

import html
from collections.abc import Sequence
from pathlib import Path

from pytest_recsys_mt.gate.document import Comparison, Document, Row
from pytest_recsys_mt.gate.states import grouped, measured, state_of
from pytest_recsys_mt.report.compared import COLUMNS, ONE_RUN, changed
from pytest_recsys_mt.report.folding import inapplicable, told_of, unsettled, vacuous
from pytest_recsys_mt.report.judged import is_quick, json_instead, judged, read_in_words
from pytest_recsys_mt.report.markdown import in_markdown, in_table
from pytest_recsys_mt.report.measures import limit_in_short
from pytest_recsys_mt.report.short_names import named
from pytest_recsys_mt.safety.files import appended_to

WORDS = {
    "violated": "**violated**",
    "inconclusive": "inconclusive",
    "error": "**error**",
    "known": "known",
    "fixed": "**fixed**",
}
LONGEST = 600
"""Most characters of a sentence; the record has all of it."""
MOST = 200
"""Most lines of a table: GitHub shows no summary above a mebibyte."""


def append(path: Path, document: Document, written: Sequence[str] = ()) -> None:
    """Append the run to the file, after the output of other steps, and where its reports are."""
    with appended_to(path) as stream:
        stream.write(markdown(document))
        if written:
            stream.write(f"\nWrote {', '.join(map(in_markdown, written))}.\n")


def markdown(document: Document) -> str:
    """The run as GitHub's Markdown."""
    gate = document["gate"]
    lines = [
        f"## recsys-mt: gate {gate['status']}{' (a quick look)' if is_quick(document) else ''}",
        "",
        f"{in_markdown(', '.join(document['models']))} on {in_markdown(document['data'])}, seed {document['seed']}",
        "",
        in_markdown(gate["sentence"]),
        "",
        *(f"{in_markdown(text)}.\n" for text in [judged(document)] if text),
        *_cut(_reasons(document)),
        "",
        *(
            f"{in_markdown(text)}.\n"
            for model, read in document["readings"].items()
            for text in (read_in_words(model, read), *json_instead(read))
        ),
    ]
    for comparison in gate["comparisons"]:
        lines += _comparison(comparison, document["results"])
    rows = document["results"]
    several = len({row["model"] for row in rows if row["model"]}) > 1
    found = [
        f"* {WORDS[state_of(each.row)]} {in_markdown(each.sentence[:LONGEST])} ({in_markdown(each.where(several))})"
        for each in unsettled(rows)
    ]
    if found:
        lines += ["### What does not hold", "", *_cut(found), ""]
    folded = (*vacuous(rows), *inapplicable(rows))
    lines += [*_green(rows), *(f"* {in_markdown(text)}" for text in folded), ""]
    commands = dict.fromkeys(row["reproduce"] for row in rows if row["reproduce"])
    if commands:
        shown = "\n".join(html.escape(command) for command in list(commands)[:MOST])
        lines += [
            "<details><summary>To run this test again</summary>",
            f"<pre>{shown}</pre>",
            "</details>",
        ]
    return "\n".join(lines) + "\n"


def _reasons(document: Document) -> list[str]:
    of_test = grouped(document["results"], lambda row: row["nodeid"])
    lines = []
    for reason in document["gate"]["reasons"]:
        kind, _, nodeid = reason.partition(": ")
        rows = of_test.get(nodeid, [])
        if any(kind == row["status"] and state_of(row) in WORDS for row in rows):
            continue
        said = " ".join(told_of(row) for row in rows)[:LONGEST]
        lines.append(f"* {in_markdown(f'{said} ({reason})' if said else reason)}")
    return lines


def _green(rows: Sequence[Row]) -> list[str]:
    kept = [row for row in rows if state_of(row) == "holds"]
    held = grouped(kept, lambda row: (row["suite"], row["model"]))
    lines = []
    for (suite, model), own in sorted(held.items()):
        lines += [
            f"<details><summary>{in_markdown(suite)}, {in_markdown(model or 'no model')}: {len(own)} hold</summary>",
            "",
            *_table(
                ["name", "measured", "bounds", "limit", "users"],
                [_row(row, name) for row, name in named(own)],
            ),
            "",
            "</details>",
            "",
        ]
    return lines


def _row(row: Row, name: str) -> list[str]:
    _, value, _ = measured(row)
    shown = "" if value is None else f"{value:.3f}"
    bounds = ""
    if row["interval"] is not None:
        approximate = " (approximate)" if row.get("approximate") else ""
        bounds = f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}{approximate}"
    limit = in_markdown(limit_in_short(row))
    return [in_markdown(name), shown, bounds, limit, str(row["users"])]


def _comparison(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    where = comparison["baseline"] or "this run"
    lines = [
        f"### {in_markdown(comparison['model'])} against {in_markdown(comparison['against'])} of {in_markdown(where)}",
        "",
        *([] if comparison["baseline"] else [f"{ONE_RUN[0].upper()}{ONE_RUN[1:]}.", ""]),
        *(f"* refused: {in_markdown(reason)}" for reason in comparison["refused"]),
    ]
    counts = comparison["counts"]
    lines += [", ".join(f"{count} {change}" for change, count in sorted(counts.items())), ""]
    if told := [[*map(in_markdown, cells)] for cells in changed(comparison, rows)]:
        lines += _table([column.heading for column in COLUMNS], told, 2)
        lines += ["", in_markdown(comparison["bounds"])]
    return [*lines, ""]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], wordy: int = 1) -> list[str]:
    left = len(rows) - MOST
    rest = [[f"and {left} more, in the record", *[""] * (len(columns) - 1)]] if left > 0 else []
    return in_table(columns, [*rows[:MOST], *rest], wordy)


def _cut(lines: list[str]) -> list[str]:
    left = len(lines) - MOST
    return lines if left <= 0 else [*lines[:MOST], f"* and {left} more, in the record"]
