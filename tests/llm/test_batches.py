"""Prompts are divided into batches that fit."""

import random
from itertools import product

import pytest

from tests.laws import over
from tests.support.llm_local import plan

ANSWER = 10


def prompts(seed: int) -> list[tuple[int, ...]]:
    """Some with one beginning, some alone, some repeated."""
    rng = random.Random(seed)
    made = []
    for _ in range(rng.randint(1, 12)):
        head = [rng.randrange(50) for _ in range(rng.randint(0, 40))]
        for _ in range(rng.randint(1, 4)):
            made.append(
                (*head, *(rng.randrange(50) for _ in range(rng.randint(1, 30)))),
            )
    made += rng.choices(made, k=5)
    rng.shuffle(made)
    return made


@over("seed, apart, most", product(range(20), [False, True], [None, 1, 3]))
def test_every_prompt_is_in_one_batch_that_fits(
    seed: int,
    apart: bool,
    most: int | None,
) -> None:
    asked = prompts(seed)
    batches = list(plan(asked, ANSWER, tokens=200, most=most, apart=apart))
    assert sorted(place for batch in batches for place in batch) == list(
        range(len(asked)),
    )
    for places in batches:
        longest = max(len(asked[place]) for place in places)
        assert len(places) == 1 or len(places) * (longest + ANSWER) <= 200
        assert most is None or len(places) <= most
        if apart:
            assert len({asked[place] for place in places}) == len(places)


def test_the_longest_prompts_come_first() -> None:
    asked = [(n,) * n for n in (3, 9, 1, 7, 5)]
    assert list(plan(asked, ANSWER, tokens=40, most=None, apart=False)) == [
        [1, 3],
        [4, 0],
        [2],
    ]


@pytest.mark.parametrize("most", [None, 4])
def test_a_repeated_prompt_meets_other_neighbours(most: int | None) -> None:
    asked = [(n,) * (n + 1) for n in range(12)]
    neighbours: dict[int, set[frozenset[int]]] = {}
    for batch in plan(asked * 2, ANSWER, tokens=10_000, most=most, apart=True):
        places = frozenset(place % 12 for place in batch)
        for place in places:
            neighbours.setdefault(place, set()).add(places)
    assert all(len(met) == 2 for met in neighbours.values())
