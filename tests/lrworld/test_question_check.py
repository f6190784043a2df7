"""The independent check of generated questions finds none
wrong, and finds those that are made wrong.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks.lrworld_questions import World, check, faults
from benchmarks.lrworld_worlds import WORLDS
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.suites.lrworld import generate
from tests.extras import need


@pytest.mark.parametrize("name", WORLDS)
def test_awkward_data_give_no_wrong_question(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    need("torch")
    dataset = load(WORLDS[name](tmp_path / name, 0))
    assert dataset.family == name
    found = check(name, dataset, 8, 0, "uniform")
    assert found["questions"] >= 50
    assert found["wrong"] == 0, capsys.readouterr().out


def test_a_wrong_key_is_found_in_every_kind_that_can_be_computed_again(
    tmp_path: Path,
) -> None:
    dataset = load(WORLDS["amazon"](tmp_path / "amazon", 0))
    world = World(dataset)
    kinds = [
        "rules",
        "similar_items",
        "similar_users",
        "brand",
        "colour",
        "leaf",
        "root",
    ]
    found = defaultdict(list)
    for question in generate(
        dataset,
        [*kinds, "image", "next_item"],
        count=8,
    ).questions:
        other = (question.answer + 1) % len(question.options)
        moved = dataclasses.replace(question, answer=other)
        found[question.measure].append(bool(list(faults(world, moved))))
        twice = (*question.options[:-1], f"{question.options[0]} ")
        changed = dataclasses.replace(question, options=twice)
        assert next(faults(world, changed)) == "two options read alike"
    assert all(map(all, found.values())), found
    assert set(found) == {*kinds, "image", "next_item"}
