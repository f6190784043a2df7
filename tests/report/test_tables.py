"""Tables of the terminal: names whole, no row twice,
columns by choice, 80 columns at most.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.records import holds, row, task
from tests.support.engine import COLUMNS as DECLARED
from tests.support.gate import State
from tests.support.report import (
    COLUMNS,
    COUNTED,
    USUAL,
    WORDS,
    distinct_names,
    folded,
    write_side_by_side,
    write_table,
)


class Terminal:
    """What pytest's terminal reporter offers to writers, as text."""

    verbosity = 0

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str, **markup: bool) -> None:
        self.text += text

    def write_line(self, text: str, **markup: bool) -> None:
        self.text += f"{text}\n"

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def test_every_declared_column_is_made_and_every_state_has_a_word() -> None:
    assert tuple(COLUMNS) == DECLARED
    assert {*USUAL} < {*DECLARED}
    assert WORDS.keys() == COUNTED.keys() == {*get_args(State)}
    assert WORDS["inconclusive"] == COUNTED["inconclusive"] == "inconclusive"


@given(st.from_regex(r"[a-z_(),=' 0-9]{0,90}", fullmatch=True), st.integers(12, 40))
def test_a_folded_name_is_whole(name: str, width: int) -> None:
    lines = folded(name, width)
    assert all(len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")


def test_a_name_is_folded_after_a_word() -> None:
    assert folded("recommendations_are_as_popular", 20) == [
        "recommendations_are_",
        "  as_popular",
    ]
    assert folded("short", 20) == ["short"]


def named(**changes: Any) -> Any:
    return holds(0, relation="drop_history(1)", **changes)


@pytest.mark.parametrize(
    ("rows", "marks"),
    [
        ([named(), named(oracle="low_churn:rbo")], ["same_ranking", "low_churn"]),
        ([named(), named(oracle="same_ranking:kendall")], ["rbo", "kendall"]),
        ([named(nodeid=f"t.py::test_{name}[m-x]") for name in ("one", "other")], ["one", "other"]),
        ([named(nodeid=f"t.py::test_it[m-drop_history-1-{margin}]") for margin in (0.1, 0.2)], ["0.1", "0.2"]),
        ([named(against=""), named(against="history=5")], ["against unchanged", "against history=5"]),
    ],
    ids=["oracle", "similarity", "test", "parameter", "other side"],
)  # fmt: skip
def test_rows_of_one_name_say_what_tells_them_apart(
    rows: list[Any],
    marks: list[str],
) -> None:
    for each in rows:
        each.setdefault("against", "")
    assert distinct_names([*rows, holds(3)]) == [
        *(f"drop_history(1), {mark}" for mark in marks),
        "shuffle(3)",
    ]


def test_the_same_row_twice_is_numbered() -> None:
    names = distinct_names([named(against=""), named(against="")])
    assert len(set(names)) == 2
    assert [name[-2:] for name in names] == ["#1", "#2"]


@given(st.lists(st.sampled_from(DECLARED), min_size=1, max_size=5, unique=True))
def test_a_table_has_a_line_for_each_row_whatever_the_columns(
    columns: list[str],
) -> None:
    rows = [
        row(0, attempts=1, reason="a reason of many words " * 9),
        holds(
            1,
            attempts=1,
            interval=None,
            estimate=None,
            relation="very_long_name_" * 5,
        ),
        task("item_coverage", 0.4, approximate=True, attempts=1),
    ]
    terminal = Terminal()
    write_table(terminal, rows, columns)
    said = terminal.text.replace(" ", "")
    for each in rows:
        assert ("VIOLATED" in said) == ("verdict" in columns), each
    assert ("~" in terminal.text) == bool(
        {"measured", "estimate", "bounds"} & {*columns},
    )
    if "name" in columns and len(columns) == 1:
        assert ("very_long_name_" * 5) in "".join(terminal.text.split())


def test_the_usual_table_fits_80_columns_and_says_which_side_of_the_limit_is_allowed() -> (
    None
):
    terminal = Terminal()
    rows = [
        row(0, attempts=1),
        holds(1, allowed="within", relation="very_long_name_" * 5),
        task("item_coverage", 0.4, approximate=True),
    ]
    write_table(terminal, rows, USUAL)
    assert all(len(line) <= 80 for line in terminal.lines)
    assert terminal.lines[0].split() == [
        "name",
        "verdict",
        "measured",
        "[bounds]",
        "limit",
        "users",
    ]
    assert terminal.lines[1].split() == [
        "shuffle(0)",
        "VIOLATED",
        "0.210",
        "[0.150,",
        "0.270]",
        "<=",
        "0.05",
        "60",
    ]
    assert "+-0.05" in terminal.text
    assert ">= 0.1" in terminal.text
    assert terminal.lines[-1] == "~ approximate: bounds whose error rate is not proven"


def test_two_models_stand_beside_each_other_where_there_is_room() -> None:
    rows = [row(0), row(0, model="n", status="holds"), holds(1)]
    for each in rows:
        each["nodeid"] = f"t.py::test_it[{each['model']}-{each['relation']}]"
    terminal = Terminal()
    assert write_side_by_side(terminal, rows, ["m", "n"])
    assert [line.split() for line in terminal.lines] == [
        ["name", "m", "n", "limit"],
        ["shuffle(0)", "VIOLATED", "0.210", "holds", "0.210", "<=", "0.05"],
        ["shuffle(1)", "holds", "0.010", "<=", "0.05"],
    ]
    wide = Terminal()
    assert not write_side_by_side(wide, rows, ["m", "n" * 50])
    assert not wide.text
