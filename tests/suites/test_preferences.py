"""The tests on preferences find what they are for, older
ones do not, and sound recommenders pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import Completion, Prompt, Request
from pytest_recsys_mt.datasets import load
from tests.plugin.conftest import record_of
from tests.suites import faults

SUITE = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"
FILMS = {item.label: item for item in load("mini").items.values()}


class LatestFirst(faults.Sound):
    """Rates the later half of a history highest, and promises so."""

    promises = ("recency",)

    def question(self, request: Request) -> Request:
        middle = len(request.history) // 2
        return request.replace(
            history=tuple(
                replace(
                    each,
                    value=request.scale.high if place >= middle else request.scale.low,
                )
                for place, each in enumerate(request.history)
            ),
        )


class OrderCounts(LatestFirst):
    """The same, as a model of sequences says it."""

    promises = ("order",)


class Modest(faults.Sound):
    """Promises nothing of ratings, and does not read them."""

    def question(self, request: Request) -> Request:
        rated = tuple(
            replace(each, value=request.scale.high) for each in request.history
        )
        return request.replace(history=rated)


class Boaster(faults.Sound):
    """Promises something that nobody knows."""

    promises = ("ratings", "novelty")


class Misdeclared(faults.Sound):
    """Declares a number as text."""

    reads_latest = "50"


class Contradicting(faults.Sound):
    """Wants to be held to ratings that it does not read."""

    promises = ("ratings",)
    ignores = ("ratings",)


class Misspelling(Modest):
    """Means ``ignores``."""

    ignore = ("ratings",)


class Reader:
    """A text model that lists candidates as they come, without
    a genre that it is asked to leave out.
    """

    deterministic = True

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(self._answer(prompt)) for prompt in prompts]

    def _answer(self, prompt: Prompt) -> str:
        text = "\n".join(message.content for message in prompt.messages)
        banned = text.rpartition('of the genre "')[2].partition('"')[0]
        offered = [film for label, film in FILMS.items() if f". {label}" in text]
        kept = [
            film.label for film in offered if banned not in film.attributes["genres"]
        ]
        return "\n".join(
            f"{place}. {label}" for place, label in enumerate(kept[: prompt.k], 1)
        )


def rows_of(
    pytester: pytest.Pytester,
    *options: str,
    files: Sequence[str] = ("test_preferences.py",),
) -> list[dict[str, Any]]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        *(SUITE / file for file in files), f"--recsys-json={path}", "-p", "no:cacheprovider", "-q",
        "--recsys-shrink=0", *options,
    )  # fmt: skip
    rows: list[dict[str, Any]] = record_of(path)["results"]
    assert not [row for row in rows if row["status"] == "error"]
    return rows


def status_of(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    return {f"{row['relation']} {row['oracle']}".strip(): row["status"] for row in rows}


def model(kind: type[object]) -> str:
    return f"--recsys-model={kind.__module__}:{kind.__name__}"


def test_a_sound_recommender_passes_and_what_it_does_not_promise_is_left_out(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(pytester)
    assert status_of(rows) == {
        "dislike_item neighbours_not_raised": "holds",
        "dislike_item neighbours_lowered": "holds",
        "raise_rating neighbours_not_lowered": "holds",
        "rate_lowest, raise_a_step neighbours_not_lowered": "holds",
        "forget_item neighbours_lowered": "holds",
        "drop_dislikes different_ranking:rbo": "holds",
        "choose_again": "not-applicable",
        "exclude_genre": "not-applicable",
    }
    (skipped,) = (row for row in rows if row["relation"] == "choose_again")
    assert "promises = ('recency',)" in skipped["reason"]


FOUND = {
    "reads_upside_down": {"dislike_item", "raise_rating"},
    "dislikes_are_likes": {"dislike_item"},
    "never_forgets": {"forget_item", "drop_dislikes"},
    "ignores_low_ratings": {"drop_dislikes"},
}


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        # What the others find is found in these two.
        pytest.param(
            *each,
            marks=()
            if each[0] in ("reads_upside_down", "never_forgets")
            else pytest.mark.slow,
        )
        for each in FOUND.items()
    ],
    ids=[*FOUND],
)
def test_they_find_the_fault(
    pytester: pytest.Pytester,
    fault: str,
    found: set[str],
) -> None:
    rows = rows_of(pytester, f"-orecsys_fault={fault}")
    assert {row["relation"] for row in rows if row["status"] == "violated"} == found


@pytest.mark.slow
@pytest.mark.parametrize("fault", FOUND)
def test_older_relations_miss_the_fault(pytester: pytest.Pytester, fault: str) -> None:
    older = sorted(path.name for path in SUITE.glob("test_*.py"))
    older.remove("test_preferences.py")
    older.remove("test_paper.py")
    rows = rows_of(
        pytester,
        f"-orecsys_fault={fault}",
        "-k",
        # Nor what came later than these.
        "not self_agreement_by and not elsewhere and not opposite_ratings and not no_history_changes and not few_ratings",
        files=older,
    )
    assert {row["status"] for row in rows} == {"holds", "not-applicable"}


def test_who_ignores_ratings_and_promises_nothing_keeps_them(
    pytester: pytest.Pytester,
) -> None:
    found = status_of(rows_of(pytester, model(Modest)))
    assert found["dislike_item neighbours_not_raised"] == "holds"
    assert found["raise_rating neighbours_not_lowered"] == "holds"
    assert found["drop_dislikes"] == "not-applicable"
    assert "dislike_item neighbours_lowered" not in found


@pytest.mark.parametrize(
    ("fault", "status"),
    [("", "holds"), ("ignores_the_order", "violated")],
)
def test_recency_is_judged_where_it_is_promised(
    pytester: pytest.Pytester,
    fault: str,
    status: str,
) -> None:
    planted = [f"-orecsys_fault={fault}"] if fault else []
    rows = rows_of(pytester, model(LatestFirst), *planted, "-k", "choose_again")
    assert status_of(rows) == {"choose_again neighbours_raised": status}


def test_who_promises_the_order_may_mind_it(pytester: pytest.Pytester) -> None:
    result = rows_of(
        pytester,
        model(OrderCounts),
        "-k",
        "reorder_history or another_order",
        files=["test_history.py"],
    )
    found = {row["relation"]: (row["status"], row["reason"]) for row in result}
    assert found["reverse_history"][0] == "holds"
    assert found["reorder_history"][0] == "not-applicable"
    assert found["reorder_history"][1].endswith(
        "claims to use order, so its answer may change",
    )


def test_who_promises_recency_may_mind_the_order(pytester: pytest.Pytester) -> None:
    """Both cannot be kept: an item counts the more, the
    later it is, and the order has no effect.
    """
    result = rows_of(
        pytester,
        model(LatestFirst),
        "-k",
        "reorder_history",
        files=["test_history.py"],
    )
    (row,) = (row for row in result if row["relation"] == "reorder_history")
    assert row["status"] == "not-applicable"
    assert row["reason"].endswith("claims to use recency, so its answer may change")


@pytest.mark.parametrize(
    ("fault", "status"),
    [("", "holds"), ("ignores_exclusions", "violated")],
)
def test_a_text_model_keeps_an_exclusion_or_not(
    pytester: pytest.Pytester,
    fault: str,
    status: str,
) -> None:
    planted = [f"-orecsys_fault={fault}"] if fault else []
    rows = rows_of(pytester, model(Reader), *planted, "-k", "exclusion")
    assert status_of(rows) == {"exclude_genre exclusion_kept": status}


def test_a_promise_that_there_is_not_is_named(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(
        SUITE / "test_preferences.py",
        model(Boaster),
        "-p",
        "no:cacheprovider",
        "-q",
    )
    (said,) = [
        line for line in result.outlines + result.errlines if "Boaster.promises" in line
    ]
    assert "holds 'novelty'" in said
    assert "'ratings', 'recency'" in said
    assert result.ret == pytest.ExitCode.USAGE_ERROR, "before a test runs"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [(Misdeclared, "reads_latest is '50'"), (Contradicting, "does not read 'ratings'")],
)
def test_a_wrong_declaration_is_named_before_a_test_runs(
    pytester: pytest.Pytester,
    wrong: type[object],
    named: str,
) -> None:
    result = pytester.runpytest_inprocess(
        SUITE / "test_preferences.py",
        model(wrong),
        "-p",
        "no:cacheprovider",
        "-q",
    )
    said = [line for line in result.outlines + result.errlines if named in line]
    assert len(said) == 1
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_failure_names_the_declaration_that_it_lacks_and_the_summary_a_misspelt_one(
    pytester: pytest.Pytester,
) -> None:
    result = pytester.runpytest_inprocess(
        SUITE / "test_ratings.py", model(Misspelling), "-p", "no:cacheprovider", "-q", "-k", "opposite",
        "--recsys-shrink=0",
    )  # fmt: skip
    result.stdout.fnmatch_lines(
        [
            'If it is meant to answer so, it declares: ignores = ("ratings",)',
            "note: Misspelling has an attribute 'ignore', which nothing reads; did you mean",
            "    'ignores'?",
        ],
    )
    result.assert_outcomes(failed=1)
