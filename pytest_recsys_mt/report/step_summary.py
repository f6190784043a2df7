"""The run as Markdown, for the page of a GitHub Actions job
(``GITHUB_STEP_SUMMARY``).
"""

import html
from collections.abc import Sequence
from pathlib import Path

from pytest_recsys_mt.gate.changed_lists import in_words
from pytest_recsys_mt.gate.document import Comparison, Document, Row
from pytest_recsys_mt.gate.states import grouped, measured, state_of
from pytest_recsys_mt.report.compared import COLUMNS, ONE_RUN, changed
from pytest_recsys_mt.report.folding import (
    inapplicable,
    sentence_of,
    unsettled,
    vacuous,
)
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
"""How the states that do not simply hold are written."""

LONGEST = 600
"""Most characters of a sentence; the record has all of it."""

MOST = 200
"""Most lines of a table: GitHub shows no summary above a mebibyte."""


def append(path: Path, document: Document, written: Sequence[str] = ()) -> None:
    """Append the run to the file, after the output of
    other steps, and where its reports are.
    """
    with appended_to(path) as stream:
        stream.write(markdown(document))
        if written:
            stream.write(f"\nWrote {', '.join(map(in_markdown, written))}.\n")


def markdown(document: Document) -> str:
    """The run as GitHub's Markdown."""
    rows = document["results"]
    lines = [*_head(document), *_readings(document)]
    for comparison in document["gate"]["comparisons"]:
        lines += _comparison(comparison, rows)
    lines += _broken(rows)
    lines += _green(rows)
    lines += [f"* {in_markdown(text)}" for text in vacuous(rows)]
    lines += [f"* {in_markdown(text)}" for text in inapplicable(rows)]
    lines.append("")
    lines += _commands(rows)
    return "\n".join(lines) + "\n"


def _head(document: Document) -> list[str]:
    """The subjects of the run, and the decision of the gate."""
    gate = document["gate"]
    models = ", ".join(document["models"])
    quick = " (a quick look)" if is_quick(document) else ""
    lines = [
        f"## recsys-mt: gate {gate['status']}{quick}",
        "",
        f"{in_markdown(models)} on {in_markdown(document['data'])}, seed {document['seed']}",
        "",
        in_markdown(gate["sentence"]),
        "",
    ]
    judged_in_words = judged(document)
    if judged_in_words:
        lines.append(f"{in_markdown(judged_in_words)}.\n")
    return [*lines, *_cut(_reasons(document)), ""]


def _readings(document: Document) -> list[str]:
    """How the answers of each text model were read."""
    lines = []
    for model, readings in document["readings"].items():
        for text in (read_in_words(model, readings), *json_instead(readings)):
            lines.append(f"{in_markdown(text)}.\n")
    return lines


def _commands(rows: Sequence[Row]) -> list[str]:
    """The commands that run tests again, which open on a click."""
    commands = dict.fromkeys(row["reproduce"] for row in rows if row["reproduce"])
    if not commands:
        return []
    shown = [html.escape(command) for command in list(commands)[:MOST]]
    listed = "\n".join(shown)
    return [
        "<details><summary>To run this test again</summary>",
        f"<pre>{listed}</pre>",
        "</details>",
    ]


def _broken(rows: Sequence[Row]) -> list[str]:
    """The verdicts that do not hold, a line each."""
    models = {row["model"] for row in rows if row["model"]}
    lines = []
    for entry in unsettled(rows):
        word = WORDS[state_of(entry.row)]
        where = in_markdown(entry.where(several=len(models) > 1))
        sentence = in_markdown(entry.sentence[:LONGEST])
        lines.append(f"* {word} {sentence} ({where})")
    if not lines:
        return []
    return ["### What does not hold", "", *_cut(lines), ""]


def _reasons(document: Document) -> list[str]:
    """Why the gate fails, without verdicts that are listed below as not holding."""
    rows_by_test = grouped(document["results"], lambda row: row["nodeid"])
    lines = []
    for reason in document["gate"]["reasons"]:
        status, _, nodeid = reason.partition(": ")
        rows = rows_by_test.get(nodeid, [])
        if any(status == row["status"] and state_of(row) in WORDS for row in rows):
            continue
        sentences = " ".join(sentence_of(row) for row in rows)[:LONGEST]
        text = f"{sentences} ({reason})" if sentences else reason
        lines.append(f"* {in_markdown(text)}")
    return lines


def _green(rows: Sequence[Row]) -> list[str]:
    """The verdicts that hold, in a table for each suite and model that opens on a
    click.
    """
    holding = [row for row in rows if state_of(row) == "holds"]
    by_place = grouped(holding, lambda row: (row["suite"], row["model"]))
    lines = []
    for (suite, model), rows_of_place in sorted(by_place.items()):
        where = f"{in_markdown(suite)}, {in_markdown(model or 'no model')}"
        cells = [_row(row, name) for row, name in named(rows_of_place)]
        lines += [
            f"<details><summary>{where}: {len(rows_of_place)} hold</summary>",
            "",
            *_table(["name", "measured", "bounds", "limit", "users"], cells),
            "",
            "</details>",
            "",
        ]
    return lines


def _row(row: Row, name: str) -> list[str]:
    """The cells of a promise that holds."""
    value = measured(row).value
    return [
        in_markdown(name),
        "" if value is None else f"{value:.3f}",
        _bounds(row),
        in_markdown(limit_in_short(row)),
        str(row["users"]),
    ]


def _bounds(row: Row) -> str:
    """The interval of a row in words; empty if it has none."""
    if row["interval"] is None:
        return ""
    low, high = row["interval"]
    approximate = " (approximate)" if row.get("approximate") else ""
    return f"{low:.3f} to {high:.3f}{approximate}"


def _comparison(comparison: Comparison, rows: Sequence[Row]) -> list[str]:
    """The changes since a baseline, or between two models of one run."""
    model = in_markdown(comparison["model"])
    against = in_markdown(comparison["against"])
    where = in_markdown(comparison["baseline"] or "this run")
    lines = [f"### {model} against {against} of {where}", ""]
    if not comparison["baseline"]:
        lines += [f"{ONE_RUN[0].upper()}{ONE_RUN[1:]}.", ""]
    lines += [f"* refused: {in_markdown(reason)}" for reason in comparison["refused"]]
    counts = sorted(comparison["counts"].items())
    lines += [", ".join(f"{count} {change}" for change, count in counts), ""]
    lists = in_words(comparison.get("lists"))
    if lists:
        lines += [in_markdown(lists), ""]
    changes = []
    for cells in changed(comparison, rows):
        changes.append([in_markdown(cell) for cell in cells])
    if changes:
        headings = [column.heading for column in COLUMNS]
        lines += _table(headings, changes, wordy=2)
        lines += ["", in_markdown(comparison["bounds"])]
    return [*lines, ""]


def _table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    wordy: int = 1,
) -> list[str]:
    """A table of at most `MOST` rows, of which the first `wordy` columns hold words."""
    shown = list(rows[:MOST])
    left = len(rows) - MOST
    if left > 0:
        without_text = [""] * (len(columns) - 1)
        shown.append([f"and {left} more, in the record", *without_text])
    return in_table(columns, shown, wordy)


def _cut(lines: list[str]) -> list[str]:
    """At most `MOST` lines, and how many are left out."""
    left = len(lines) - MOST
    if left <= 0:
        return lines
    return [*lines[:MOST], f"* and {left} more, in the record"]
