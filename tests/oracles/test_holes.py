"""A place that an answer leaves empty agrees with
nothing but the same place left empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import Verdict
from pytest_recsys_mt.oracles import (
    different_ranking,
    same_answer,
    same_order,
    same_ranking,
    same_set,
    self_agreement,
)
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import DETERMINISTIC, FakeAnswers, ask, items, sides
from tests.support.oracles_judging import NOTHING_SHARED
from tests.support.oracles_similarities import SIMILARITIES

K = 8
CANDIDATES = "abcdefghijkl"
MORE = "uvwxyz"
SETS = ("overlap", "jaccard")
similarities = st.sampled_from(sorted(SIMILARITIES))
ranking = st.permutations(CANDIDATES).map(lambda order: order[:K])


def judged(
    source: Sequence[str],
    followup: Sequence[str],
    oracle: Callable[..., Verdict] = same_ranking,
    similarity: str = "rbo",
    offers: tuple[str, str] = (CANDIDATES, CANDIDATES),
    k: int = K,
) -> Verdict:
    """The verdict where all of 70 users of a deterministic recommender answer alike."""
    one, two = (
        FakeAnswers(ask([[list(answer)]] * 70, k, list(offer)), DETERMINISTIC, label)
        for answer, offer, label in zip(
            (source, followup),
            offers,
            ("", "changed"),
            strict=True,
        )
    )
    return oracle(one, two, similarity)


@given(ranking, st.integers(0, K), st.integers(0, K), similarities)
def test_lists_that_end_at_different_places_never_agree(
    order: list[str],
    one: int,
    other: int,
    similarity: str,
) -> None:
    assume(one != other)
    verdict = judged(order[:one], order[:other], similarity=similarity)
    assert verdict.agreement is not None
    assert verdict.agreement < 1


@given(st.data(), similarities)
def test_lists_agree_wholly_if_and_only_if_every_place_does(
    data: st.DataObject,
    similarity: str,
) -> None:
    few = st.lists(st.sampled_from("abc"), max_size=3, unique=True)
    one, other = data.draw(few), data.draw(few)
    assume(one or other)
    verdict = judged(one, other, similarity=similarity, k=3)
    equal = set(one) == set(other) if similarity in SETS else one == other
    assert (verdict.agreement == 1) == equal


@settings(deadline=None, max_examples=30)
@given(ranking, similarities)
def test_the_shorter_the_followup_the_larger_the_effect(
    order: list[str],
    similarity: str,
) -> None:
    effects = [
        judged(order, order[:length], similarity=similarity).estimate
        for length in range(K, -1, -1)
    ]
    assert effects[0] == 0
    known = [effect for effect in effects if effect is not None]
    assert len(known) == K + 1
    assert all(less < more for less, more in pairwise(known))


@given(st.permutations(CANDIDATES + MORE), st.integers(1, 20), similarities)
@example([*MORE, *CANDIDATES], 1, "rbo")
def test_an_honest_recommender_keeps_its_order_among_more_candidates(
    order: list[str],
    k: int,
    similarity: str,
) -> None:
    old = [item for item in order if item in CANDIDATES]
    verdict = judged(
        old[:k],
        order[:k],
        same_order,
        similarity,
        (CANDIDATES, CANDIDATES + MORE),
        k,
    )
    if set(order[:k]).isdisjoint(CANDIDATES):  # the new ones take all places
        assert (verdict.status, verdict.reason) == (
            "not-applicable",
            f"{NOTHING_SHARED}",
        )
    else:
        assert (verdict.estimate, verdict.status) == (0, "holds")


@given(
    st.permutations(CANDIDATES),
    st.integers(1, 14),
    st.integers(1, 20),
    similarities,
)
def test_an_honest_recommender_keeps_its_order_among_fewer_candidates(
    order: list[str],
    k: int,
    longer: int,
    similarity: str,
) -> None:
    few = [item for item in order if item in "abcd"]
    source = FakeAnswers(
        ask([[order[:longer]]] * 70, longer, CANDIDATES),
        DETERMINISTIC,
    )
    followup = FakeAnswers(ask([[few[:k]]] * 70, k, "abcd"), DETERMINISTIC, "fewer")
    verdict = same_order(source, followup, similarity)
    assert verdict.estimate == 0 or verdict.status == "not-applicable"


@pytest.mark.parametrize("similarity", sorted(SIMILARITIES))
def test_invented_titles_are_no_gap(similarity: str) -> None:
    honest = [*"ax", *"bcdefg"]
    dreaming = [
        "a",
        "unknown:p",
        "unknown:q",
        "b",
        "unknown:r",
        "unknown:s",
        "unknown:t",
        "x",
    ]
    offers = (CANDIDATES, CANDIDATES + MORE)
    assert judged(CANDIDATES[:K], honest, same_order, similarity, offers)
    verdict = judged(CANDIDATES[:K], dreaming, same_order, similarity, offers)
    assert verdict.status == "violated"


def test_what_neither_request_offered_stays_in_its_place() -> None:
    offers = (CANDIDATES, CANDIDATES + MORE)
    stray = ["a", "elsewhere", *"bcdefg"]
    assert judged(stray, stray, same_order, "rbo", offers).estimate == 0
    assert (
        judged(stray, list("abcdefgh"), same_order, "rbo", offers).status == "violated"
    )
    # An item of the other request that was not offered here is a stray too.
    assert (
        judged(["x", *"abcdefg"], "abcdefgh", same_order, "rbo", offers).status
        == "violated"
    )


def test_an_open_question_offers_the_catalogue_without_the_history() -> None:
    catalogue = {item.id: item for item in items(*CANDIDATES)}
    context = Context(deterministic=True, items=catalogue)

    def side(history: str, answer: str, label: str = "") -> FakeAnswers:
        watched = tuple(Rating(Item(film, film), 5) for film in history)
        request = Request("u", watched, Scale(), None, 4)
        asked = [
            Asked(request.replace(user=f"u{n}"), (Recommendation(tuple(answer)),))
            for n in range(70)
        ]
        return FakeAnswers(asked, context, label)

    # With l watched, what comes next moves up; with it open again, it takes its place
    # back.
    assert (
        same_order(side("kl", "abcd"), side("k", "alcb", "shorter")).status
        == "violated"
    )
    assert same_order(side("kl", "abcd"), side("k", "albc", "shorter")).estimate == 0
    assert (
        "100% of the compared places"
        in same_ranking(side("abcd", "abcd"), side("abcdk", "abcd", "longer")).reason
    )


def test_fewer_candidates_than_places_leave_no_hole() -> None:
    verdict = judged("abc", "abc", offers=("abc", "abc"))
    assert (verdict.status, verdict.estimate) == ("holds", 0)
    # The shorter of both requests counts.
    assert judged("abcdefgh", "abc", offers=(CANDIDATES, "abc")).estimate == 0


def test_repeats_close_up_and_leave_the_end_empty() -> None:
    assert judged("aabbcdef", "abcdef").estimate == 0
    assert judged("aabbcdef", "abcdefgh").estimate != 0


@pytest.mark.parametrize("oracle", [same_ranking, same_set, same_order])
@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("abcd", None),
        ("abc", "62%"),
        (["a", "b", "c", *(f"unknown:{n}" for n in range(5))], "62%"),
    ],
)
def test_more_than_half_holes_hold_nothing(
    oracle: Callable[..., Verdict],
    answer: Sequence[str],
    share: str | None,
) -> None:
    verdict = judged(answer, answer, oracle, "overlap")
    assert verdict.estimate == 0
    assert verdict.status == ("inconclusive" if share else "holds")
    if share:
        assert (
            f"{share} of the compared places are empty or name items not offered"
            in verdict.reason
        )
        assert "--recsys-k" in verdict.reason


def test_holes_do_not_hide_a_violation() -> None:
    assert judged("a", "b").status == "violated"


def test_lists_that_differ_in_what_was_not_offered_are_no_proof_of_a_difference() -> (
    None
):
    one, other = ([f"unknown:{name}{place}" for place in range(K)] for name in "pq")
    verdict = judged(one, other, different_ranking)
    assert (verdict.status, verdict.estimate) == ("inconclusive", 1)
    assert "100% of the compared places" in verdict.reason


def test_the_same_answer_of_one_item_shows_nothing() -> None:
    one = [["a"]]
    verdict = same_answer(*sides([one] * 100, [one] * 100, DETERMINISTIC, k=10))
    assert verdict.status == "inconclusive"
    assert "90% of the compared places" in verdict.reason


def test_self_agreement_counts_what_is_missing() -> None:
    full, cut = list("abcde"), list("abc")
    verdict = self_agreement(FakeAnswers(ask([[full, cut]] * 70)), threshold=0.9)
    assert verdict.status == "violated"
    short = self_agreement(FakeAnswers(ask([[cut[:2], cut[:2]]] * 70)))
    assert (short.status, short.value) == ("inconclusive", 1)
    assert "60% of the compared places" in short.reason
    assert self_agreement(FakeAnswers(ask([[cut, cut]] * 70))).status == "holds"


def test_the_papers_agreement_counts_no_missing_place() -> None:
    """So that the tables of one record agree: these lists share
    one of two films, in whatever list of ten.
    """
    lists = FakeAnswers(ask([[["a", "b"], ["a", "c"]]] * 9, k=10))
    assert self_agreement(lists, "overlap").value == pytest.approx(0.9)
    assert self_agreement(lists, "overlap", published=True).value == pytest.approx(0.5)
    some = FakeAnswers(ask([[["a", "b"], []]] * 9, k=10))
    assert self_agreement(some, "overlap", published=True).value == 0
