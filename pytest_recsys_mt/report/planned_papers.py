"""What a planned run would fill of the tables of papers, and what stays empty and why.

A plan has no answers. So a cell counts as filled if a planned test has it: too many
answers that cannot be read, or a figure that is undefined, can still leave it empty.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_recsys_mt.engine.plan import Count
from pytest_recsys_mt.extensions import TABLES, entry_points
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table, tables_of
from pytest_recsys_mt.report.paper_tables.filling import cut, selects
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.verdict import Verdict


@dataclass(frozen=True)
class PlannedTest:
    """A test of a plan.

    Attributes:
        nodeid: Its id.
        suite: The folder that it lies in.
        model: The recommender under test.
        verdicts: Its verdicts on made-up answers, of which only the names say anything.
        skipped: Why it is skipped; empty if it is not.
    """

    nodeid: str
    suite: str
    model: str
    verdicts: Sequence[Verdict] = ()
    skipped: str = ""

    def rows(self) -> list[Row]:
        """What selects a row in a table, for each verdict; nothing else is filled in."""
        named = [(each.metric, each.oracle, each.relation) for each in self.verdicts]
        rows: list[Row] = []
        for metric, oracle, relation in named or [(None, "", "")]:
            row: Any = {  # the rest is not known before the run
                "nodeid": self.nodeid,
                "model": self.model,
                "metric": metric,
                "oracle": oracle,
                "relation": relation,
                "details": {},
            }
            rows.append(row)
        return rows


class _Line(NamedTuple):
    """A line of a table for one model: its empty columns, by the reason, and the command
    that fills it.
    """

    name: str
    run: str
    empty: Mapping[str, Sequence[str]]
    columns: int

    @property
    def is_filled(self) -> bool:
        return not self.empty

    @property
    def is_empty(self) -> bool:
        return sum(map(len, self.empty.values())) == self.columns


def papers_of(
    tests: Sequence[PlannedTest],
    counts: Mapping[tuple[str, str], Count],
) -> Iterator[tuple[str, list[str]]]:
    """The suites with tables that the tests fill, and for each of them a text for each
    table, with what stays empty below it.

    Args:
        tests: The tests of the plan.
        counts: The calls by the id of a test and the model.
    """
    suites = {point.name for point in entry_points(TABLES)}
    for suite, of_suite in grouped(tests, lambda test: test.suite).items():
        if suite not in suites:
            continue
        tables = tables_of(suite)
        lines_by_table = [_lines_of(table, of_suite) for table in tables]
        if all(line.is_empty for lines in lines_by_table for line in lines):
            continue
        texts: list[str] = []
        for table, lines in zip(tables, lines_by_table, strict=True):
            texts += _in_words(table, lines, _calls(table, of_suite, counts))
        yield suite, texts


def _lines_of(table: Table, tests: Sequence[PlannedTest]) -> list[_Line]:
    """The lines of a table for each model of the tests."""
    lines = []
    for model, of_model in grouped(tests, lambda test: test.model).items():
        if not model:
            continue
        for line in table.rows:
            empty: dict[str, list[str]] = {}
            for column in table.columns:
                reason = _why_empty(line, column, of_model)
                if reason is not None:
                    empty.setdefault(reason, []).append(column.name)
            name = line.name.format(model=one_line(model))
            lines.append(_Line(name, line.run or table.run, empty, len(table.columns)))
    return lines


def _why_empty(
    line: Selected,
    column: Selected,
    tests: Sequence[PlannedTest],
) -> str | None:
    """Why no planned test fills a cell; empty if none of these tests does, None if one
    does.
    """
    why = ""
    for test in tests:
        if not _fills(test, line, column):
            continue
        if not test.skipped:
            return None
        why = why or test.skipped
    return why


def _fills(test: PlannedTest, line: Selected, column: Selected) -> bool:
    return any(
        selects(line, row, empty=True) and selects(column, row, empty=True)
        for row in test.rows()
    )


def _calls(
    table: Table,
    tests: Sequence[PlannedTest],
    counts: Mapping[tuple[str, str], Count],
) -> int:
    """The calls to make of the tests that fill a table."""
    filling = {
        (test.nodeid, test.model)
        for test in tests
        if not test.skipped
        for line in table.rows
        if any(_fills(test, line, column) for column in table.columns)
    }
    return sum(counts[each].to_make for each in filling if each in counts)


def _in_words(table: Table, lines: Sequence[_Line], calls: int) -> Iterator[str]:
    """What a run fills of a table, and below it the rest with its reasons."""
    filled = sum(line.is_filled for line in lines)
    part = sum(not line.is_filled and not line.is_empty for line in lines)
    also = f", {part} in part" if part else ""
    cost = f"; {calls:,} calls" if calls else ""
    yield f"{table.name}: {filled} of {len(lines)} lines{also}{cost}"
    names_by_reason: dict[str, list[str]] = {}
    for line in lines:
        for reason, columns in line.empty.items():
            why = one_line(cut(reason)) if reason else f"not asked for; {line.run}"
            of = "" if len(columns) == line.columns else f"in {', '.join(columns)}, "
            names_by_reason.setdefault(f"{of}{why}", []).append(line.name)
    for reason, names in names_by_reason.items():
        which = "all" if len(names) == len(lines) else "; ".join(names)
        yield f"    empty: {which}: {reason}"
