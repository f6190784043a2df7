"""Several models: one matrix, what differs first, with
what the gate claims of the differences.
"""

from typing import Any

from tests.report.records import document, holds, row
from tests.report.test_page import Page
from tests.support.report_html import Matrix, cards_of, matrix_of, render


def of(model: str, number: int, **changes: Any) -> Any:
    made = holds(number, model=model, **changes)
    made["nodeid"] = f"suites/metamorphic/test_it.py::test_it[{model}-{number}]"
    return made


def compared(
    *found: dict[str, Any],
    model: str = "n",
    **changes: Any,
) -> dict[str, Any]:
    return {"model": model, "against": "m", "baseline": "", "refused": [], "counts": {},
            "bounds": "upper bounds at 0.05", "results": list(found), **changes}  # fmt: skip


def change(
    of_row: dict[str, Any],
    word: str,
    worse: float = 0.2,
    **changes: Any,
) -> dict[str, Any]:
    return {"nodeid": of_row["nodeid"], "relation": of_row["relation"], "oracle": of_row["oracle"],
            "change": word, "worse": worse, "interval": [worse - 0.1, worse + 0.1], "p_holm": 0.01,
            "margin": 0.05, "users": 60, "reason": "", **changes}  # fmt: skip


def made(*rows: dict[str, Any], comparisons: list[dict[str, Any]]) -> Any:
    record = document(*rows)
    record["gate"]["comparisons"] = comparisons
    return record


def matrix(record: Any, models: list[str]) -> Matrix:
    found = matrix_of(record, cards_of(record), models)
    assert found is not None
    return found


def test_what_differs_comes_first_with_the_difference_and_its_significance() -> None:
    rows = [of("m", 0), of("n", 0), of("m", 1), of("n", 1), of("m", 2),
            {**of("n", 2), "status": "violated", "outcome": "failed"}]  # fmt: skip
    found = matrix(
        made(*rows, comparisons=[compared(
            change(rows[1], "unchanged", 0.0), change(rows[3], "regressed"),
            change(rows[5], "inconclusive"),
        )]),
        ["m", "n"],
    )  # fmt: skip
    assert [line.lead.row["relation"] for line in found.lines] == [
        "shuffle(2)",
        "shuffle(1)",
    ]
    assert [line.lead.row["relation"] for line in found.others] == ["shuffle(0)"]
    worse = found.lines[1].cells[1]
    assert worse is not None
    assert (worse.word, worse.worse, worse.sure) == (
        "worse", "0.200 [0.100, 0.300]", "p = 0.01 (Holm)",
    )  # fmt: skip
    assert found.notes == ["n: upper bounds at 0.05"]


def test_a_verdict_that_one_model_lacks_leaves_its_cell_empty() -> None:
    rows = [of("m", 0), of("n", 0), of("m", 1)]
    found = matrix(made(*rows, comparisons=[]), ["m", "n"])
    cells = {line.lead.row["relation"]: line.cells for line in found.others}
    assert cells["shuffle(1)"][1] is None


def test_verdicts_of_one_test_and_oracle_are_joined_as_the_gate_joins_them() -> None:
    rows = [of("m", 0, relation="history=5"), of("n", 0, relation="history=10")]
    found = matrix(made(*rows, comparisons=[]), ["m", "n"])
    (line,) = found.others
    assert all(line.cells)


def test_verdicts_on_different_steps_each_say_theirs_and_are_not_compared() -> None:
    """An oracle that judges the worst of several steps may
    judge another one for another model.
    """
    step = {"relation": "history=5", "against": "history=2"}
    rows = [of("m", 0, **step), of("n", 0, relation="history=2", against="history=1"),
            of("o", 0, **step)]  # fmt: skip
    old = [
        compared(change(rows[1], "unchanged")),
        compared(change(rows[2], "unchanged"), model="o"),
    ]
    record = made(*rows, comparisons=old)
    (line,) = matrix(record, ["m", "n", "o"]).others
    told = [(cell.step, cell.word) for cell in line.cells if cell]
    assert told == [
        ("histories of up to 5 against histories of up to 2", ""),
        ("histories of up to 2 against histories of up to 1", "not comparable"),
        ("histories of up to 5 against histories of up to 2", "no worse"),
    ]
    text = Page(render(record)).text
    assert (
        "It metamorphic , at most 0.05 histories of up to 5 against histories of up to 2 ✓ holds"
        in text
    )
    assert (
        "histories of up to 2 against histories of up to 1 ✓ holds 0.010 [-0.010, 0.030] – not comparable"
        in text
    )


def test_no_worse_is_told_with_the_margin_that_it_means() -> None:
    """An interval wholly above 0 is a loss, though one within the margin."""
    rows = [of("m", 0), of("n", 0), of("m", 1), of("n", 1)]
    small = change(rows[1], "unchanged", 0.05, interval=[0.01, 0.09], margin=0.1)
    none = change(rows[3], "unchanged", 0.0, interval=[0.0, 0.0], margin=0.1)
    text = Page(render(made(*rows, comparisons=[compared(small, none)]))).text
    assert "≤ no worse by more than the margin 0.1: 0.050 [0.010, 0.090]" in text
    assert "= no worse: 0.000 [0.000, 0.000]" in text, "the very same values"
    assert "it does not gate unless a policy (recsys.toml) applies" in text
    assert "a comparison with a baseline gates." in text


def test_a_league_of_models_is_no_column() -> None:
    rows = [of("m", 0), of("n", 0), of("league", 1)]
    found = matrix(made(*rows, comparisons=[]), ["m", "n", "league"])
    assert found.models == ["m", "n"]
    assert [len(line.cells) for line in found.others] == [2]


def test_why_models_cannot_be_compared_is_said() -> None:
    rows = [of("m", 0), of("n", 0)]
    ungated = change(rows[1], "ungated", reason="no values")
    text = Page(
        render(
            made(
                *rows,
                comparisons=[compared(ungated, bounds="", refused=["other users"])],
            ),
        ),
    ).text
    assert "n: other users." in text
    assert "not compared" in text
    assert "no values" in text


def test_one_model_has_no_matrix_and_neither_have_models_without_a_test_in_common() -> (
    None
):
    assert "The models side by side" not in render(document(holds(0), holds(1)))
    apart = [of("m", 0), of("n", 1)]
    assert "The models side by side" not in render(made(*apart, comparisons=[]))


def test_a_comparison_with_a_baseline_is_no_column() -> None:
    rows = [of("m", 0), of("n", 0)]
    old = compared(change(rows[0], "regressed"), model="m", baseline="old.json")
    text = Page(render(made(*rows, row(9), comparisons=[old]))).text
    assert "What changed since the baseline" in text
    assert "No verdict differs." in text, "between the models"
