"""Replicates that are no draws: one draw behind a cache
is told from a model without noise.
"""

from __future__ import annotations

import pytest

from tests.plugin.conftest import record_of

MODELS = """
import hashlib
import random
import re

from pytest_recsys_mt import Completion


class Model:
    def complete(self, prompts):
        return [Completion(self.answer(p.messages[-1].content, p.seed)) for p in prompts]

    def answer(self, text, seed):
        names = [line.split(". ", 1)[1] for line in text.splitlines() if re.match(r"\\d+[.] ", line)]
        return "\\n".join(f"{at}. {name}" for at, name in enumerate(self.ranked(names, text, seed)[:10], 1))


class Gateway(Model):
    # Answers an equal prompt as before, and any other one by chance.
    def ranked(self, names, text, seed):
        draw = random.Random(hashlib.sha256(text.encode()).hexdigest())
        return draw.sample(sorted(names), len(names))


class Noisy(Model):
    def ranked(self, names, text, seed):
        return random.Random(seed).sample(sorted(names), len(names))


class First(Model):
    # Has no noise, and does not say so.
    def ranked(self, names, text, seed):
        return names


class Declared(Gateway):
    deterministic = True
"""

TESTS = """
import pytest

from pytest_recsys_mt.oracles import different_ranking, same_ranking, self_agreement, within_noise
from pytest_recsys_mt.relations import add_spaces, random_words, shuffle_candidates


@pytest.mark.parametrize("relation", [add_spaces(0.3), random_words(rate=0.2), shuffle_candidates])
def test_same(recsys, relation):
    assert same_ranking(recsys.run(), recsys.run(relation))


def test_within(recsys):
    assert within_noise(recsys.run(), recsys.run(add_spaces(0.3)))


def test_different(recsys):
    assert different_ranking(recsys.run(), recsys.run(add_spaces(0.3)))


def test_agrees(recsys):
    assert self_agreement(recsys.run(), threshold=0.5)
"""


@pytest.mark.parametrize(
    ("name", "broken", "unsure"),
    [
        ("Gateway", 0, 6),
        ("First", 3, 0),
        pytest.param("Noisy", 1, 0, marks=pytest.mark.slow),
        pytest.param("Declared", 4, 0, marks=pytest.mark.slow),
    ],
)
def test_one_draw_behind_a_cache_breaks_no_promise(
    pytester: pytest.Pytester,
    name: str,
    broken: int,
    unsure: int,
) -> None:
    pytester.makepyfile(models=MODELS, test_them=TESTS)
    pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-users=80", f"--recsys-model=models.py:{name}",
        "--recsys-json=record.json", "-orecsys_controls=0", "test_them.py",
    )  # fmt: skip
    record = record_of(pytester.path / "record.json")
    rows = record["results"]
    assert len(rows) == 6
    assert sum(row["status"] == "violated" for row in rows) >= broken
    equal = "its answers to one request are equal"
    told = [row for row in rows if equal in row["reason"]]
    assert [row["status"] for row in told] == ["inconclusive"] * unsure
    assert len(record["notes"]) == bool(unsure)
    if unsure:
        assert (
            "with '[1]' behind the prompt 100% of the answers are others"
            in record["notes"][0]
        )
        assert "deterministic=true" in record["notes"][0]
