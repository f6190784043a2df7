"""A judge's word counts only if it was seen to tell lists apart."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_recsys_mt import Item, NotApplicable, OracleError, Rating, Request
from pytest_recsys_mt.suites.arena import (
    ASPECTS,
    CONTROLS,
    OVERALL,
    SELDOM,
    Arena,
    Comparison,
    Judge,
    Judgement,
    JudgeRunner,
    Trust,
    judge_sees,
    judge_seldom,
    not_less_preferred,
    not_scored_lower,
    preferred,
)
from pytest_recsys_mt.verdict.answers import Context
from tests.arena import judges
from tests.arena.test_suite import rows_of, status
from tests.oracles.support import FakeAnswers, ask
from tests.support.suites_arena import own_choices, read_judgement

LIMITS = Trust(margin=0.1, sees=0.2, ties=0.5, refusals=0.1, unread=0.1)
LIKED, OTHER = ("a", "b", "c", "d"), ("w", "x", "y", "z")
KNOWN = {
    name: Item(
        name,
        f"Film {name}",
        attributes={"genres": "new" if name in OTHER else "known"},
    )
    for name in (*LIKED, "e", *OTHER)
}
HISTORY = (
    *(Rating(KNOWN[name], 5.0 - at / 4) for at, name in enumerate(LIKED)),
    Rating(KNOWN["e"], 1),
)


class Likes(judges.ByUtility):
    """Prefers lists with more of the liked items."""

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        return len({item.id for item in items} & {*LIKED}) / 10


class Declines(Likes, judges.Refuses):
    """Refuses a share, and likes the liked otherwise."""


class TiesIn(Likes):
    """Ties in one aspect whatever the lists are."""

    def one(self, comparison: Comparison) -> Judgement:
        said = super().one(comparison)
        return dataclasses.replace(
            said,
            verdicts={**said.verdicts, "transparency": "tie"},
        )


def arena_of(
    judge: Judge,
    users: int = 60,
    history: tuple[Rating, ...] = HISTORY,
) -> Arena:
    lists = [[["a", "b"]] for _ in range(users)]
    asked = [
        dataclasses.replace(each, request=each.request.replace(history=history))
        for each in ask(lists)
    ]
    answers = FakeAnswers(asked, Context(items=KNOWN))
    return Arena(answers, answers, JudgeRunner(judge, "judge"), ASPECTS)


def test_half_of_what_the_user_liked_is_hidden_and_is_the_good_list() -> None:
    asked = arena_of(Likes()).ours.sample().asked[0]
    request, good = own_choices(asked, seed=0)
    shown = {rating.item.id for rating in request.history}
    assert len(good) == 2
    assert {item.id for item in good} | shown == {*LIKED, "e"}
    assert not {item.id for item in good} & shown
    assert [item.id for item in good] == sorted(item.id for item in good), "best first"
    assert "e" in shown, "what the user disliked is no good list"
    assert own_choices(asked, seed=0) == (request, good)


def test_a_user_who_liked_one_item_has_no_good_list() -> None:
    asked = arena_of(Likes(), 1, HISTORY[:1]).ours.sample().asked[0]
    with pytest.raises(NotApplicable, match="fewer than 2"):
        own_choices(asked, seed=0)


@pytest.mark.parametrize("control", CONTROLS)
def test_a_planted_list_has_none_of_what_the_user_chose_but_the_repeated_item(
    control: str,
) -> None:
    arena = arena_of(Likes())
    asked = arena.ours.sample().asked[0]
    _, good = own_choices(asked, seed=0)
    bad = CONTROLS[control].planted(good, arena, asked, np.random.default_rng(0))
    assert len(bad) == len(good)
    if control == "repeated_item":
        assert set(bad) == {good[0]}
    else:
        assert {item.id for item in bad} <= {*OTHER}
        assert len(set(bad)) == len(bad)


@pytest.mark.parametrize("control", CONTROLS)
def test_a_judge_that_sees_the_difference_keeps_each_control(control: str) -> None:
    verdict = judge_sees(arena_of(Likes()), control, least=0.2)
    assert (verdict.status, verdict.estimate) == ("holds", 1.0)
    assert verdict.details["column"] is False


def test_a_judge_that_turns_it_round_is_named() -> None:
    verdict = judge_sees(arena_of(judges.LikesLongTitles()), "repeated_item", least=0.2)
    assert verdict.status == "violated"
    assert "does not tell users' own choices from one item repeated" in verdict.reason

    class Hates(Likes):
        def utility(self, request: Request, items: Sequence[Item]) -> float:
            return 1 - super().utility(request, items)

    verdict = judge_sees(arena_of(Hates()), "random_items", least=0.2)
    assert "it prefers random items, by 1.00" in verdict.reason


def test_no_difference_counts_only_of_a_judge_that_was_seen_to_find_one() -> None:
    same = {"margin": 0.1, "trusted": LIMITS}
    found = not_less_preferred(arena_of(Likes()), **same)  # type: ignore[arg-type]
    assert found.status == "holds"
    assert "the 0.1 allowed here is up to" in found.reason
    blind = not_less_preferred(arena_of(judges.AlwaysTies()), **same)  # type: ignore[arg-type]
    assert (blind.status, blind.p_value) == ("inconclusive", None)
    assert "it finds no winner in 100%" in blind.reason
    unshown = not_less_preferred(arena_of(Likes(), 60, HISTORY[:1]), **same)  # type: ignore[arg-type]
    assert unshown.status == "inconclusive"
    assert "was not seen to tell users' own choices from random items" in unshown.reason
    assert not_less_preferred(arena_of(Likes()), margin=0.1).status == "holds", (
        "not tested"
    )


def test_one_score_for_every_list_says_nothing() -> None:
    class Mean(Likes):
        def utility(self, request: Request, items: Sequence[Item]) -> float:
            return 0.5

    verdict = not_scored_lower(arena_of(Mean(), 100), margin=0.05)
    assert verdict.status == "inconclusive"
    assert "one score" in verdict.reason


def test_each_aspect_needs_a_judge_that_sees_differences_in_it() -> None:
    arena = arena_of(TiesIn())
    for aspect in (OVERALL, "accuracy"):
        assert (
            not_less_preferred(arena, aspect, margin=0.1, trusted=LIMITS).status
            == "holds"
        )
    verdict = not_less_preferred(arena, "transparency", margin=0.1, trusted=LIMITS)
    assert verdict.status == "inconclusive"
    assert "from random items in transparency" in verdict.reason


def test_what_is_refused_is_held_against_a_judge_once() -> None:
    few = preferred(arena_of(Declines(share=0.04), 200), trusted=LIMITS)
    assert "fails its own tests" not in few.reason
    many = arena_of(Declines(share=0.4), 200)
    verdict = judge_seldom(many, "refusals", most=0.1)
    assert verdict.status == "violated"
    assert "it refuses" in verdict.reason
    assert judge_seldom(many, "unread", most=0.1).status == "holds"


def test_a_text_that_declines_is_a_refusal_and_other_noise_is_unread() -> None:
    refusal = read_judgement("I'm sorry, but I cannot compare these lists.", ASPECTS)
    assert (refusal.overall, refusal.refused) == (None, True)
    noise = read_judgement("Both are films.", ASPECTS)
    assert (noise.overall, noise.refused) == (None, False)
    said = read_judgement("Overall: A wins, but I cannot be sure.", ASPECTS)
    assert (said.overall, said.refused) == ("A", False)


def test_the_tie_judge_certifies_nothing(pytester: pytest.Pytester) -> None:
    rows = rows_of(
        pytester,
        "AlwaysTies",
        "--recsys-model=random",
        "--recsys-against=itemknn",
        "--recsys-users=100",
    )
    certified = [
        name
        for name in rows
        if name.startswith("not_") and status(rows, name) == "holds"
    ]
    assert certified == []
    assert status(rows, "judge_seldom:ties") == "violated"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda arena: judge_sees(arena, "randm_items", least=0.2),
            "no control 'randm_items'",
        ),
        (lambda arena: judge_sees(arena, "random_items", least=1.0), "least"),
        (
            lambda arena: judge_sees(arena, "random_items", "acuracy", least=0.2),
            "no aspect",
        ),
        (lambda arena: judge_seldom(arena, "tie", most=0.2), "no limit for 'tie'"),
        (lambda arena: judge_seldom(arena, "ties", most=0.0), "most"),
    ],
)
def test_wrong_arguments_are_named(call, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(OracleError, match=said):
        call(arena_of(Likes()))


def test_every_limit_has_a_field() -> None:
    assert {*SELDOM} == {field.name for field in dataclasses.fields(Trust)} - {
        "margin",
        "sees",
    }
