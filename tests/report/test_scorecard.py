"""The first screen: may this be released, and where it
stands, suite by suite and model by model.
"""

from typing import Any

from tests.report.records import document, everything, holds, row
from tests.report.test_page import Page
from tests.support.report_html import (
    Cell,
    answer_of,
    cards_of,
    counted,
    p_text,
    render,
    scorecard_of,
)

ABSENT: dict[str, Any] = {
    "status": "not-applicable", "outcome": "skipped", "interval": None, "estimate": None,
    "p_value": None, "examples": [], "reason": "needs text",
}  # fmt: skip


def answer(*rows: dict[str, Any], **gate: Any) -> Any:
    made = document(*rows)
    made["gate"] |= gate
    return answer_of(made, cards_of(made))


def test_a_green_run_may_be_released() -> None:
    found = answer(holds(0), holds(1), row(2, **ABSENT))
    assert found.good
    assert (
        found.sentence == "May be released: all 2 promises that could be tested hold."
    )


def test_what_a_green_run_passes_over_is_said() -> None:
    rows = [
        holds(0),
        row(1, expected="violated", outcome="passed"),
        holds(2, status="inconclusive", outcome="skipped"),
        row(3),
    ]
    found = answer(
        *rows,
        status="passed",
        ungated=[{"nodeid": rows[3]["nodeid"], "reason": "new"}],
    )
    assert found.sentence == (
        "May be released: 1 promise holds, 1 violation is known, 1 is inconclusive and passed over and "
        "1 does not gate."
    )


def test_a_red_run_may_not_and_says_how_many_of_what() -> None:
    rows = [row(0), row(1), holds(2, status="inconclusive", outcome="failed"), holds(3)]
    found = answer(*rows, status="failed", reasons=[f"violated: {rows[0]['nodeid']}"])
    assert found.sentence == (
        "May not be released: 2 promises are broken and 1 promise is inconclusive (shuffle(2))."
    )
    assert [card.key for card in found.blocking] == ["r1", "r2", "r3"]
    assert not found.further


def test_reasons_that_no_test_shows_stand_below() -> None:
    found = answer(row(0), status="failed", reasons=["the data drifted"])
    assert found.sentence.endswith("1 promise is broken and 1 more reason below.")
    assert found.further == ["the data drifted"]
    alone = answer(holds(0), status="failed", reasons=["the data drifted"])
    assert alone.sentence == "May not be released: the data drifted."


def test_a_test_that_fails_although_its_promise_holds_is_counted() -> None:
    found = answer(
        holds(0, outcome="failed"),
        status="failed",
        reasons=[f"failed: {holds(0)['nodeid']}"],
    )
    assert (
        found.sentence == "May not be released: 1 test failed though its promise holds."
    )


def test_regressions_are_counted() -> None:
    name = holds(0)["nodeid"]
    found = answer(
        holds(0),
        status="failed",
        reasons=[f"regressed: {name}", f"unclear change: {name}"],
    )
    assert (
        found.sentence
        == "May not be released: 1 verdict regressed and 1 change is inconclusive (shuffle(0))."
    )


def test_nothing_tested_is_no_release() -> None:
    assert (
        answer(status="failed").sentence == "May not be released: nothing was tested."
    )


def test_the_verdicts_in_the_way_are_said_in_a_sentence() -> None:
    reason = "about 140 more users would settle it"
    unclear = {"status": "inconclusive", "outcome": "failed", "interval": [-0.02, 0.12]}
    text = Page(render(document(row(0), holds(1, **unclear, reason=reason)))).text
    answer, _, rest = text.partition("Scorecard")
    assert "Order is irrelevant ( shuffle(0) ) is violated: the" in answer
    assert (
        "is 0.210 (0.150 to 0.270; 60 users), but at most 0.05 is allowed; p = 0.0004."
        in answer
    )
    assert reason not in answer, "its card says it"
    assert reason in rest
    unasked = holds(
        2,
        **{**unclear, "interval": None, "estimate": None},
        reason="not asked: limit",
    )
    (card,) = cards_of(document(unasked))
    assert card.said == "is inconclusive: not asked: limit."


def cells(*rows: dict[str, Any]) -> dict[str, list[Cell | None]]:
    models = sorted({each["model"] for each in rows})
    return {
        line.title: list(line.cells)
        for line in scorecard_of(cards_of(document(*rows)), models)
    }


def test_a_cell_says_the_worst_the_counts_and_how_sure() -> None:
    found = cells(holds(0), row(1, p_holm=0.004), row(2, p_holm=0.03), row(3, **ABSENT))
    (cell,) = found["metamorphic"]
    assert cell is not None
    assert (cell.state.key, cell.counts) == (
        "violated",
        "2 violated, 1 hold, 1 not applicable",
    )
    assert cell.sure == "p = 0.004 (Holm)"
    assert cell.link == "r1"


def test_a_suite_that_holds_says_how_many_bounds_are_approximate() -> None:
    (cell,) = cells(holds(0, approximate=True), holds(1))["metamorphic"]
    assert cell is not None
    assert (cell.counts, cell.sure, cell.link) == ("2 hold", "1 approximate", "holds")


def test_models_stand_side_by_side_and_the_worst_suite_first() -> None:
    rows = [holds(0), holds(1, suite="robust", model="n"), row(2, suite="robust")]
    found = cells(*rows)
    assert list(found) == ["robust", "metamorphic"]
    assert [cell and cell.state.key for cell in found["robust"]] == [
        "violated",
        "holds",
    ]
    assert [cell and cell.state.key for cell in found["metamorphic"]] == ["holds", None]


def test_a_suite_has_its_files_and_dimensions_as_parts() -> None:
    made = everything()
    lines = scorecard_of(cards_of(made), ["m", "n"])
    parts = {line.title: line.parts for line in lines}["multidimensional"]
    (tasks,) = parts
    assert tasks.title == "Tasks"
    assert tasks.cells[0] is not None
    assert ("novelty", "0.600") in tasks.cells[0].figures


def test_counts_and_p_values_are_short() -> None:
    assert counted(cards_of(document(holds(0)))) == "1 hold"
    assert p_text(0.0123) == "p = 0.012"
    assert p_text(1e-9) == "p < 0.000001"
