"""A dimension is a figure in [0, 1] of which 1 is best, whatever its verdict measures."""

import json
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt import Verdict, annotate, dimension
from tests.plugin.conftest import record_of
from tests.support.report import dimensions, row_of

VALUE = Verdict("holds", "at_least:ndcg@5", value=0.6, interval=(0.5, 0.7))
RATE = Verdict("holds", "at_most:hallucination", value=0.02, interval=(0.0, 0.05))
LOSS = Verdict("holds", "not_worse:ndcg@5", estimate=-0.1, interval=(-0.3, 0.05))


@pytest.mark.parametrize(
    ("verdict", "best", "figures"),
    [
        (VALUE, "high", (0.6, 0.5, 0.7)),
        (RATE, "low", (0.98, 0.95, 1.0)),
        (LOSS, "low", (0.9, 0.7, 1.0)),
        (
            Verdict("violated", "x", estimate=1.4, interval=(1.2, 1.6)),
            "low",
            (0.0, 0.0, 0.0),
        ),
        (Verdict("holds", "x", value=0.5), "high", (0.5, None, None)),
    ],
)
def test_the_best_is_one(
    verdict: Verdict,
    best: str,
    figures: tuple[float | None, ...],
) -> None:
    found = dimension(verdict, "some", best=best).details["dimension"]  # type: ignore[arg-type]
    assert found["name"] == "some"
    assert (found["value"], found["low"], found["high"]) == pytest.approx(figures)


def test_a_verdict_without_a_number_has_no_dimension() -> None:
    nothing = Verdict("not-applicable", "x")
    assert dimension(nothing, "some") is nothing


def test_figures_are_added_to_those_there_are() -> None:
    once = annotate(VALUE, figures={"a": 1})
    assert annotate(once, curve={}).details == {"figures": {"a": 1}, "curve": {}}
    assert VALUE.details == {}


def test_the_record_gathers_dimensions_by_recommender() -> None:
    rows: Any = [
        {"model": model, "nodeid": f"test[{model}]", "details": details}
        for model, details in (
            ("one", dict(dimension(VALUE, "utility").details)),
            ("one", {"curve": {}}),
            ("two", dict(dimension(RATE, "truth", best="low").details)),
        )
    ]
    found = dimensions(rows)
    assert found.keys() == {"one", "two"}
    assert found["one"] == {
        "utility": {"value": 0.6, "low": 0.5, "high": 0.7, "nodeid": "test[one]"},
    }
    assert found["two"]["truth"]["value"] == pytest.approx(0.98)


TESTS = """
    from pytest_recsys_mt import annotate, expect_violated
    from pytest_recsys_mt.oracles import at_least

    def test_first_noted(recsys):
        verdict = annotate(at_least(recsys.run(), "hit@5", 1.0), figures={"noted": 1})
        assert expect_violated(verdict)

    def test_first_expected(recsys):
        verdict = at_least(recsys.run(), "hit@5", 1.0)
        expectation = expect_violated(verdict)
        annotate(verdict, figures={"noted": 1})
        assert expectation

    def test_not_asserted(recsys):
        annotate(at_least(recsys.run(), "hit@5", 1.0), figures={"noted": 1})
"""


def test_an_annotated_verdict_is_one_row_and_as_binding(
    pytester: pytest.Pytester,
) -> None:
    from tests.plugin.conftest import record_of

    pytester.makepyfile(TESTS)
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        f"--recsys-json={path}", "--recsys-users=60", "-p", "no:cacheprovider", "-q",
        f"--recsys-cache={pytester.path / 'cache'}",
    ).assert_outcomes(passed=2, failed=1)  # fmt: skip
    rows = record_of(path)["results"]
    assert len(rows) == 3
    assert {row["details"]["figures"]["noted"] for row in rows} == {1}


@pytest.mark.parametrize("figure", ["object()", "{1, 2}"])
def test_a_figure_that_no_record_can_hold_fails_its_test_alone(
    pytester: pytest.Pytester,
    figure: str,
) -> None:
    pytester.makepyfile(
        f"""
        from pytest_recsys_mt.oracles import no_repeats
        from pytest_recsys_mt import annotate

        def test_bad(recsys):
            assert annotate(no_repeats(recsys.run()), thing={figure})

        def test_other(recsys):
            assert no_repeats(recsys.run())
        """,
    )
    done = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-model=mostpop",
        "--recsys-json=record.json",
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*ValueError: annotate: thing must be plain JSON data*"])
    assert len(record_of(pytester.path / "record.json")["results"]) == 2


def test_a_number_that_is_not_finite_costs_itself_alone_and_is_named(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import dataclasses
        import math

        from pytest_recsys_mt import annotate
        from pytest_recsys_mt.oracles import no_repeats

        def test_noted(recsys):
            assert annotate(no_repeats(recsys.run()), ratio=math.nan, deep={"a": [1, -math.inf]})

        def test_lost(recsys):
            verdict = no_repeats(recsys.run())
            changed = dataclasses.replace(
                verdict, interval=(math.nan, 1.0), value=math.inf, per_user={"a": 1.0, "b": math.nan}
            )
            verdict.ledger.replaced(verdict, changed)
            assert verdict

        def test_other(recsys):
            assert no_repeats(recsys.run())
        """,
    )
    done = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-model=mostpop",
        "--recsys-json=record.json",
        "--recsys-html=page.html",
    )
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(
        [
            "*noted: not a finite number, so left out: details.ratio, details.deep.a?1?*",
            "gate: passed*",
        ],
    )
    rows = record_of(pytester.path / "record.json")["results"]
    noted, lost, other = (
        next(row for row in rows if f"::test_{name}" in row["nodeid"])
        for name in ("noted", "lost", "other")
    )
    assert noted["details"]["deep"] == {"a": [1, None]}
    assert lost["interval"] is None
    assert lost["per_user"] == {"a": 1.0}
    assert "interval[0]" in lost["reason"]
    assert "not_finite" not in other["details"]


def test_a_row_is_json_whatever_its_details_are() -> None:
    details: Any = {
        "numbers": np.array([1.0, np.nan]),
        "one": np.float32(2),
        "count": np.int64(3),
        "sure": np.bool_(True),
        "them": {"x"},
        ("a", 1): object(),
        "text": "\x1b[31mred",
    }
    row = row_of(
        Verdict("holds", "mine", details=details),
        nodeid="t",
        suite="s",
        model="m",
        expected="holds",
    )
    read = json.loads(json.dumps(row, allow_nan=False))["details"]
    assert read["numbers"] == [1.0, None]
    assert (read["one"], read["count"], read["sure"], read["them"]) == (
        2,
        3,
        True,
        ["x"],
    )
    assert read["text"] == "red"
    assert read["not_finite"] == ["details.numbers[1]"]
