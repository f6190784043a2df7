"""The popularity suite finds biased, deaf and inventive
recommenders, and passes sound ones.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of
from tests.suites import readers

SUITE = Path(__file__).resolve().parents[2] / "suites" / "popularity"
BIAS, INVALID = "within:log_popularity_difference", "at_most:invalid"
MINIMIZE = "decreases:log_popularity_difference"
MITIGATE = "not_increased:absolute_log_popularity_difference"
HITS = {"at_least:hit@5", "at_least:hit@10"}


def rows_of(
    pytester: pytest.Pytester,
    model: str,
    *more: str,
    users: int = 400,
) -> list[dict[str, Any]]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITE, f"--recsys-model={model}", f"--recsys-json={path}", f"--recsys-users={users}",
        f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider", "-q", *more,
    )  # fmt: skip
    rows: list[dict[str, Any]] = record_of(path)["results"]
    return rows


def named(rows: list[dict[str, Any]], status: str) -> set[str]:
    return {row["oracle"] for row in rows if row["status"] == status}


@pytest.mark.parametrize(
    ("model", "unclear"),
    [
        ("itemknn", set()),
        pytest.param("userknn", set(), marks=pytest.mark.slow),
        pytest.param("mostpop", set(), marks=pytest.mark.slow),
        ("random", {BIAS, *HITS}),
    ],
    ids=["itemknn", "userknn", "mostpop", "random"],
)
def test_classical_recommenders(
    pytester: pytest.Pytester,
    model: str,
    unclear: set[str],
) -> None:
    """Only chance is near limits: it finds one film in thirty,
    of a popularity 1.05 below the user's.
    """
    rows = rows_of(pytester, model)
    assert named(rows, "violated") == set()
    assert named(rows, "inconclusive") == unclear
    assert named(rows, "holds") == {BIAS, INVALID, *HITS} - unclear
    skipped = [row for row in rows if row["status"] == "not-applicable"]
    assert len(skipped) == 4
    assert {row["reason"] for row in skipped} == {
        f"needs a text model, and {model} reads no text",
    }
    values = {row["metric"]: row for row in rows if row.get("metric")}
    assert set(values) == {"hit@5", "hit@10", "log_popularity_difference", "invalid"}
    for row in values.values():
        assert row["interval"][0] <= row["value"] <= row["interval"][1]
        assert row["users"] == 400
    assert values["invalid"]["value"] == 0


def test_neighbours_find_more_and_are_less_biased_than_what_is_popular(
    pytester: pytest.Pytester,
) -> None:
    """Films already watched hide this: a neighbour's best are mostly what the user has."""
    found = {
        model: {
            row["metric"]: row["value"]
            for row in rows_of(pytester, model, "-k", "popularity.py", users=200)
        }
        for model in ("itemknn", "userknn", "mostpop")
    }
    for model in ("itemknn", "userknn"):
        assert found[model]["hit@10"] > 0.1 + found["mostpop"]["hit@10"]
        bias = "log_popularity_difference"
        assert found[model][bias] < found["mostpop"][bias] - 0.3


@pytest.mark.parametrize(
    ("reader", "violated"),
    [
        (readers.Reader, set()),
        (readers.LovesBlockbusters, {INVALID, MINIMIZE}),
        (readers.LovesObscurities, {BIAS, MINIMIZE}),
        (readers.IgnoresTheInstruction, {MINIMIZE}),
        (readers.LeadsAway, {MITIGATE}),
        (readers.Invents, {INVALID}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.slow
def test_language_models(
    pytester: pytest.Pytester,
    reader: type[readers.Reader],
    violated: set[str],
) -> None:
    rows = rows_of(pytester, f"{reader.__module__}:{reader.__name__}", users=200)
    assert named(rows, "violated") - HITS == violated
    # Of what is most popular users have most: what is left of it is at the limit of the
    # bias.
    unclear = {BIAS} if reader is readers.LovesBlockbusters else set()
    assert {BIAS, INVALID, MINIMIZE, MITIGATE} - violated - unclear <= named(
        rows,
        "holds",
    )
    assert not unclear & named(rows, "holds")
    assert "error" not in {row["status"] for row in rows}


def test_the_templates_are_the_relations_in_the_prompt(
    pytester: pytest.Pytester,
) -> None:
    model = f"{readers.__name__}:Reader"
    values = {}
    for prompt in ("wok", "wok-minimize", "wok-mitigate"):
        rows = rows_of(
            pytester,
            model,
            f"--recsys-prompt={prompt}",
            "-k",
            "as_popular",
            users=60,
        )
        (values[prompt],) = [row["value"] for row in rows]
    assert values["wok-minimize"] < values["wok"] - 0.5
    assert values["wok-mitigate"] == pytest.approx(values["wok"], abs=0.1)
