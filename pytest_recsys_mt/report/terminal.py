"""The summary at the end of the terminal output: one table per suite, one line per relation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from pytest_recsys_mt.engine.settings import Effort
from pytest_recsys_mt.gate.comparison import name_of_row
from pytest_recsys_mt.gate.document import Calls, Readable, Row, measured, state_of
from pytest_recsys_mt.report.compared import tell_comparison
from pytest_recsys_mt.report.record import Record
from pytest_recsys_mt.report.short_names import shorten, test_of_row
from pytest_recsys_mt.report.spending import along, cost
from pytest_recsys_mt.sanitize import one_line

WORDS = {"holds": "holds", "violated": "VIOLATED", "inconclusive": "unclear", "error": "ERROR",
         "not-applicable": "n/a", "known": "known", "mended": "MENDED"}  # fmt: skip
COLOURS: dict[str, dict[str, bool]] = {
    "holds": {"green": True},
    "violated": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "error": {"red": True},
    "not-applicable": {"light": True},
}
_WRAPPED = textwrap.TextWrapper(
    75,
    initial_indent="  ",
    subsequent_indent="    ",
    break_long_words=False,  # so that test ids can be copied
    break_on_hyphens=False,
)
NAME = 29
_JOINED = "\N{NO-BREAK SPACE}"
MANY = 4
SHARES = 6
"""Most suites, models or purposes whose calls are shown."""
HEADER = (
    f"{'relation':<{NAME}} {'verdict':<8} {'effect [bounds]':>22} {'margin':>6} {'floor':>5} "
    f"{'users':>5}"
)

APPROXIMATE = "~"


def summarise(reporter: Any, record: Record) -> None:
    """Write the tables, the calls and the result of the run."""
    settings = record.settings
    for (suite, model), rows in groupby(
        sorted(record.rows, key=lambda row: (row["suite"], row["model"])),
        key=lambda row: (row["suite"], row["model"]),
    ):
        title = f"recsys-mt: {suite}, {model or 'no model'} on {settings.data}"
        reporter.write_sep("=", shorten(title, 74))
        reporter.write_line(HEADER)
        marked = False
        for row, alike in _gathered(list(rows)):
            name = name_of_row(row) if alike == 1 else f"{alike} x {test_of_row(row)}"
            reporter.write(f"{shorten(name, NAME):<{NAME}} ")
            reporter.write(f"{WORDS[state_of(row)]:<8}", **COLOURS[row["status"]])
            reporter.write_line(f" {_numbers(row)}")
            if row["attempts"] > 1:
                reporter.write_line(f"  the last of {row['attempts']} attempts")
            marked = marked or _approximate(row)
        if marked:
            reporter.write_line(f"{APPROXIMATE} approximate: bounds whose error rate is not proven")
    document = record.document()
    calls = document["calls"]
    ahead = f"; sent in {record.ahead:.0f} s before the tests" if record.ahead >= 1 else ""
    for line in textwrap.wrap(_spent(calls) + ahead, 79, subsequent_indent="    "):
        reporter.write_line(line)
    for line in _shared_out(calls, told=reporter.verbosity > 0):
        reporter.write_line(line)
    for note in document["notes"]:
        for line in textwrap.wrap(f"note: {note}", 79, subsequent_indent="    "):
            reporter.write_line(line)
    for model, read in document["readings"].items():
        for line in textwrap.wrap(_read(model, read), 79, subsequent_indent="    "):
            reporter.write_line(line)
    gate = document["gate"]
    for comparison in gate["comparisons"]:
        tell_comparison(reporter, comparison, document["results"])
    for line in textwrap.wrap(gate["sentence"], 79, subsequent_indent="    "):
        reporter.write_line(line)
    standing = [
        name_of_row(row) for row in document["results"] if row["nodeid"] in gate["violated"]
    ]
    if standing:
        text = f"  violated after the correction: {', '.join(dict.fromkeys(standing))}"
        for line in textwrap.wrap(text, 79, subsequent_indent="    ", initial_indent="  "):
            reporter.write_line(line)
    for reason in gate["reasons"] if settings.ask_everybody else gate["incomplete"]:
        for line in _WRAPPED.wrap(reason):
            reporter.write_line(line)
    discovered = [
        row
        for row in document["results"]
        if row["status"] == "violated" != row["expected"]
        and (row["p_bh"] is None or row["p_bh"] <= settings.alpha)
    ]
    if len(discovered) > len(gate["violated"]):
        reporter.write_line(
            f"{len(discovered)} violated at a false discovery rate of {settings.alpha:g} "
            f"(Benjamini-Hochberg)"
        )


def _spent(calls: Calls) -> str:
    """The counts of the calls, and the cost of those made."""
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
        text += f"; {tokens} tokens{told}, {_cost(calls)}"
    if calls["again"]:
        text += f"; {calls['again']} asked again"
    if calls["cut_off"]:
        answers = "answer" if calls["cut_off"] == 1 else "answers"
        text += f"; {calls['cut_off']} {answers} cut off at the maximum tokens or by a filter"
    if calls["failed_at_first"]:
        text += f"; {calls['failed_at_first']} failed at first and were sent again"
    return text


def _read(model: str, read: Readable) -> str:
    """How well a text model kept to the form in which it was asked to answer."""
    named = read["answers"] - read["unreadable"]
    kinds = read["entries"]
    entries = sum(kinds.values()) - kinds["unparsed"]
    strays = kinds["history"] + kinds["catalogue"] + kinds["outside"]
    text = f"answers of {one_line(model)}: {named} of {read['answers']} name a title"
    faults = [(kinds["duplicate"], "twice"), (strays, "not offered"), (kinds["unknown"], "made up")]
    found = ", ".join(f"{number} {fault}" for number, fault in faults if number)
    return f"{text}; of {entries} titles {found}" if found else text


def _shared_out(calls: Calls, told: bool) -> Iterator[str]:
    """The calls by suite, model and purpose: if `told`, or if there is more than one suite or model."""
    axes = {axis: along(calls, axis) for axis in ("suite", "model", "purpose")}
    if not told and len(axes["suite"].keys() - {""}) < 2 and len(axes["model"]) < 2:
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
    """What a suite, a model or a purpose took: the requests that were sent, and their cost."""
    told = [f"{sums['attempts']} sent"] if sums["attempts"] else []
    if sums["cached"]:
        told.append(f"{sums['cached']} cached")
    if sums["usd"] != 0 and cost(sums):
        told.append(cost(sums))
    return f"{name} {', '.join(told)}"


def _cost(calls: Calls) -> str:
    """The cost of the calls, as far as known."""
    text = cost(calls) or "cost unknown"
    if calls["usd"] is None and calls["usd_at_most"] is not None:
        unknown = calls["unknown_cost"]
        text += f" ({unknown} {'calls' if unknown > 1 else 'call'} did not report usage)"
    return text


def _gathered(rows: list[Row]) -> Iterator[tuple[Row, int]]:
    """The rows, each with the number of rows it stands for.

    Many cases of a test that do not apply for one reason share one line.
    """

    def alike(row: Row) -> tuple[str, ...]:
        if row["relation"] or row["status"] != "not-applicable":
            return (row["nodeid"], row["oracle"])
        return (test_of_row(row), row["reason"])

    for _, group in groupby(rows, key=alike):
        members = list(group)
        if len(members) < MANY:
            yield from ((row, 1) for row in members)
        else:
            yield members[0], len(members)


def _approximate(row: Row) -> bool:
    return bool(row.get("approximate")) and row["interval"] is not None


def _numbers(row: Row) -> str:
    _, estimate, limit = measured(row)
    if estimate is None or row["interval"] is None:
        return shorten(row["reason"], 80 - NAME - 10)
    low, high = row["interval"]
    mark = APPROXIMATE if _approximate(row) else ""
    effect = f"{mark}{estimate:.3f} [{low:.3f}, {high:.3f}]"
    effect = effect if len(effect) <= 22 else effect.replace(", ", ",")
    margin = "" if limit is None else f"{limit:.3g}"
    floor = "" if row["floor"] is None else f"{row['floor']:.2f}"
    return f"{effect:>22} {margin:>6} {floor:>5} {row['users']:>5}"


def left_out_of(effort: Effort, number: int) -> list[str]:
    """How many selected tests an effort left out, in lines of a terminal."""
    text = (
        f"a quick look: {number} other tests did not run. To add one, mark it recsys_quick or name its file."
        if effort == "quick"
        else f"tests that did not run because they make many calls: {number}; to run them, give "
        f"--recsys-effort=thorough or name their file"
    )
    return textwrap.wrap(text, 79, subsequent_indent="    ", break_on_hyphens=False)
