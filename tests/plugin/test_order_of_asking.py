"""A run says if a recommender's answers depend on
which other users are asked with them.
"""

import pytest

from tests.plugin.conftest import Run, record_of

BATCHED = """
import numpy as np

from pytest_recsys_mt import Recommendation

BATCH = 32


class Batched:
    '''Scores the candidates with a noise that requests of one batch share in part.'''

    def __init__(self):
        self.rng = np.random.default_rng(7)

    def recommend(self, requests):
        return [
            answer
            for first in range(0, len(requests), BATCH)
            for answer in self._answers(requests[first : first + BATCH])
        ]

    def _answers(self, batch):
        level = self.rng.choice([0.1, 0.9])
        for request in batch:
            items = [item.id for item in request.candidates]
            if self.rng.random() < level:
                self.rng.shuffle(items)
            yield Recommendation(items[: request.k])


class Apart(Batched):
    '''The same noise, but each request has its own.'''

    def _answers(self, batch):
        for request in batch:
            yield from super()._answers([request])
"""
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import Score, at_most

moved = Score(
    "moved",
    lambda answer, asked, context: (
        sum(a != b.id for a, b in zip(answer.items, asked.request.candidates)) / len(answer.items), 0
    ),
    span=(0, 1),
)

def test_few_are_moved(recsys):
    assert at_most(recsys.run(), moved, 0.45)
"""


def test_answers_that_batches_share_are_named_beside_the_verdict_and_in_the_notes(
    project: pytest.Pytester,
    run: Run,
) -> None:
    project.makepyfile(models=BATCHED, test_it=TEST)
    common = [
        "--recsys-users=300",
        "--recsys-replicates=1",
        "--recsys-json=record.json",
    ]
    run(*common, "--recsys-model=models.py:Batched")
    record = record_of(project.path / "record.json")
    (row,) = record["results"]
    assert "users asked together are alike" in row["reason"]
    assert row["details"]["order"]["p_value"] <= 0.001
    (note,) = [note for note in record["notes"] if "order of asking" in note]
    assert note.startswith(
        "models.py:Batched: the values depend on the order of asking",
    )
    run(*common, "--recsys-model=models.py:Apart")
    record = record_of(project.path / "record.json")
    assert "order" not in record["results"][0]["details"]
    assert not [note for note in record["notes"] if "order of asking" in note]
