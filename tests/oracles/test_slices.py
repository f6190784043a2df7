"""Verdicts judge groups of users beside all users."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.calibration import bound
from benchmarks.shapes import SHAPES
from benchmarks.slices import ALPHA, NAMES, members, verdict, wrong
from pytest_recsys_mt import OracleError, Verdict, oracles
from pytest_recsys_mt.oracles import (
    at_least,
    complete_list,
    monotone,
    same_ranking,
    same_score,
)
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context, Lost, Pairs
from tests.oracles.support import FakeAnswers
from tests.support.oracles_judging import (
    LEAST,
    Claim,
    groups_of,
    judge_family,
    require_slicings,
    weights,
)
from tests.support.oracles_statistics import Certain, Rate, holm

GENRES = (
    "Horror",
    "Drama",
    "Comedy",
    "Comedy",
    "Drama",
    "Drama",
    "Comedy",
    "Drama",
    "Comedy",
    "Drama",
)
"""Of each user, in turn: one in ten likes horror most."""
USERS = 200
FILMS = {
    name: Item(name, f"Film {name}", 2000, {"genres": (genre,)})
    for name, genre in zip(
        "abcdefghij",
        (*GENRES[:3], *GENRES[:3], "Western", "War", "War", "War"),
        strict=True,
    )
}
OF_GENRE = {"Horror": "a", "Drama": "b", "Comedy": "c"}


def user(place: int, answer: Sequence[str], **changes: Any) -> Asked:
    liked = OF_GENRE[GENRES[place % len(GENRES)]]
    history = (Rating(FILMS[liked], 1 + place % 5),)
    request = Request(
        f"u{place}", history, Scale(), tuple(FILMS.values()), 10,
        attributes={"gender": "fm"[place % 2], "shoe": place},
    )  # fmt: skip
    past = (liked,) * (1 + place % 30)
    return dataclasses.replace(
        Asked(request, (Recommendation(tuple(answer)),), frozenset({"a"}), past),
        **changes,
    )


ORDER = list("abcdefghij")


def sides(
    turned: Callable[[int], bool],
    users: int = USERS,
    **context: Any,
) -> tuple[FakeAnswers, FakeAnswers]:
    """The answers of a deterministic recommender that
    turns the lists of some users round.
    """
    source = [user(place, ORDER) for place in range(users)]
    known = Context(
        deterministic=True, items=FILMS, popularity={name: ord(name) for name in FILMS},
        everybody=lambda: source, **context,
    )  # fmt: skip
    followup = [
        user(place, ORDER[::-1] if turned(place) else ORDER) for place in range(users)
    ]
    return FakeAnswers(source, known), FakeAnswers(followup, known, "changed")


def horror(place: int) -> bool:
    return GENRES[place % len(GENRES)] == "Horror"


def nobody(place: int) -> bool:
    return False


def group(made: Verdict, slicing: str, value: str) -> Any:
    (found,) = (
        each for each in made.slices if (each.slicing, each.value) == (slicing, value)
    )
    return found


def values(slices: Sequence[Any], **context: Any) -> dict[str, int]:
    source, _ = sides(nobody, **context)
    return {
        f"{g.slicing} {g.value}": len(g.users)
        for g in groups_of(slices, "it", source.context)
    }


def test_a_fault_of_one_group_hides_in_the_mean_and_is_found_by_its_slice() -> None:
    source, followup = sides(lambda place: horror(place) and place % 20 == 0)
    assert same_ranking(source, followup, margin=0.05).status != "violated"
    source, followup = sides(horror)
    alone = same_ranking(source, followup, margin=0.1)
    made = same_ranking(source, followup, margin=0.1, slices=("activity", "genre"))
    assert alone.status != "violated"
    assert made.status == "violated"
    assert made.broken is not None
    assert (made.broken.slicing, made.broken.value) == ("genre", "Horror")
    assert made.slices[0].status == "inconclusive"
    assert made.broken.users < 20
    assert made.users < USERS


def test_the_sentence_names_the_group_before_all_users() -> None:
    made = same_ranking(*sides(horror), margin=0.1, slices=("genre",))
    found = made.broken
    assert found is not None
    assert made.summary.startswith(
        f"changed is violated for users of genre Horror: the loss of agreement beyond noise is "
        f"{found.estimate:.3f} (",
    )
    assert (
        f"; {found.users} users), but at most 0.1 is allowed; for all users it is {made.estimate:.3f} ("
        in made.summary
    )


def test_the_examples_are_users_of_the_broken_group() -> None:
    made = same_ranking(*sides(horror), margin=0.1, slices=("genre",))
    assert all(horror(int(each.user[1:])) for each in made.examples)


def test_a_fault_of_all_users_is_said_of_all_users() -> None:
    made = same_ranking(*sides(lambda place: True), slices=("genre",))
    assert made.status == "violated"
    assert made.broken is None
    assert made.summary.startswith("changed is violated: ")


def test_a_promise_holds_although_groups_are_not_settled() -> None:
    plain = same_ranking(*sides(nobody))
    made = same_ranking(*sides(nobody), slices=("activity", "genre"))
    assert (made.status, made.users, made.interval) == (
        plain.status,
        plain.users,
        plain.interval,
    )
    assert {each.status for each in made.slices[1:]} == {"inconclusive"}
    assert "not settled" not in made.summary


def test_groups_hold_where_enough_of_their_users_are_asked() -> None:
    made = same_ranking(*sides(nobody, ask_everybody=True), slices=("gender",))
    assert [each.status for each in made.slices] == ["holds", "holds", "holds"]


def test_a_group_that_looks_bad_is_asked_until_it_is_settled() -> None:
    def rarity(request: Request) -> str:
        return "rare" if int(request.user[1:]) % 20 == 0 else "usual"

    def rare(place: int) -> bool:
        return place % 20 == 0

    alone = same_ranking(*sides(rare), margin=0.1)
    found = same_ranking(*sides(rare), margin=0.1, slices=(rarity,))
    calm = same_ranking(*sides(nobody), margin=0.1, slices=(rarity,))
    assert (alone.status, found.status, calm.status) == ("holds", "violated", "holds")
    assert alone.users < found.users < USERS
    assert calm.users <= 45  # the first three rare users are the users 0, 20 and 40
    assert group(found, "rarity", "rare").users == 6


def test_few_users_of_a_group_are_not_enough_to_stop() -> None:
    rare = lambda request: "rare" if int(request.user[1:]) >= 100 else "usual"
    rare.__name__ = "rarity"
    made = same_ranking(*sides(nobody), slices=(rare,))
    assert made.users >= 103
    assert group(made, "rarity", "rare").users >= 3


def test_the_slices_of_the_run_are_judged_unless_a_test_says_otherwise() -> None:
    source, followup = sides(horror, slices=("genre",))
    assert same_ranking(source, followup, margin=0.1).broken is not None
    assert same_ranking(source, followup, margin=0.1, slices=()).slices == ()
    assert group(
        same_ranking(source, followup, margin=0.1, slices=["gender"]),
        "gender",
        "f",
    ).users


@pytest.mark.parametrize(
    ("slices", "found"),
    [
        (
            ["activity"],
            {"activity heavy": 67, "activity light": 63, "activity medium": 70},
        ),
        (["genre"], {"genre Comedy": 80, "genre Drama": 100, "genre Horror": 20}),
        (["ratings"], {"ratings high": 80, "ratings low": 40, "ratings middle": 80}),
        (["taste"], {"taste mainstream": 180, "taste niche": 20}),
        (["gender"], {"gender f": 100, "gender m": 100}),
        (["shoe"], {"shoe others": 200}),
        (["gender", "gender"], {"gender f": 100, "gender m": 100}),
        ([], {}),
    ],
    ids=str,
)
def test_users_are_divided(slices: list[str], found: dict[str, int]) -> None:
    assert values(slices) == found


def test_a_function_divides_users_and_few_are_others() -> None:
    def first_letter(request: Request) -> str:
        return request.user[1] if int(request.user[1:]) < 110 else "late"

    found = values([first_letter])
    assert found["first_letter late"] == 90
    assert found["first_letter 1"] == 21
    assert all(count >= LEAST for count in found.values())
    assert values([_all_alike]) == {}


def _all_alike(request: Request) -> str:
    return "same"


def _raises(request: Request) -> str:
    raise KeyError("club")


def _gives_a_number(request: Request) -> Any:
    return 7


@pytest.mark.parametrize(
    ("slices", "words"),
    [
        (["genres"], "same_ranking:rbo: there is no slicing 'genres'; choose from activity, genre, ratings, taste, gender, shoe (did you mean 'genre'?)"),
        ([_raises], "the slicing _raises raised KeyError: 'club', for user 'u0'; it must return a text"),
        ([_gives_a_number], "the slicing _gives_a_number returned 7 for user 'u0'; it must return a text"),
        ([lambda request: "x"], "define it with def"),
        ([3], "3 is no slicing: give a name"),
        ("genre", "slices must be a sequence, such as a list or None, got 'genre'; write slices=['genre']; see"),
    ],
)  # fmt: skip
def test_a_wrong_slicing_is_named(slices: Any, words: str) -> None:
    with pytest.raises(OracleError) as error:
        same_ranking(*sides(nobody), slices=slices)
    assert words in str(error.value)


def test_data_without_genres_cannot_be_divided_by_them() -> None:
    source, followup = sides(nobody)
    bare = dataclasses.replace(source.context, items={})
    source.context = followup.context = bare
    with pytest.raises(
        OracleError,
        match="'genre' cannot divide the users, because the data lack",
    ):
        same_ranking(source, followup, slices=["genre"])


def test_the_names_of_a_run_are_checked_beforehand() -> None:
    require_slicings(["genre", "age"], {"age"}, FILMS.values())
    with pytest.raises(
        OracleError,
        match=r"--recsys-slices: there is no slicing 'agee'.*mean 'age'",
    ):
        require_slicings(["agee"], {"age"}, FILMS.values())
    with pytest.raises(
        OracleError,
        match="--recsys-slices: 'genre' cannot divide the users",
    ):
        require_slicings(["genre"], {"age"}, [Item("a")])


def test_aggregates_cannot_be_sliced_and_say_why() -> None:
    source, followup = sides(nobody, slices=("genre",))
    with pytest.raises(
        OracleError,
        match="an aggregate is a number of all users together",
    ):
        at_least(source, "item_coverage", 0.5, slices=["genre"])
    with pytest.raises(
        OracleError,
        match="an aggregate is a number of all users together",
    ):
        same_score(source, followup, "item_coverage", slices=["genre"])
    assert at_least(source, "item_coverage", 0.5).slices == ()
    assert at_least(source, "hit@3", 0.5).slices


NOT_BY_GROUP = {
    "accuracy_kept", "cand_dif_within", "exclusion_kept", "latency_within", "neighbours_lowered",
    "neighbours_not_lowered", "neighbours_not_raised", "neighbours_raised", "never_differs", "no_position_bias",
    "paper_t_test", "pinned", "relative_change", "same_choices",
}  # fmt: skip
"""Oracles that judge answers without dividing users: their
claim is one of all users, or of questions.
"""


def test_every_oracle_on_users_takes_slices_by_keyword() -> None:
    without = set()
    for name in oracles.__all__:
        found = getattr(oracles, name)
        parameters = (
            inspect.signature(found).parameters if inspect.isfunction(found) else {}
        )
        if "slices" in parameters:
            assert parameters["slices"].kind is inspect.Parameter.KEYWORD_ONLY, name
        elif {"source", "answers"} & parameters.keys():
            without.add(name)
    assert without == NOT_BY_GROUP, (
        "give a new oracle `slices`, and hand it to its Claim"
    )


def test_one_sided_promises_are_judged_by_group() -> None:
    source, _ = sides(nobody)
    source.asked = [
        dataclasses.replace(each, answers=(Recommendation(("a",)),))
        if horror(place)
        else each
        for place, each in enumerate(source.asked)
    ]
    made = complete_list(source, margin=0.2, slices=["genre"])
    assert made.broken is not None
    assert made.broken.value == "Horror"


def test_a_series_is_violated_if_a_group_breaks_one_step() -> None:
    first, second = sides(horror)
    _, third = sides(nobody)
    third.context = first.context
    third.label = "third"
    made = monotone([second, first, third], "hit@1", 0.15)
    assert made.status == "holds"
    made = monotone([first, second, third], "hit@1", 0.15, slices=["genre"])
    assert made.status == "violated"
    assert made.broken is not None
    assert made.broken.value == "Horror"


def test_a_follow_up_that_fails_counts_in_its_group_too() -> None:
    source, followup = sides(horror)

    class Breaking(FakeAnswers):
        def pair(self, other: Any, /, users: int | None = None) -> Pairs:
            pairs = super().pair(other, users)
            lost = [place for place in range(len(pairs.source)) if place % 50 == 10]
            kept = [place for place in range(len(pairs.source)) if place not in lost]
            return Pairs(
                tuple(pairs.source[place] for place in kept),
                tuple(pairs.followup[place] for place in kept),
                lost=tuple(
                    Lost(
                        pairs.source[place].user,
                        "failed",
                        "down",
                        pairs.source[place],
                    )
                    for place in lost
                ),
                order=tuple(each.user for each in pairs.source),
            )

    source = Breaking(source.asked, source.context)
    whole = same_ranking(
        *sides(horror, ask_everybody=True),
        margin=0.1,
        slices=["genre"],
    )
    source.context = followup.context = dataclasses.replace(
        source.context,
        ask_everybody=True,
    )
    made = same_ranking(source, followup, margin=0.1, slices=["genre"])
    assert made.errors == 4
    before, after = (group(each, "genre", "Horror") for each in (whole, made))
    assert (before.users, after.users) == (20, 16)
    assert after.p_value > before.p_value
    assert (
        group(made, "genre", "Drama").p_value == group(whole, "genre", "Drama").p_value
    )


def test_holm_with_weights_gives_each_its_share() -> None:
    assert holm([0.01, 0.02, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert holm([0.02, 0.01, 0.3], [0.5, 0.25, 0.25]) == pytest.approx(
        [0.04, 0.04, 0.3],
    )
    assert weights(0) == [1.0]
    assert sum(weights(7)) == pytest.approx(1)


def test_all_users_hold_at_alpha_and_groups_only_if_they_do() -> None:
    claim = Claim("", "at most", 0.2)
    good, unsure, bad = Rate(0, 100), Rate(3, 20), Rate(19, 20)
    assert judge_family(claim, [good, good, unsure], 0.05).statuses == [
        "holds",
        "holds",
        "inconclusive",
    ]
    assert (
        judge_family(claim, [unsure, good, good], 0.05).statuses == ["inconclusive"] * 3
    )
    broken = judge_family(claim, [good, good, bad, None], 0.05)
    assert broken.statuses == ["holds", "holds", "violated", "inconclusive"]
    assert broken.status == "violated"
    assert broken.p_value == pytest.approx(6 * bad.p_at_most(0.2))
    assert judge_family(claim, [Certain(0.1)], 0.05).status == "holds"


@pytest.mark.parametrize("name", NAMES)
def test_no_group_is_wrongly_judged_more_often_than_declared(name: str) -> None:
    runs = 300
    limit = bound(runs, ALPHA, 2 * len(NAMES))
    assert max(wrong(SHAPES[name], 6, range(6), runs, seed=9)) <= limit


def test_groups_cost_few_users_where_nothing_moves() -> None:
    rng = np.random.default_rng(1)
    asked = [verdict(np.clip(rng.normal(0, 0.12, 200), -0.5, 1), groups).users
             for groups in ([], members(8, 0)[1:]) for _ in range(30)]  # fmt: skip
    assert np.mean(asked[30:]) < 1.25 * np.mean(asked[:30])
