"""What is like a changed item rises or falls, and what is excluded is not named: judged
on answers given beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import (
    exclusion_kept,
    neighbours_lowered,
    neighbours_not_lowered,
    neighbours_not_raised,
    neighbours_raised,
)
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import FakeAnswers
from tests.support.oracles import mean_height

ITEMS = {
    name: Item(name, attributes={"genres": ("War",) if name in "ab" else ("Drama",)})
    for name in "abcdefxyz"
}
CONTEXT = Context(
    deterministic=True,
    items=ITEMS,
    neighbours={"x": ("a", "b", "y"), "y": ("c",), "z": ("f",)},
)
OFFERED = tuple(ITEMS[name] for name in "abcde")
USERS = 120

Oracle = Callable[..., Verdict]


def side(
    history: Sequence[tuple[str, float]],
    answer: str,
    label: str = "",
    scale: Scale = Scale(1, 5),  # noqa: B008 - frozen
    instruction: str = "",
    candidates: tuple[Item, ...] | None = OFFERED,
    users: int = USERS,
) -> FakeAnswers:
    """Everybody has this history, and gets this answer."""
    rated = tuple(Rating(ITEMS[item], value) for item, value in history)
    asked = [
        Asked(
            Request(f"u{user}", rated, scale, candidates, 4, instruction),
            (Recommendation(tuple(answer)),),
        )
        for user in range(users)
    ]
    return FakeAnswers(asked, CONTEXT, label)


def pair(
    before: Sequence[tuple[str, float]],
    after: Sequence[tuple[str, float]],
) -> tuple[FakeAnswers, FakeAnswers]:
    """The neighbours a and b stand at the end of the source's
    answers, and at the top of the follow-up's.
    """
    return side(before, "cdab"), side(after, "abcd", "changed")


def test_heights_are_shares_of_the_largest() -> None:
    (asked,) = side([], "abcd", users=1).asked
    assert mean_height(asked, {"b"}, 4) == 0.75
    assert mean_height(asked, {"a", "b"}, 4) == 1
    assert mean_height(asked, {"c", "d"}, 4) == pytest.approx(0.75 / 1.75)
    assert mean_height(asked, {"e"}, 4) == 0
    assert mean_height(asked, set("abcdexyz"), 4) == 1
    assert mean_height(asked, {"a", "b"}, 1) == 1


def test_all_four_say_the_same_of_a_rise() -> None:
    source, followup = pair([("x", 2), ("z", 3)], [("x", 5), ("z", 3)])
    rise = 1 - 0.75 / 1.75
    for oracle, status, estimate in (
        (neighbours_raised, "holds", rise),
        (neighbours_not_raised, "violated", rise),
        (neighbours_lowered, "violated", -rise),
        (neighbours_not_lowered, "holds", -rise),
    ):
        verdict = oracle(source, followup)
        assert verdict.status == status
        assert verdict.estimate == pytest.approx(estimate)
        assert verdict.measures.endswith("of what is like the changed item")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([("x", 2), ("z", 3)], [("z", 3)]),
        ([("z", 3)], [("x", 2), ("z", 3)]),
        ([("x", 2), ("z", 3)], [("z", 3), ("x", 2)]),
    ],
    ids=["taken out", "added", "moved to the end"],
)
def test_these_are_changed_items(
    before: list[tuple[str, float]],
    after: list[tuple[str, float]],
) -> None:
    assert neighbours_raised(*pair(before, after)).status == "holds"


def test_another_unit_of_ratings_is_no_change() -> None:
    source = side([("x", 2.0)], "cdab")
    followup = side([("x", 4.0)], "abcd", "changed", Scale(2, 10))
    assert neighbours_raised(source, followup).status == "not-applicable"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([("x", 2)], [("x", 2)], "both histories are the same"),
        ([("z", 2)], [("z", 4)], "no neighbour of the changed item is offered"),
        (
            [("x", 2), ("z", 3)],
            [("x", 2), ("z", 4)],
            "no neighbour of the changed item is offered",
        ),
    ],
)
def test_whom_it_is_not_about(
    before: list[tuple[str, float]],
    after: list[tuple[str, float]],
    why: str,
) -> None:
    verdict = neighbours_not_lowered(*pair(before, after))
    assert verdict.status == "not-applicable"
    assert why in verdict.reason


def test_an_open_question_offers_what_the_user_does_not_have() -> None:
    source = side([("x", 2), ("a", 3)], "cdeb", candidates=None)
    followup = side([("x", 5), ("a", 3)], "bcde", "changed", candidates=None)
    # Of a, b and y, the user has a; of b and y, b rises from the last place to the
    # first.
    assert neighbours_raised(source, followup).estimate == pytest.approx(0.75 / 1.75)


def test_answers_that_stay_are_no_violation_and_no_move() -> None:
    source, followup = side([("x", 2)], "abcd"), side([("x", 5)], "abcd", "changed")
    assert neighbours_not_lowered(source, followup, margin=0.05)
    assert neighbours_raised(source, followup, margin=0.05).status == "violated"


BANNED = 'Be kind. Recommend nothing of the genre "War".'


def exclusion(
    answer: str,
    instruction: str = BANNED,
    before: str = "Be kind.",
) -> Verdict:
    return exclusion_kept(
        side([], "abcd", instruction=before),
        side([], answer, "exclude_genre", instruction=instruction),
    )


def test_an_exclusion_is_kept_or_not() -> None:
    assert exclusion("cdex")
    broken = exclusion("acde")
    assert broken.status == "violated"
    assert broken.estimate == 0.25
    assert "share of places with what the user excluded" in broken.summary
    assert exclusion("aacd").estimate == 0.25, "a repeat counts once"


def test_what_was_excluded_before_or_is_not_on_offer_says_nothing() -> None:
    assert exclusion("acde", before=BANNED).status == "not-applicable"
    assert (
        exclusion("acde", 'Recommend nothing of the genre "Horror".').status
        == "not-applicable"
    )


@pytest.mark.parametrize(
    "oracle",
    [
        neighbours_raised, neighbours_lowered, neighbours_not_raised, neighbours_not_lowered, exclusion_kept,
    ],
)  # fmt: skip
def test_a_margin_is_a_share(oracle: Oracle) -> None:
    with pytest.raises(OracleError, match=f"{oracle.__name__}: margin"):
        oracle(*pair([("x", 1)], [("x", 2)]), margin=1.5)


def test_users_without_a_neighbour_do_not_dilute_the_mean() -> None:
    source, followup = pair([("x", 2)], [("x", 5)])
    others, theirs = side([("z", 2)], "abcd"), side([("z", 5)], "abcd", "changed")
    source = replace(source, asked=[*source.asked, *others.asked])
    followup = replace(followup, asked=[*followup.asked, *theirs.asked])
    verdict = neighbours_raised(source, followup)
    assert verdict.status == "holds"
    assert verdict.estimate == pytest.approx(1 - 0.75 / 1.75)
