"""The summary at the end of the terminal output: what does not hold, then counts of what does."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_recsys_mt.engine.settings import Effort, Settings
from pytest_recsys_mt.gate.document import Calls, Row
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import grouped, state_of, vacuous_of
from pytest_recsys_mt.report.compared import say, tell_comparison
from pytest_recsys_mt.report.folding import (
    Unsettled,
    claims,
    few_of,
    inapplicable,
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
from pytest_recsys_mt.report.spending import along, cost
from pytest_recsys_mt.report.table import (
    COLOURS,
    USUAL,
    WORDS,
    write_beside,
    write_groups,
    write_table,
)
from pytest_recsys_mt.safety.files import TEMPORARY
from pytest_recsys_mt.safety.sanitize import one_line

NAME = 29
_JOINED = "\N{NO-BREAK SPACE}"
SHARES = 6
"""Most suites, models or purposes whose calls are shown."""
FEW = 12
"""So many verdicts that hold are shown one by one; more are only counted, unless one asks for them."""
COUNTED = {"holds": "hold", "known": "known", "violated": "violated", "inconclusive": "inconclusive",
           "error": "without a verdict", "fixed": "fixed", "not-applicable": "not applicable"}  # fmt: skip
"""The states in the order of a line of counts, as words after a number."""


def summarise(reporter: Any, record: Record) -> None:
    """Write what does not hold, the counts, the calls and the result of the run."""
    settings, rows = record.settings, record.rows
    document = record.document()
    models = [model for model in document["models"] if any(row["model"] == model for row in rows)]
    reporter.write_sep("=", _title(models if rows else document["models"], settings.data))
    several = len(models) > 1
    entries = unsettled(rows)
    for entry in entries:
        _tell(reporter, entry, several, promise=len(entries) == 1 or reporter.verbosity > 0)
    kept = [row for row in rows if state_of(row) == "holds"]
    if settings.columns or reporter.verbosity > 0:
        _tables(reporter, rows, models, settings.columns)
    elif len(kept) <= FEW:
        _tables(reporter, kept, models, ())
    _counts(reporter, rows, several)
    reasons = inapplicable(rows)
    if reporter.verbosity <= 0:
        reasons = few_of(reasons, rows)
    for line in (*vacuous(rows), *reasons):
        _write(reporter, line)
    for row in kept:
        if row["attempts"] > 1:
            _write(reporter, f"{name_of_row(row)} holds at the last of {row['attempts']} attempts")
        if NOT_FINITE in row["details"]:
            _write(reporter, f"{name_of_row(row)}: {row['reason']}")
    for told in (with_changed_lists(kept, several), without_number(kept, several)):
        if told:
            say(reporter, told)
    if told := tried(settings, rows):
        say(reporter, told)
    calls = document["calls"]
    ahead = f"; sent in {record.ahead:.0f} s before the tests" if record.ahead >= 1 else ""
    say(reporter, _spent(calls) + ahead)
    for line in _shared_out(calls, told=reporter.verbosity > 0):
        reporter.write_line(line)
    if TEMPORARY in (settings.cache, *settings.cache.parents):
        _write(
            reporter,
            f"note: there is no home folder to write to, so answers are kept in {str(settings.cache)!r}; "
            f"--recsys-cache=FOLDER keeps them elsewhere",
        )
    for note in document["notes"]:
        say(reporter, f"note: {note}")
    for text in all_read_in_words(document["readings"]):
        say(reporter, text)
    gate = document["gate"]
    for comparison in gate["comparisons"]:
        tell_comparison(reporter, comparison, document["results"])
    if told := claims(document["results"], settings.alpha):
        say(reporter, told)
    say(reporter, gate["sentence"])
    left = [name_of_row(row) for row in document["results"] if row["nodeid"] in gate["violated"]]
    violated = [row for row in document["results"] if state_of(row) == "violated"]
    if left and len(left) == len(violated) > 1:
        say(reporter, "all of them violated also after Holm's correction for all tests", "    ")
    elif left:
        names = ", ".join(dict.fromkeys(left))
        say(reporter, f"violated also after Holm's correction for all tests: {names}", "    ")
    for reason in gate["reasons"] if settings.ask_everybody else gate["incomplete"]:
        _write(reporter, reason, "  ", width=75)
    discovered = standing(document["results"], "p_bh", settings.alpha)
    if len(discovered) > len(gate["violated"]):
        reporter.write_line(
            f"{len(discovered)} violated at a false discovery rate of {settings.alpha:g} "
            f"(Benjamini-Hochberg)"
        )


SIZES = "/test_sizes.py::"
"""Tests that ask at other sizes than those of the run."""


def tried(settings: Settings, rows: Sequence[Row]) -> str:
    """At which sizes the run asked; empty if it asked nothing."""
    if not any(row["status"] != "not-applicable" for row in rows):
        return ""
    design = settings.design
    history = f"histories of {design.history} items" if design.history else "no history"
    offered = f"{design.candidates} candidates" if design.candidates else "the whole catalogue"
    others = any(SIZES in f"/{row['nodeid']}" and row["status"] != "not-applicable" for row in rows)
    more = "; other sizes too" if others else ""
    return f"tried: {history}, {offered}, lists of {design.k}{more}"


def _title(models: Sequence[str], data: str) -> str:
    names = one_line(", ".join(models)) or "no model"
    if len(names) + len(data) > 50 and len(models) > 1:
        names = f"{len(models)} models"
    return shorten(f"recsys-mt: {names} on {data}", 74)


def _tell(reporter: Any, entry: Unsettled, several: bool, *, promise: bool) -> None:
    row = entry.row
    word = WORDS[state_of(row)]
    first, *others = _wrapped(f"{word}  {entry.where(several)}", "  ")
    reporter.write(word, **COLOURS.get(state_of(row), {}))
    for line in (first.removeprefix(word), *others):
        reporter.write_line(line)
    about = ""
    if entry.together or (row["relation"] and not promise):
        about = ""
    elif entry.place and row["relation"]:
        about = f"promise: {one_line(row.get('promise', ''))}"
    elif entry.place and (measure := measure_of(row)) is not None:
        about = f"{measure.name}: {measure.title}"
    for text in filter(None, (about, entry.sentence)):
        _write(reporter, text, "    ")


def _tables(
    reporter: Any, rows: Sequence[Row], models: Sequence[str], columns: Sequence[str]
) -> None:
    judged = [row for row in rows if row["status"] != "not-applicable"]
    for suite, own in sorted(grouped(judged, lambda row: row["suite"]).items()):
        here = [model for model in models if any(row["model"] == model for row in own)]
        reporter.write_sep("-", shorten(suite, 74))
        beside = len(here) > 1 and not columns and write_beside(reporter, own, here)
        of_model = grouped(own, lambda row: row["model"])
        for model, its in () if beside else of_model.items():
            if len(here) > 1:
                reporter.write_line(f"{shorten(one_line(model), 76)}:")
            write_table(reporter, its, columns or USUAL)
        if reporter.verbosity > 0:
            for model in here:
                write_groups(reporter, of_model[model], every=reporter.verbosity > 1)


def _counts(reporter: Any, rows: Sequence[Row], several: bool) -> None:
    held = grouped(rows, lambda row: (row["suite"], row["model"] if several else ""))
    told = {
        ", ".join(filter(None, key)): _counted(own)
        for key, own in sorted(held.items())
        if any(state_of(row) != "not-applicable" for row in own)
    }
    width = min(max(map(len, told), default=0), 40)
    for name, text in told.items():
        _write(reporter, f"{shorten(one_line(name), 60):<{width}}  {text}")


def _counted(rows: Sequence[Row]) -> str:
    counts, words = Counter[str](map(state_of, rows)), dict(COUNTED)
    if vacuous := sum(map(bool, map(vacuous_of, rows))):
        words["holds"] += f" ({vacuous} vacuously)"
    return ", ".join(f"{counts[state]} {word}" for state, word in words.items() if counts[state])


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


def _spent(calls: Calls) -> str:
    text = (
        f"calls: {calls['planned']} planned, {calls['cached']} cached, {calls['made']} made, "
        f"{calls['failed']} failed"
    )
    tokens = calls["prompt_tokens"] + calls["completion_tokens"]
    if tokens or (calls["unknown_cost"] and calls["usd_at_most"] is not None):
        parts = {
            "thinking": calls["reasoning_tokens"],
            "the provider's cache": calls["cached_tokens"],
        }
        each = [f"{count} of {part}" for part, count in parts.items() if count]
        told = f" ({', '.join(each)})" if each else ""
        text += f"; {tokens} tokens{told}, {cost(calls) or 'cost unknown'}"
        if calls["usd"] is None and calls["usd_at_most"] is not None:
            unknown = calls["unknown_cost"]
            text += f" ({unknown} {'calls' if unknown > 1 else 'call'} did not report usage)"
    answers = "answer" if calls["cut_off"] == 1 else "answers"
    further = (
        (calls["again"], "asked again to see whether answers change with time"),
        (calls.get("searched"), "more for the smallest examples"),
        (calls.get("controls"), "more to see what is read"),
        (calls["cut_off"], f"{answers} cut off at the maximum tokens or by a filter"),
        (calls["failed_at_first"], "failed at first and were sent again"),
    )
    return text + "".join(f"; {count} {words}" for count, words in further if count)


def _shared_out(calls: Calls, told: bool) -> Iterator[str]:
    axes = {axis: along(calls, axis) for axis in ("suite", "model", "purpose")}
    paid = calls["prompt_tokens"] + calls["completion_tokens"] > 0
    if not told and not (paid and max(len(axes["suite"].keys() - {""}), len(axes["model"])) > 1):
        return
    for axis, shares in axes.items():
        largest = sorted(
            shares.items(), key=lambda each: (-(each[1]["usd"] or 0), -each[1]["attempts"])
        )
        parts = [_share(shorten(name or "no test", NAME), sums) for name, sums in largest[:SHARES]]
        if len(largest) > SHARES:
            parts.append(f"{len(largest) - SHARES} more, in the record")
        whole = [part.replace(" ", _JOINED) for part in parts]
        for line in textwrap.wrap(
            f"by {axis}: {'; '.join(whole)}",
            79,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        ):
            yield line.replace(_JOINED, " ")


def _share(name: str, sums: Mapping[str, Any]) -> str:
    told = [f"{sums['attempts']} sent"] if sums["attempts"] else []
    if sums["cached"]:
        told.append(f"{sums['cached']} cached")
    if sums["usd"] != 0 and cost(sums):
        told.append(cost(sums))
    return f"{name} {', '.join(told)}"


def left_out_of(effort: Effort, number: int) -> list[str]:
    """How many selected tests an effort left out, in lines of a terminal."""
    text = (
        f"a quick look: {number} other tests did not run. To add one, mark it recsys_quick or name its file."
        if effort == "quick"
        else f"tests that did not run because they make many calls: {number}; to run them, give "
        f"--recsys-effort=thorough or name their file"
    )
    return _wrapped(text, "    ")
