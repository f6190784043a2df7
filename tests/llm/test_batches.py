"""Prompts are divided into batches that fit, and share what they have in common."""

import random

import pytest

from pytest_recsys_mt.llm.local.batches import common, plan

ANSWER = 10


def prompts(seed: int) -> list[tuple[int, ...]]:
    """Some with one beginning, some alone, some repeated."""
    rng = random.Random(seed)
    made = []
    for _ in range(rng.randint(1, 12)):
        head = [rng.randrange(50) for _ in range(rng.randint(0, 40))]
        for _ in range(rng.randint(1, 4)):
            made.append((*head, *(rng.randrange(50) for _ in range(rng.randint(1, 30)))))
    made += rng.choices(made, k=5)
    rng.shuffle(made)
    return made


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("most", [None, 1, 3])
def test_every_prompt_is_in_one_batch_that_fits(seed: int, apart: bool, most: int | None) -> None:
    asked = prompts(seed)
    batches = list(plan(asked, ANSWER, tokens=200, most=most, apart=apart))
    members = [[place for group in batch for place in group.members] for batch in batches]
    assert sorted(place for batch in members for place in batch) == list(range(len(asked)))
    for batch, places in zip(batches, members, strict=True):
        longest = max(len(asked[place]) for place in places)
        assert len(places) == 1 or len(places) * (longest + ANSWER) <= 200
        assert most is None or len(places) <= most
        if apart:
            assert len({asked[place] for place in places}) == len(places)
        for group in batch:
            heads = {asked[place][: group.head] for place in group.members}
            assert len(heads) == 1
            assert all(len(asked[place]) > group.head for place in group.members)


def test_prompts_with_one_beginning_are_read_as_a_group() -> None:
    head = tuple(range(100))
    asked = [(*head, 1), (7,) * 90, (*head, 2, 3), (*head, 2, 4)]
    batches = list(plan(asked, ANSWER, tokens=1000, most=None, apart=False))
    assert [(g.head, sorted(g.members)) for batch in batches for g in batch] == [
        (100, [0, 2, 3]),
        (0, [1]),
    ]


def test_a_repeated_prompt_meets_other_neighbours() -> None:
    asked = [(n,) * (n + 1) for n in range(12)]
    batches = list(plan(asked * 2, ANSWER, tokens=10_000, most=4, apart=True))
    neighbours: dict[int, set[frozenset[int]]] = {}
    for batch in batches:
        places = frozenset(place % 12 for group in batch for place in group.members)
        for place in places:
            neighbours.setdefault(place, set()).add(places)
    assert all(len(met) == 2 for met in neighbours.values())


def test_what_prompts_have_in_common_leaves_each_a_token() -> None:
    assert common([(1, 2, 3), (1, 2, 4)]) == 2
    assert common([(1, 2), (1, 2, 4)]) == 1
    assert common([(1, 2), (1, 2)]) == 1
    assert common([(1,), (2,)]) == 0
