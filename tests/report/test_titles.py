"""Titles of rows read as titles: from the test's name, else from what it measures."""

from dataclasses import fields
from typing import Any

import pytest

from tests.report.records import document, holds, row, task
from tests.support.report_html import (
    CONDITIONS,
    EXACTLY,
    cards_of,
    conditions,
    name_of,
    part_of,
    title_of,
)
from tests.support.requests import Design

SUITE = "suites/multidimensional/test_novelty.py::"


def measured(test: str, metric: str, relation: str = "", **changes: Any) -> Any:
    return task(metric, 0.2, nodeid=f"{SUITE}{test}", relation=relation, **changes)


@pytest.mark.parametrize(
    ("found", "title", "name"),
    [
        (measured("test_at_most[m-dpd@5]", "dpd@5", "history=100"),
         "Demographic parity difference (DPD) in the first 5 places", "histories of up to 100"),
        (measured("test_reranking[m]", "hit@5", "recall=True"),
         "Hit rate in the first 5 places", "candidates from the recall step"),
        (measured("test_rates[m-hallucination@full]", "hallucination@full"),
         "Hallucination in the whole answer", ""),
        (measured("test_compliance[m]", "compliance"), "Compliance", ""),
        (measured("test_ranking[m-hit@1]", "hit@1"), "Hit rate in the first place", ""),
        (measured("test_recommendations_are_valid[m]", "invalid"), "Recommendations are valid", ""),
        (measured("test_better_than_guessing[m-amazon-brand]", "accuracy"),
         "Better than guessing", "amazon-brand"),
        (measured("test_mine[m]", "taste"), "Mine", ""),
        (row(), "Order is irrelevant", "shuffle(0)"),
        (row(relation="k=5", against="k=20"), "Order is irrelevant", "lists of 5 against lists of 20"),
    ],
)  # fmt: skip
def test_a_title_says_what_is_promised_or_measured(
    found: Any,
    title: str,
    name: str,
) -> None:
    assert title_of(found) == title
    assert name_of(found) == name


def test_a_relation_that_is_no_change_of_the_design_keeps_its_name() -> None:
    for relation in ("random_words(rate=0.19)", "mine=3", "shuffle", "", "k=5; drop"):
        assert conditions(relation) == relation


def test_every_field_of_the_design_has_words() -> None:
    said = {field.name for field in fields(Design)}
    assert said == CONDITIONS.keys() | {name.partition("=")[0] for name in EXACTLY}


def test_rows_of_one_title_are_told_apart_by_what_they_judge() -> None:
    one, other = (
        row(0),
        row(0, oracle="low_churn:rbo", measures="share of users beyond chance"),
    )
    cards = cards_of(document(one, other, row(1)))
    names = {card.name for card in cards}
    assert len(names) == 3
    assert "shuffle(0): share of users beyond chance, rbo" in names
    assert "shuffle(1)" in names, "only as much as needed"


def test_the_part_of_a_suite_is_the_file() -> None:
    assert part_of(holds(nodeid=f"{SUITE}test_x[m]")) == "Novelty"
