"""Novelty, popularity, diversity and validity of one
list, with gold values of the paper.
"""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, OracleError
from pytest_recsys_mt.oracles import at_least, at_most, not_increased
from pytest_recsys_mt.requests import (
    Entry,
    EntryKind,
    Item,
    Rating,
    Recommendation,
    Request,
    Scale,
)
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import FakeAnswers
from tests.support.oracles_scores import (
    SCORES_AT,
    Likeness,
    by_popularity,
    intra_list_diversity,
    long_tail,
    mean_score,
    metric_named,
    popularity_groups,
    score_named,
    self_information,
    serendipity,
    unexpectedness,
)
from tests.support.recommenders import MostPop

GENRES = {
    "a": ("Drama",),
    "b": ("Drama", "Crime"),
    "c": ("Comedy",),
    "d": (),
    "new": ("Crime",),
}
CONTEXT = Context(
    items={
        name: Item(name, attributes={"genres": genres})
        for name, genres in GENRES.items()
    },
    popularity={"a": 64, "b": 16, "c": 4, "d": 1, "new": 0},
    users=64,
)


def user(
    items: Sequence[str],
    candidates: Sequence[str] | None = None,
    history: Sequence[str] = (),
    relevant: Sequence[str] = (),
    k: int = 4,
    kinds: Sequence[EntryKind] = (),
) -> Asked:
    offered = None if candidates is None else tuple(Item(item) for item in candidates)
    seen = tuple(Rating(Item(item), 5) for item in history)
    entries = tuple(
        Entry(str(place), kind, items[place] if place < len(items) else None)
        for place, kind in enumerate(kinds)
    )
    answer = Recommendation(tuple(items), entries)
    return Asked(
        Request("u", seen, Scale(), offered, k),
        (answer,),
        frozenset(relevant),
    )


def of(name: str, asked: Asked, context: Context = CONTEXT) -> float | None:
    try:
        return mean_score(asked, context, score_named(name))[0]
    except NotApplicable:
        return None


def left_out(name: str, asked: Asked) -> int:
    return mean_score(asked, CONTEXT, score_named(name))[1]


anything = st.lists(st.sampled_from([*GENRES, "unknown:x", "elsewhere"]), max_size=6)
subset = st.lists(st.sampled_from(list(GENRES)), unique=True)


@pytest.mark.parametrize("name", SCORES_AT)
@given(
    items=anything,
    candidates=st.none() | subset.filter(bool),
    history=subset,
    relevant=subset,
)
def test_every_score_keeps_its_range_and_no_score_is_nan(
    name: str,
    items: list[str],
    candidates: list[str] | None,
    history: list[str],
    relevant: list[str],
) -> None:
    asked = user(items, candidates, history, relevant)
    value = of(name, asked)
    low, high = score_named(name).span_for(asked, CONTEXT)
    assert value is None or low <= value <= high + 1e-12


@pytest.mark.parametrize(
    ("name", "expected"),
    [("hit@5", 0.25), ("ndcg@5", 0.147423), ("mrr@5", 0.114167), ("mrr@20", 0.179887)],
)
def test_accuracy_of_a_random_order_of_twenty(name: str, expected: float) -> None:
    items = [f"i{place}" for place in range(20)]
    values = [of(name, user(items, relevant=[item], k=20)) for item in items]
    assert math.fsum(v for v in values if v is not None) / 20 == pytest.approx(
        expected,
        abs=5e-7,
    )


@given(st.permutations(range(20)), st.integers(1, 20))
def test_with_one_held_out_item_ndcg_is_the_discount_and_bounded_by_the_hit(
    order: list[int],
    depth: int,
) -> None:
    items = [str(number) for number in order]
    asked = user(items, relevant=["0"], k=20)
    hit, ndcg = of(f"hit@{depth}", asked), of(f"ndcg@{depth}", asked)
    assert hit is not None
    assert ndcg is not None
    assert ndcg == pytest.approx(hit / math.log2(items.index("0") + 2))
    assert hit / math.log2(depth + 1) - 1e-12 <= ndcg <= hit


def test_a_miss_is_a_miss_however_deep_the_metric_looks() -> None:
    short = user(["a"], relevant=["z"], k=20)
    assert [of(f"{name}@20", short) for name in ("hit", "ndcg", "mrr")] == [0, 0, 0]


@pytest.mark.parametrize("name", ["hit", "ndcg", "mrr", "serendipity"])
def test_users_without_a_held_out_item_are_not_applicable(name: str) -> None:
    asked = [user(["a"])] * 4 + [user(["a", "c"], relevant=["c"])] * 30
    verdict = at_least(FakeAnswers(asked, CONTEXT), name, 0.1)
    assert (verdict.users, verdict.not_applicable, verdict.errors) == (30, 4, 0)
    source = FakeAnswers(asked, CONTEXT)
    verdict = not_increased(
        source,
        FakeAnswers(asked, CONTEXT, "changed(1)"),
        name,
        0.5,
    )
    assert (verdict.not_applicable, verdict.errors) == (4, 0)


def test_self_information_of_items_that_nobody_has() -> None:
    asked = user(["a", "c", "new", "unknown:x"])
    # 64 users: everybody has a (0 bits), 4 have c (4 bits), nobody has new.
    assert of("self_information", asked) == 2
    assert left_out("self_information", asked) == 2
    assert of("self_information_capped", asked) == pytest.approx((0 + 4 + 7) / 3)
    assert left_out("self_information_capped", asked) == 1
    assert of("self_information_paper", asked) == 1
    assert of("self_information", user(["new"])) is None
    assert of("self_information@1", user(["c", "d"])) == 4


def test_self_information_needs_the_number_of_users() -> None:
    with pytest.raises(OracleError, match="number of training users"):
        of("self_information", user(["a"]), Context(popularity={"a": 1}))
    with pytest.raises(OracleError, match="between 0 and the number of users"):
        self_information([3], 2)
    with pytest.raises(OracleError, match="'drop', 'cap' or 'paper', got 'zero'"):
        self_information([1], 2, unseen="zero")  # type: ignore[arg-type]


def test_serendipity_is_a_hit_that_the_most_popular_miss() -> None:
    candidates = ["a", "b", "c", "d"]
    assert of("serendipity@1", user(["d"], candidates, relevant=["d"])) == 1
    assert of("serendipity@1", user(["a"], candidates, relevant=["a"])) == 0
    assert of("serendipity@1", user(["d"], candidates, relevant=["c"])) == 0
    assert of("serendipity@4", user(["d"], candidates, relevant=["d"])) == 0
    # Where the catalogue is offered, the history is not: b is the most popular of the
    # rest.
    assert of("serendipity@1", user(["b"], history=["a"], relevant=["b"])) == 0
    assert of("serendipity@1", user(["c"], history=["a"], relevant=["c"])) == 1
    # As printed, without a hit, it is not bounded by the hit rate.
    assert of("unexpectedness@2", user(["d", "a"], candidates, relevant=["z"])) == 0.5
    assert unexpectedness([], ["a"], 4) == 0


@given(items=subset, popular=subset, relevant=subset.filter(bool))
def test_serendipity_is_at_most_the_hit(
    items: list[str],
    popular: list[str],
    relevant: list[str],
) -> None:
    value = serendipity(items, popular, relevant)
    assert value is not None
    assert value <= float(bool(set(items) & set(relevant)))
    assert serendipity(popular, popular, relevant) == 0


def test_the_most_popular_are_those_of_the_recommender_mostpop() -> None:
    from pytest_recsys_mt.datasets import load

    dataset = load("mini")
    context = Context(items=dataset.items, popularity=dataset.popularity)
    mostpop = MostPop()
    mostpop.fit(dataset, 0)
    for history in list(dataset.histories.values())[:20]:
        request = Request("u", history, Scale(), None, 10)
        (answer,) = mostpop.recommend([request])
        seen = {rating.item.id for rating in history}
        best = [item for item in by_popularity(context) if item not in seen][:10]
        assert list(answer.items) == best
        asked = Asked(request, (answer,), frozenset(best[:1]))
        assert of("serendipity", asked, context) == 0
        assert of("unexpectedness", asked, context) == 0


def test_average_popularity_leaves_out_what_is_no_item() -> None:
    asked = user(["a", "new", "unknown:x"])
    assert of("arp", asked) == 32
    assert left_out("arp", asked) == 1
    assert of("arp_paper", asked) == 16
    assert of("arp", user(["unknown:x"])) is None


def test_the_long_tail_by_rank_and_by_value() -> None:
    counts = {"a": 64, "b": 16, "c": 4, "d": 1, "new": 0}
    assert long_tail(counts) == {"b", "c", "d", "new"}
    assert long_tail(dict.fromkeys("edcba", 3)) == set("bcde")  # ties by id
    # 0.8 of [1, 4, 16, 64] is 16 + 0.4 * 48: and nobody has new, so it is of no tail.
    assert long_tail(counts, threshold="value") == {"b", "c", "d"}
    assert long_tail(dict.fromkeys("edcba", 3), threshold="value") == set()
    asked = user(["a", "new", "b"])
    assert of("aplt", asked) == 0.5
    assert of("aplt_by_value", asked) == 0.25
    assert of("aplt@2", asked) == 0.5


def test_groups_of_equal_size_and_by_value() -> None:
    counts = {f"i{number:02}": number for number in range(12)}
    by_rank = popularity_groups(counts)
    assert [list(by_rank.values()).count(group) for group in range(5)] == [
        3,
        2,
        3,
        2,
        2,
    ]
    assert sorted(by_rank, key=lambda item: by_rank[item]) == sorted(counts)
    # Quantiles of 1 to 11 are 1, 3, 5, 7, 9, 11; what has no interaction is in no
    # group.
    by_value = popularity_groups(counts, threshold="value")
    assert "i00" not in by_value
    assert list(by_value.values()) == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert popularity_groups({"a": 0}, threshold="value") == {}


@pytest.mark.parametrize(
    ("likeness", "expected"),
    [("jaccard", 1 - 0.5 / 3), ("cosine", 1 - math.sqrt(0.5) / 3)],
)
def test_diversity_of_three_items(likeness: Likeness, expected: float) -> None:
    genres = [("Drama",), ("Drama", "Crime"), ("Comedy",)]
    assert intra_list_diversity(genres, likeness) == pytest.approx(expected)
    assert intra_list_diversity([*genres, ()], likeness) == pytest.approx(expected)
    assert intra_list_diversity(genres[:1] * 3, likeness) == pytest.approx(0)
    assert intra_list_diversity(genres[:1], likeness) is None


def test_diversity_is_of_genres_and_counts_items_without_any() -> None:
    asked = user(["a", "b", "c", "d"])
    assert of("intra_list_diversity", asked) == pytest.approx(1 - 0.5 / 3)
    assert left_out("intra_list_diversity", asked) == 1
    with pytest.raises(OracleError, match="'jaccard' or 'cosine', got 'dice'"):
        intra_list_diversity([], "dice")  # type: ignore[arg-type]


def test_diversity_may_be_of_any_attribute() -> None:
    brands = {"a": "Sony", "b": "Sony", "c": "Bose", "d": ("Sony", "Bose")}
    items = {
        name: Item(name, attributes={"brand": brand}) for name, brand in brands.items()
    }
    asked, context = user(["a", "b", "c", "d"]), Context(items=items)
    assert of("intra_list_diversity:brand", asked, context) == pytest.approx(
        1 - 2.5 / 6,
    )
    assert of("intra_list_diversity:brand@2", asked, context) == 0
    with pytest.raises(OracleError, match="attribute must be 'brand', got 'colour'"):
        of("intra_list_diversity:colour", asked, context)
    assert of("intra_list_diversity:colour", asked, Context()) is None, (
        "no item has any attribute"
    )
    with pytest.raises(OracleError, match="there is no score 'serendipity:brand@5'"):
        score_named("serendipity:brand@5")


SHARES = ("hallucination", "out_of_candidate", "history_repeats", "duplicates")


def test_slots_of_a_text_answer() -> None:
    kinds: tuple[EntryKind, ...] = (
        "candidate",
        "history",
        "catalogue",
        "outside",
        "unknown",
        "duplicate",
        "unparsed",
    )
    items = ["a", "b", "c", "unknown:y", "unknown:x", "unknown:x"]
    asked = user(items, ["a", "d"], ["b"], kinds=kinds, k=10)
    # The repeated title is invented both times it is named; three of ten slots are
    # missing.
    assert [of(name, asked) for name in SHARES] == [0.3, 0.5, 0.1, 0.1]
    assert [of(f"{name}@4", asked) for name in SHARES] == [0.25, 0.75, 0.25, 0]
    full = [of(f"{name}@full", asked) for name in SHARES]
    assert full == pytest.approx([3 / 6, 5 / 6, 1 / 6, 1 / 6])  # prose is no slot


def test_slots_of_a_list_of_ids() -> None:
    asked = user(["a", "b", "c", "unknown:x", "elsewhere", "a"], ["a", "d"], ["b"], k=6)
    assert [of(name, asked) for name in SHARES] == pytest.approx(
        [2 / 6, 4 / 6, 1 / 6, 1 / 6],
    )
    assert of("hallucination@full", user([])) is None


@given(items=anything, candidates=st.none() | subset, history=subset)
def test_what_is_out_of_the_candidates_is_invented_seen_or_not_offered(
    items: list[str],
    candidates: list[str] | None,
    history: list[str],
) -> None:
    asked = user(items, candidates, history, k=6)
    invented, out, seen, _ = (of(name, asked) or 0 for name in SHARES)
    assert out >= invented + seen - 1e-12


@pytest.mark.parametrize(
    ("kinds", "k", "compliant"),
    [
        (("candidate", "unknown"), 2, 1),
        (("candidate", "unparsed"), 2, 0),
        (("candidate",), 2, 0),
        (("candidate", "candidate", "candidate"), 2, 0),
        (("candidate", "candidate"), 5, 1),  # only two were offered
    ],
)
def test_compliance_is_the_demanded_number_of_readable_entries(
    kinds: tuple[EntryKind, ...],
    k: int,
    compliant: int,
) -> None:
    items = ["a", "b", "c"][: len(kinds)]
    assert of("compliance", user(items, ["a", "b"], kinds=kinds, k=k)) == compliant


def test_the_papers_compliance_finds_a_list_within_prose() -> None:
    kinds: tuple[EntryKind, ...] = ("unparsed", "candidate", "candidate")
    asked = user(["", "a", "b"], ["a", "b", "c"], kinds=kinds, k=2)
    assert of("compliance", asked) == 0
    assert of("compliance_paper", asked) == 1
    short = user(["", "a"], ["a", "b", "c"], kinds=kinds[:2], k=2)
    assert of("compliance_paper", short) == 0


def test_silence_is_no_format() -> None:
    asked = [user(["a", "b", "c", "d"])] * 20 + [user([])] * 20
    answers = FakeAnswers(asked, CONTEXT)
    verdict = at_least(answers, "compliance", 0.9)
    assert (verdict.status, verdict.value, verdict.users) == ("violated", 0.5, 40)
    verdict = at_most(answers, "short_lists", 0.1)
    assert (verdict.status, verdict.value, verdict.users) == ("violated", 0.5, 40)
    assert at_most(answers, "hallucination", 0.1).status == "error"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("aplt@5", "aplt@5 needs 5 places, but the requests ask for 4"),
        ("hallucination@5", "hallucination@5 needs 5 places"),
        ("hallucination@all", "'hallucination@all'; or 'full'"),
        ("serendipity@x", "at least 1, got 'serendipity@x'"),
        ("compliance@3", "compliance judges the whole answer and has no depth"),
        ("haluzination", "did you mean 'hallucination'"),
    ],
)
def test_bad_names_are_named(name: str, said: str) -> None:
    with pytest.raises(OracleError, match=said):
        of(name, user(["a"]))


def test_bad_divisions_are_named() -> None:
    with pytest.raises(OracleError, match="share must lie in"):
        long_tail({}, 1)
    with pytest.raises(OracleError, match="groups must be a whole number from 1"):
        popularity_groups({}, 0)
    assert metric_named("hit").depth is None
