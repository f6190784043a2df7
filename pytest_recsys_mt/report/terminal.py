"""The summary at the end of the terminal output: verdicts
that do not hold, then counts of those that do.
"""

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.engine.settings import Effort, Settings
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import grouped, state_of, vacuous_of
from pytest_recsys_mt.report import latency
from pytest_recsys_mt.report.compared import say, write_comparison
from pytest_recsys_mt.report.folding import (
    Unsettled,
    claims,
    few_of,
    inapplicable,
    listed,
    unsettled,
    vacuous,
    with_changed_lists,
    without_number,
)
from pytest_recsys_mt.report.glossary import measure_of
from pytest_recsys_mt.report.judged import all_read_in_words
from pytest_recsys_mt.report.record import Record, standing
from pytest_recsys_mt.report.rows import NOT_FINITE
from pytest_recsys_mt.report.short_names import shorten
from pytest_recsys_mt.report.table import (
    COLOURS,
    USUAL,
    WORDS,
    write_groups,
    write_side_by_side,
    write_table,
)
from pytest_recsys_mt.report.terminal_calls import write_calls
from pytest_recsys_mt.safety.files import TEMPORARY
from pytest_recsys_mt.safety.sanitize import one_line

FEW = 12
"""So many verdicts that hold are shown one by one; more are
only counted, unless an option lists them.
"""
COUNTED = {
    "holds": "hold",
    "known": "known",
    "violated": "violated",
    "inconclusive": "inconclusive",
    "error": "without a verdict",
    "fixed": "fixed",
    "not-applicable": "not applicable",
}
"""The states in the order of a line of counts, as words after a number."""


def summarise(reporter: Any, record: Record) -> None:
    """Write the verdicts that do not hold, the counts, the calls and the result.

    Args:
        reporter: Pytest's terminal reporter.
        record: All rows and calls of the run.
    """
    settings = record.settings
    rows = record.rows
    document = record.document()
    models_with_rows = {row["model"] for row in rows}
    models = [model for model in document["models"] if model in models_with_rows]
    several_models = len(models) > 1
    reporter.write_sep(
        "=",
        _title(models if rows else document["models"], settings.data),
    )
    _write_unsettled(reporter, rows, several_models)
    holding = [row for row in rows if state_of(row) == "holds"]
    if settings.columns or reporter.verbosity > 0:
        _write_tables(reporter, rows, models, settings.columns)
    elif len(holding) <= FEW:
        _write_tables(reporter, holding, models, ())
    _write_counts(reporter, rows, several_models)
    _write_remarks(reporter, rows, holding, several_models)
    sizes = tried(settings, rows)
    if sizes:
        say(reporter, sizes)
    write_calls(
        reporter,
        document["calls"],
        ahead=record.ahead,
        by_axis=reporter.verbosity > 0,
    )
    if reporter.verbosity > 0:
        for line in latency.lines(latency.rows_of(document)):
            say(reporter, f"time of calls: {line}")
    _write_notes(reporter, settings, document)
    _write_gate(reporter, settings, document)


SIZES = "/test_sizes.py::"
"""Tests that send requests at other sizes than those of the run."""


def tried(settings: Settings, rows: Sequence[Row]) -> str:
    """The sizes of the run's requests; empty if it sent none."""
    asked_tests = [row["nodeid"] for row in rows if row["status"] != "not-applicable"]
    if not asked_tests:
        return ""
    design = settings.design
    history = f"histories of {design.history} items" if design.history else "no history"
    offered = (
        f"{design.candidates} candidates"
        if design.candidates
        else "the whole catalogue"
    )
    text = f"tried: {history}, {offered}, lists of {design.k}"
    # A test id has no folder if pytest runs in the folder of the test.
    if any(SIZES in f"/{nodeid}" for nodeid in asked_tests):
        text += "; other sizes too"
    return text


def _title(models: Sequence[str], data: str) -> str:
    names = one_line(", ".join(models)) or "no model"
    if len(names) + len(data) > 50 and len(models) > 1:
        names = f"{len(models)} models"
    return shorten(f"recsys-mt: {names} on {data}", 74)


def _write_unsettled(reporter: Any, rows: Sequence[Row], several_models: bool) -> None:
    """Write the verdicts that do not hold; promises too, if there is
    room or if wanted.
    """
    entries = unsettled(rows)
    with_promise = len(entries) == 1 or reporter.verbosity > 0
    for entry in entries:
        word = WORDS[state_of(entry.row)]
        lines = _wrapped(f"{word}  {entry.where(several_models)}", "  ")
        reporter.write(word, **COLOURS.get(state_of(entry.row), {}))
        reporter.write_line(lines[0].removeprefix(word))
        for line in lines[1:]:
            reporter.write_line(line)
        for text in (_subject_of(entry, with_promise), entry.sentence):
            if text:
                _write(reporter, text, "    ")


def _subject_of(entry: Unsettled, with_promise: bool) -> str:
    """The promise of an entry, or its measure; empty if the
    entry says it, or it is not wanted.
    """
    row = entry.row
    if entry.together or not entry.place:
        return ""
    if row["relation"]:
        return f"promise: {one_line(row.get('promise', ''))}" if with_promise else ""
    measure = measure_of(row)
    if measure is None:
        return ""
    # A name that is only spoken, such as "At most" of at_most, explains nothing.
    return f"{measure.name}: {measure.title if measure.own else measure.text}"


def _write_tables(
    reporter: Any,
    rows: Sequence[Row],
    models: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Write the tables of each suite: its models side by side
    if they fit, else one below the other.
    """
    judged = [row for row in rows if row["status"] != "not-applicable"]
    by_suite = grouped(judged, lambda row: row["suite"])
    for suite, rows_of_suite in sorted(by_suite.items()):
        by_model = grouped(rows_of_suite, lambda row: row["model"])
        models_here = [model for model in models if model in by_model]
        several = len(models_here) > 1
        reporter.write_sep("-", shorten(suite, 74))
        fits_side_by_side = (
            several
            and not columns
            and write_side_by_side(reporter, rows_of_suite, models_here)
        )
        if not fits_side_by_side:
            for model, rows_of_model in by_model.items():
                if several:
                    reporter.write_line(f"{shorten(one_line(model), 76)}:")
                write_table(reporter, rows_of_model, columns or USUAL)
        if reporter.verbosity > 0:
            for model in models_here:
                write_groups(reporter, by_model[model], every=reporter.verbosity > 1)


def _write_counts(reporter: Any, rows: Sequence[Row], several_models: bool) -> None:
    """Write how many verdicts are in each state, a line for
    each suite and, of several, each model.
    """
    by_place = grouped(
        rows,
        lambda row: (row["suite"], row["model"] if several_models else ""),
    )
    counts_by_name = {}
    for place, rows_here in sorted(by_place.items()):
        if any(state_of(row) != "not-applicable" for row in rows_here):
            name = ", ".join(part for part in place if part)
            counts_by_name[name] = _counted(rows_here)
    longest = max((len(name) for name in counts_by_name), default=0)
    width = min(longest, 40)
    for name, counts in counts_by_name.items():
        _write(reporter, f"{shorten(one_line(name), 60):<{width}}  {counts}")


def _counted(rows: Sequence[Row]) -> str:
    counts = Counter[str](state_of(row) for row in rows)
    words = dict(COUNTED)
    vacuous_rows = [row for row in rows if vacuous_of(row)]
    if vacuous_rows:
        words["holds"] += f" ({len(vacuous_rows)} vacuously)"
    return ", ".join(
        f"{counts[state]} {word}" for state, word in words.items() if counts[state]
    )


def _write_remarks(
    reporter: Any,
    rows: Sequence[Row],
    holding: Sequence[Row],
    several_models: bool,
) -> None:
    """Write the notes on the counts: why tests say nothing,
    and the limits of verdicts that hold.
    """
    reasons = inapplicable(rows)
    if reporter.verbosity <= 0:
        reasons = few_of(reasons, rows)
    for line in (*vacuous(rows), *reasons):
        _write(reporter, line)
    for row in holding:
        if row["attempts"] > 1:
            _write(
                reporter,
                f"{name_of_row(row)} holds at the last of {row['attempts']} attempts",
            )
        if NOT_FINITE in row["details"]:
            _write(reporter, f"{name_of_row(row)}: {row['reason']}")
    for text in (
        with_changed_lists(holding, several_models),
        without_number(holding, several_models),
    ):
        if text:
            say(reporter, text)


def _write_notes(reporter: Any, settings: Settings, document: Document) -> None:
    """Write where answers are kept if that is not the usual
    place, the notes, and how answers were read.
    """
    if settings.cache == TEMPORARY or TEMPORARY in settings.cache.parents:
        _write(
            reporter,
            f"note: there is no home folder to write to, so answers are kept in {str(settings.cache)!r}; "
            f"--recsys-cache=FOLDER keeps them elsewhere",
        )
    for note in document["notes"]:
        say(reporter, f"note: {note}")
    for text in all_read_in_words(document["readings"]):
        say(reporter, text)


def _write_gate(reporter: Any, settings: Settings, document: Document) -> None:
    """Write the comparisons with baselines, the decision of the gate, and the
    corrections for many tests.
    """
    gate = document["gate"]
    results = document["results"]
    for comparison in gate["comparisons"]:
        write_comparison(reporter, comparison, results)
    claimed = claims(results, settings.alpha)
    if claimed:
        say(reporter, claimed)
    say(reporter, gate["sentence"])
    still_violated = [
        name_of_row(row) for row in results if row["nodeid"] in gate["violated"]
    ]
    violated = [row for row in results if state_of(row) == "violated"]
    if still_violated and len(still_violated) == len(violated) > 1:
        say(
            reporter,
            "all of them violated also after Holm's correction for all tests",
            "    ",
        )
    elif still_violated:
        names = listed(still_violated)
        say(
            reporter,
            f"violated also after Holm's correction for all tests: {names}",
            "    ",
        )
    for reason in gate["reasons"] if settings.ask_everybody else gate["incomplete"]:
        _write(reporter, reason, "  ", width=75)
    discovered = standing(results, "p_bh", settings.alpha)
    if len(discovered) > len(gate["violated"]):
        reporter.write_line(
            f"{len(discovered)} violated at a false discovery rate of {settings.alpha:g} "
            f"(Benjamini-Hochberg)",
        )


def _write(reporter: Any, text: str, first: str = "", width: int = 79) -> None:
    for line in _wrapped(text, "    ", first, width):
        reporter.write_line(line)


def _wrapped(text: str, following: str, first: str = "", width: int = 79) -> list[str]:
    # Long words such as test ids stay whole, so that they can be copied.
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


def left_out_of(effort: Effort, number: int) -> list[str]:
    """How many selected tests an effort left out, in lines of a terminal."""
    if effort == "quick":
        text = f"a quick look: {number} other tests did not run. To add one, mark it recsys_quick or name its file."
    else:
        text = (
            f"tests that did not run because they make many calls: {number}; to run them, give "
            f"--recsys-effort=thorough or name their file"
        )
    return _wrapped(text, "    ")
