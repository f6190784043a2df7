"""How many of all tests could be judged stands below the
answer, with why the others could not.
"""

from typing import Any

import pytest

from tests.report.records import document, holds, row
from tests.report.test_page import Page
from tests.support.report import judged
from tests.support.report_html import render


def of(effort: str, tests: int, *rows: Any) -> Any:
    return document(*rows, left_out={"effort": effort, "tests": tests})


def test_every_cause_is_counted_once_a_test() -> None:
    rows = [
        row(0), holds(1), holds(2, status="inconclusive"), holds(2), holds(3, status="inconclusive"),
        row(4, status="error"), row(5, status="not-applicable"), row(5, status="error"),
    ]  # fmt: skip
    assert judged(of("quick", 212, *rows)) == (
        "2 of 218 tests could be judged: 212 left out of this quick look, 2 inconclusive, 2 in error"
    )


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (document(holds(0)), "1 of 1 test could be judged"),
        (document(), ""),
        (
            of("standard", 20, holds(0)),
            "1 of 21 tests could be judged: 20 left out as they make many calls (--recsys-effort=thorough runs them)",
        ),
        (of("thorough", 0, holds(0)), "1 of 1 test could be judged"),
    ],
)
def test_whole_runs_and_those_of_before(record: Any, told: str) -> None:
    assert judged(record) == told


def test_only_a_quick_look_that_left_tests_out_is_no_release() -> None:
    assert (
        "✓ Passed as a quick look: the promise"
        in Page(render(of("quick", 2, holds(0)))).text
    )
    for record in (of("quick", 0, holds(0)), of("standard", 20, holds(0))):
        assert "✓ May be released: the promise" in Page(render(record)).text
