"""The relations that change what is offered, how much is asked for, and for whom."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, relations
from pytest_recsys_mt.requests import Item, Request, World
from tests.relations.examples import CATALOGUE, WORLD, request, requests
from tests.support.llm_prompt_texts import text

INJECTION = text("instructions.title_injection")

SEEDS = st.integers(0, 2**32)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def offered(source: Request) -> tuple[Item, ...]:
    assert source.candidates is not None
    return source.candidates


@given(source=requests(), seed=SEEDS)
def test_shuffled_candidates_are_the_same_in_a_new_order(
    source: Request,
    seed: int,
) -> None:
    if source.candidates is None or len(source.candidates) < 2:
        with pytest.raises(
            NotApplicable,
            match=r"no candidates|fewer than two candidates",
        ):
            relations.shuffle_candidates(source, rng(seed))
        return
    followup = relations.shuffle_candidates(source, rng(seed))
    assert Counter(offered(followup)) == Counter(source.candidates)
    assert offered(followup) != source.candidates


def test_every_other_order_of_candidates_is_as_likely() -> None:
    source = request(candidates=(1, 2, 3))
    orders = Counter(
        offered(relations.shuffle_candidates(source, rng(seed)))
        for seed in range(1_000)
    )
    assert len(orders) == 5
    assert min(orders.values()) > 150


@given(source=requests(), seed=SEEDS, n=st.integers(1, 10))
def test_irrelevant_candidates_stand_between_the_others(
    source: Request,
    seed: int,
    n: int,
) -> None:
    if not source.candidates:
        with pytest.raises(NotApplicable, match=r"^there are no candidates$"):
            relations.add_irrelevant_candidates(n)(source, rng(seed), WORLD)
        return
    followup = offered(relations.add_irrelevant_candidates(n)(source, rng(seed), WORLD))
    assert (
        tuple(item for item in followup if item in source.candidates)
        == source.candidates
    )
    added = set(followup) - set(source.candidates)
    assert len(added) == n == len(followup) - len(source.candidates)
    assert added.isdisjoint(rating.item for rating in source.history)


def test_irrelevant_candidates_come_at_every_place() -> None:
    source = request(candidates=(20, 21, 22))
    places = Counter(
        next(
            at
            for at, item in enumerate(offered(followup))
            if item not in offered(source)
        )
        for followup in (
            relations.add_irrelevant_candidates(1)(source, rng(seed), WORLD)
            for seed in range(1_000)
        )
    )
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 190


def test_irrelevant_candidates_need_a_larger_catalogue() -> None:
    source = request(items=(0, 1), candidates=(2, 3))
    world = World(catalogue=CATALOGUE[:6])
    relations.add_irrelevant_candidates(2)(source, rng(), world)
    with pytest.raises(NotApplicable, match="too few items beyond"):
        relations.add_irrelevant_candidates(3)(source, rng(), world)


@given(source=requests(), seed=SEEDS)
def test_one_title_gets_an_instruction_and_never_the_first(
    source: Request,
    seed: int,
) -> None:
    if source.candidates is None or len(source.candidates) < 2:
        with pytest.raises(
            NotApplicable,
            match=r"no candidates|fewer than two candidates",
        ):
            relations.title_injection(source, rng(seed))
        return
    followup = offered(relations.title_injection(source, rng(seed)))
    changed = [
        (at, before, after)
        for at, (before, after) in enumerate(
            zip(source.candidates, followup, strict=True),
        )
        if before != after
    ]
    ((at, before, after),) = changed
    assert at > 0
    assert after.title == before.title + INJECTION
    assert (after.id, after.year, after.attributes) == (
        before.id,
        before.year,
        before.attributes,
    )


def test_every_candidate_but_the_first_may_be_injected() -> None:
    source = request(candidates=(20, 21, 22, 23))
    injected = Counter(
        at
        for seed in range(300)
        for at, item in enumerate(offered(relations.title_injection(source, rng(seed))))
        if item.title.endswith(INJECTION)
    )
    assert sorted(injected) == [1, 2, 3]
    assert min(injected.values()) > 70


def test_an_item_without_a_title_is_injected_behind_its_id() -> None:
    source = request().replace(candidates=(Item("a"), Item("b")))
    assert offered(relations.title_injection(source, rng()))[1] == Item(
        "b",
        f"b{INJECTION}",
    )


@pytest.mark.parametrize("relation", [relations.extend_list(5), relations.ask_k(10)])
def test_longer_lists_need_as_many_items(relation: relations.Transformation) -> None:
    enough = request(k=5, candidates=tuple(range(10, 20)))
    assert relation(enough, rng()).k == 10
    with pytest.raises(
        NotApplicable,
        match=r"^there are fewer candidates than the list",
    ):
        relation(request(k=5, candidates=tuple(range(10, 19))), rng())
    everything = request(k=5, candidates=None)
    assert relation(everything, rng()).k == 10
    assert relation(everything, rng(), World(catalogue=CATALOGUE[:20])).k == 10
    with pytest.raises(NotApplicable, match=r"^the catalogue has fewer items"):
        relation(everything, rng(), World(catalogue=CATALOGUE[:19]))


def test_the_length_asked_for_already_is_no_change() -> None:
    with pytest.raises(NotApplicable, match="already asks for that length"):
        relations.ask_k(5)(request(k=5), rng())


@given(seed=SEEDS, user=st.text())
def test_new_names_are_nobodys(seed: int, user: str) -> None:
    renamed = relations.rename_user(request(user=user), rng(seed)).user
    assert renamed != user
    taken = World(histories={renamed: ()})
    assert relations.rename_user(request(user=user), rng(seed), taken).user not in {
        user,
        renamed,
    }


def test_new_names_look_like_the_old() -> None:
    assert relations.rename_user(request(user="u12"), rng()).user[:1] == "u"
    assert relations.rename_user(request(user="509"), rng()).user.isdigit()


def test_the_same_request_is_asked_with_the_same_seed() -> None:
    source = request()
    assert relations.same_seed_same_answer(source, rng()) is source
    assert relations.same_seed_same_answer.same_seed


def test_the_positive_moves_and_the_others_keep_their_order() -> None:
    source = request(candidates=(30, 1, 2, 3))
    for place in (1, 2, 3, 4):
        moved = relations.place_positive(place)(source, rng(), WORLD)
        assert offered(moved)[place - 1] == CATALOGUE[30]
        others = tuple(item for item in offered(moved) if item != CATALOGUE[30])
        assert others == offered(source)[1:]
    assert relations.place_positive(1)(source, rng(), WORLD) == source


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (request(candidates=(30, 1)), "no 3 candidates"),
        (request(candidates=(1, 2, 3)), "none of the candidates are held out"),
        (
            request(candidates=(30, 2, 3), user="u9"),
            "none of the candidates are held out",
        ),
    ],
)
def test_a_positive_that_cannot_be_placed(source: Request, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        relations.place_positive(3)(source, rng(), WORLD)


def test_two_positives_are_not_one_place() -> None:
    world = World(relevant={"me": frozenset({"i001", "i002"})})
    with pytest.raises(NotApplicable, match="2 of the candidates are held out"):
        relations.place_positive(1)(request(candidates=(1, 2, 3)), rng(), world)
