"""The promise that is printed is what the oracle checks."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_recsys_mt.relations import shuffle_candidates, swap_history
from tests.support.report import promise_of

STAYS, CHANGES = shuffle_candidates.promise, swap_history.promise


def item(doc: str = "") -> Any:
    return SimpleNamespace(obj=SimpleNamespace(__doc__=doc))


@pytest.mark.parametrize(
    ("relation", "oracle", "allowed", "promise"),
    [
        (shuffle_candidates, "same_ranking:rbo", "at most", STAYS),
        (shuffle_candidates, "same_score:hit@1", "within", STAYS),
        (swap_history, "different_ranking:rbo", "at least", CHANGES),
        (shuffle_candidates, "", None, STAYS),
        (swap_history, "", None, CHANGES),
    ],
)
def test_the_relations_words_stand_where_they_fit(
    relation: Any,
    oracle: str,
    allowed: Any,
    promise: str,
) -> None:
    assert promise_of(item("What the test says."), relation, oracle, allowed) == promise


@pytest.mark.parametrize(
    ("relation", "oracle", "allowed"),
    [
        (shuffle_candidates, "different_ranking:rbo", "at least"),
        (swap_history, "same_ranking:rbo", "at most"),
    ],
)
def test_else_the_tests_own_or_the_oracles(
    relation: Any,
    oracle: str,
    allowed: Any,
) -> None:
    assert (
        promise_of(item("What the test says."), relation, oracle, allowed)
        == "What the test says."
    )
    of_oracle = promise_of(item(), relation, oracle, allowed)
    assert of_oracle
    assert of_oracle != relation.promise
