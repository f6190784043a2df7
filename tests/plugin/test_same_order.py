"""`same_order` where the two requests do not offer the same."""

import json
from typing import Any

import pytest

pytest_plugins = ["pytester"]

MODELS = """
import hashlib
import random

from pytest_recsys_mt import Recommendation


def taste(*facts):
    return int(hashlib.sha256("|".join(facts).encode()).hexdigest()[:8], 16) / 16**8


class Noisy:
    '''Looks at each candidate by itself, with noise of its own.'''

    def __init__(self):
        self.rng = random.Random(7)

    def recommend(self, requests):
        answers = []
        for request in requests:
            scores = {
                item.id: taste(item.id, request.user) + self.rng.gauss(0, 0.15)
                for item in request.candidates
            }
            ranked = sorted(scores, key=lambda item: -scores[item])
            answers.append(Recommendation(tuple(ranked[: request.k])))
        return answers


class Watched:
    '''Names three films that the user has watched, whatever is shown of the history.'''

    deterministic = True

    def fit(self, dataset, seed):
        self.films = sorted(dataset.items)

    def recommend(self, requests):
        answers = []
        for request in requests:
            ranked = sorted(self.films, key=lambda film: taste(film, request.user))
            known = [film for film in ranked if film in request.known]
            other = [film for film in ranked if film not in request.known]
            answers.append(Recommendation(tuple((known[:3] + other)[: request.k])))
        return answers
"""
TEST = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_order
from pytest_recsys_mt.relations import add_irrelevant_candidates, truncate_history

@pytest.mark.parametrize("similarity", ["kendall", "rbo", "overlap", "jaccard"])
@metamorphic(add_irrelevant_candidates(40))
def test_irrelevant(source, followup, similarity):
    same_order(source, followup, similarity=similarity, margin=0.5)

@metamorphic(truncate_history(5))
def test_shorter(source, followup):
    assert same_order(source, followup)
"""


def rows(pytester: pytest.Pytester, *options: str) -> list[dict[str, Any]]:
    pytester.makepyfile(models=MODELS, test_it=TEST)
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(f"--recsys-json={path}", *options)
    found: list[dict[str, Any]] = json.loads(path.read_text())["results"]
    return found


def test_a_floor_is_as_deep_as_what_it_is_compared_with(
    pytester: pytest.Pytester,
) -> None:
    """Added candidates leave few of the others in the list;
    noise that does not see them is no effect.
    """
    found = rows(
        pytester,
        "--recsys-model=models.py:Noisy",
        "--recsys-seed=5",
        "-k",
        "irrelevant",
    )
    assert len(found) == 4
    for row in (
        found
    ):  # of 20 users each: where the floor is below the margin no more are asked
        assert abs(row["estimate"]) < 0.08


def test_what_leaves_the_history_is_offered_no_more_than_before(
    pytester: pytest.Pytester,
) -> None:
    options = ("--recsys-candidates=0", "--recsys-users=70", "-k", "shorter")
    (row,) = rows(pytester, "--recsys-model=models.py:Watched", *options)
    assert (row["status"], row["estimate"]) == ("holds", 0.0)
