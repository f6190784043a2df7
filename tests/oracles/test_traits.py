"""What changed answers share is said where it stands out: planted causes are named, and
of random changes nothing is said.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.reading import CHANGES, FAULTS, LEANINGS, World, at_random, drawn, read
from pytest_recsys_mt import Verdict
from pytest_recsys_mt.oracles import (
    different_ranking,
    never_differs,
    same_order,
    same_ranking,
)
from pytest_recsys_mt.requests import Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import FakeAnswers
from tests.support.oracles_judging import (
    Table,
    clearly_changed,
    hoeffding,
    left_or_moved,
    swapped_neighbours,
)
from tests.support.verdict import SHARED

Fault = Callable[[World, np.random.Generator], list[list[str]]]
Oracle = Callable[[FakeAnswers, FakeAnswers], Verdict]
Made = Callable[[Sequence[str]], Sequence[str]]
"""A list of a ranking."""


@pytest.mark.parametrize(("fault", "words"), FAULTS.values(), ids=FAULTS)
def test_a_planted_cause_is_named(fault: Fault, words: str) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        world = drawn(rng, 100, "personal")
        found = read(world, fault(world, rng))[SHARED]
        assert words in found["text"]
        assert words in found["trait"]
        assert found["p_value"] <= 0.01


def test_of_two_causes_both_are_named() -> None:
    rng = np.random.default_rng(1)
    world = drawn(rng, 100)
    fault, _ = FAULTS["odd ids and more than 20 in the history"]
    found = read(world, fault(world, rng))[SHARED]
    assert "Among users with an odd id, all" in found["text"]
    assert found["also"]["trait"] == "with more than 20 items in the history"


def as_asked(lists: Sequence[Sequence[str]]) -> list[Asked]:
    return [
        Asked(
            Request(f"u{at}", (), Scale(), None, len(items)),
            (Recommendation(tuple(items)),),
        )
        for at, items in enumerate(lists)
    ]


def test_lists_that_differ_in_the_order_of_neighbours_are_named() -> None:
    source = [[f"{user}{place}" for place in "abcdef"] for user in range(12)]
    swapped = [[b, a, *rest] for a, b, *rest in source]
    found = swapped_neighbours(as_asked(source), as_asked(swapped))
    assert "in all 12 changed lists, items only change places with a neighbour" in found
    assert (
        "the one with the larger id comes first in the second list in all 12" in found
    )
    # Where only the last item is another one, no neighbour is seen.
    cut = [[*items[:-1], "next"] for items in source]
    assert swapped_neighbours(as_asked(source), as_asked(cut)) == ""
    both = [*swapped[:8], *cut[8:]]
    assert "in all 12" in swapped_neighbours(as_asked(source), as_asked(both))
    far = [[last, *rest] for *rest, last in source]
    assert swapped_neighbours(as_asked(source), as_asked(far)) == ""
    assert swapped_neighbours(as_asked(source[:2]), as_asked(swapped[:2])) == ""


def test_a_few_items_are_named_in_place_of_what_they_share_by_chance() -> None:
    rng = np.random.default_rng(4)
    world = drawn(rng, 100)
    counts = Counter(item for ranking in world.rankings for item in ranking[:10])
    lost = {item for item, _ in counts.most_common(4)}
    found = read(
        world,
        [
            [item for item in ranking if item not in lost][:10]
            for ranking in world.rankings
        ],
    )[SHARED]
    assert "are of 4 items: " in found["text"]
    assert "modulo" not in found["text"]


def changed_at_random(seed: int) -> str:
    rng = np.random.default_rng(seed)
    change = list(CHANGES.values())[seed % len(CHANGES)]
    world = drawn(rng, int(rng.choice((20, 50, 100))), LEANINGS[seed % len(LEANINGS)])
    found = read(
        world,
        at_random(world, change, float(rng.choice((0.2, 0.5, 1.0))), rng),
    )
    return found[SHARED]["text"] if found else ""


def test_of_random_changes_nothing_is_said() -> None:
    assert [text for seed in range(30) if (text := changed_at_random(seed))] == []


@pytest.mark.slow
def test_of_many_random_changes_almost_nothing_is_said() -> None:
    said = [text for seed in range(2000) if (text := changed_at_random(seed))]
    assert len(said) <= 40, said


def test_it_takes_milliseconds() -> None:
    rng = np.random.default_rng(2)
    world = drawn(rng, 200)
    lists = at_random(world, CHANGES["one is dropped"], 0.5, rng)
    took = []
    for _ in range(5):
        start = time.process_time()
        read(world, lists)
        took.append(time.process_time() - start)
    assert min(took) < 0.1, "about 0.015 s on an idle core"


@pytest.mark.parametrize(
    ("followup", "left", "came"),
    [
        pytest.param("abcde", "", "", id="the same"),
        pytest.param("acdeb", "b", "b", id="one moved far"),
        pytest.param("abced", "de", "ed", id="two neighbours"),
        pytest.param("acdef", "b", "f", id="one lost"),
        pytest.param("xabcd", "e", "x", id="one put first"),
        pytest.param("edcba", "abcde", "edcba", id="reversed"),
        pytest.param("", "abcde", "", id="none"),
    ],
)
def test_what_left_or_moved_is_told_from_what_moved_up_for_it(
    followup: str,
    left: str,
    came: str,
) -> None:
    flags = left_or_moved("abcde", followup)
    names = ["".join(c for c, hit in zip(text, own, strict=True) if hit)
             for text, own in zip(("abcde", followup), flags, strict=True)]  # fmt: skip
    assert names == [left, came]


def test_without_order_what_moved_is_kept() -> None:
    flags = left_or_moved("abc", "cxa", ordered=False)
    assert flags == ([False, True, False], [False, True, False])


def test_the_p_values_are_those_of_the_tests_that_they_name() -> None:
    from scipy.stats import binom, fisher_exact

    table = Table(marked=18, others=40, marked_with=16, others_with=5)
    expected = fisher_exact(np.array([[16, 2], [5, 35]]), "greater").pvalue
    assert table.p_value == pytest.approx(expected)
    bound = hoeffding(
        np.array([0.9, 0.2, 1.0, 0.4]),
        np.array([0.5, 0.5, 0.4, 1.0]),
        20,
    )
    assert bound[0] >= binom.sf(17, 20, 0.5)
    assert bound[1:].tolist() == pytest.approx([1.0, 0.4**20, 1.0])


def test_noisy_effects_are_read_only_where_two_groups_are_far_apart() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.05, 60)
    apart = np.where(np.arange(60) % 3 == 0, 0.6, 0.0) + noise
    found = clearly_changed(apart)
    assert found is not None
    assert found.tolist() == [at % 3 == 0 for at in range(60)]
    for spread in (
        noise,
        np.abs(noise),
        rng.exponential(0.1, 60),
        rng.random(60),
        noise - 1,
    ):
        assert clearly_changed(spread) is None
    assert clearly_changed(np.zeros(60)) is None


def judged(
    oracle: Oracle,
    world: World,
    lists: Sequence[Sequence[str]],
    replicates: int = 1,
    **facts: Any,
) -> Verdict:
    context = replace(world.context, **facts)
    before, after = (
        [
            replace(one, answers=(Recommendation(tuple(items)),) * replicates)
            for one, items in zip(world.asked, side, strict=True)
        ]
        for side in (world.lists, lists)
    )
    return oracle(
        FakeAnswers(before, context),
        FakeAnswers(after, context, "changed(1)"),
    )


def of_odd_users(world: World, odd: Made, others: Made) -> list[list[str]]:
    """The lists of users with odd ids, and of the others, made of their rankings."""
    return [
        list((odd if int(one.user[1:]) % 2 else others)(ranking))
        for one, ranking in zip(world.asked, world.rankings, strict=True)
    ]


@pytest.mark.parametrize("oracle", [same_ranking, same_order, never_differs])
def test_the_details_of_a_violated_verdict_have_it(oracle: Oracle) -> None:
    rng = np.random.default_rng(5)
    world = drawn(rng, 120, "personal")
    verdict = judged(oracle, world, FAULTS["horror is lost"][0](world, rng))
    assert verdict.status == "violated"
    assert verdict.details[SHARED]["trait"] == "have the genre Horror"
    assert SHARED not in judged(oracle, world, world.lists).details


def test_of_a_noisy_recommender_the_users_are_told_apart() -> None:
    world = drawn(np.random.default_rng(6), 120, "personal")
    lists = of_odd_users(
        world,
        lambda ranking: ranking[10:20],
        lambda ranking: ranking[:10],
    )
    verdict = judged(same_ranking, world, lists, replicates=2, deterministic=False)
    assert verdict.status == "violated"
    assert verdict.details[SHARED]["trait"] == "with an odd id"


def test_where_answers_must_change_the_unchanged_lists_are_told() -> None:
    world = drawn(np.random.default_rng(7), 120, "personal")
    lists = of_odd_users(
        world,
        lambda ranking: ranking[:10],
        lambda ranking: [ranking[10], *ranking[1:10]],
    )
    verdict = judged(partial(different_ranking, margin=0.6), world, lists)
    assert verdict.status == "violated"
    assert (
        "unchanged lists are of users with an odd id" in verdict.details[SHARED]["text"]
    )


def test_too_few_users_and_odd_data_say_nothing() -> None:
    world = drawn(np.random.default_rng(9), 7)
    fault, _ = FAULTS["odd ids"]
    assert read(world, fault(world, np.random.default_rng(9))) == {}
    bare = [
        replace(
            one,
            request=one.request.replace(
                history=(),
                candidates=None,
                user=f"a{at}b",
                attributes={},
            ),
            answers=(Recommendation(("x", "y")),),
        )
        for at, one in enumerate(drawn(np.random.default_rng(9), 40).asked)
    ]
    empty = World(bare, Context(deterministic=True), [["x", "y"]] * 40)
    all_swapped = read(empty, [["y", "x"]] * 40)[SHARED]
    assert "trait" not in all_swapped
    assert "in all 40 changed lists" in all_swapped["text"].lower()
    found = read(empty, [[]] * 20 + [["x", "y"]] * 20)[SHARED]
    assert found["trait"] == "with an id up to 19", (
        "the simplest of those that coincide"
    )
