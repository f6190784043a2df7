"""The changed request that explains why two deterministic recommenders differ."""

from collections.abc import Callable, Sequence

import pytest

from pytest_recsys_mt import Item, Rating, Request, Scale
from tests.laws import over
from tests.support.parity import Differing, Explanation, explanation, guesses_for

ITEMS = [Item(f"i{number:02}", f"Film {number}") for number in range(40)]
HOUR = 3600


def request(user: int) -> Request:
    """A request of a user who has rated fifteen of the items."""
    history = tuple(
        Rating(
            ITEMS[(user * 7 + 3 * place) % 40],
            1.0 + (user + place) % 5,
            HOUR * (100 * user + place),
        )
        for place in range(15)
    )
    return Request(
        f"u{user}",
        history,
        Scale(),
        candidates=tuple(ITEMS),
        k=10,
        attributes={"age": 20 + user},
    )


def answer(request: Request) -> list[str]:
    """A list that depends on all that a request says."""
    weights = [
        (int(rating.item.id[1:]) + 1)
        * rating.value
        * (place + 2)
        * (1 + (rating.timestamp or 0) // HOUR % 24)
        for place, rating in enumerate(request.history)
    ]
    seed = sum(weights) + request.attributes.get("age", 0)
    ranked = sorted(
        request.candidates or (),
        key=lambda item: (int(item.id[1:]) * 7919 + seed * 104729) % 1009,
    )
    return [item.id for item in ranked[: request.k]]


Change = Callable[[Request], Request]


def explained(ours: Change, theirs: Change, users: int = 30) -> Explanation | None:
    """The explanation of what two sides differ in, each of which changes requests."""
    requests = [request(user) for user in range(users)]
    both = (ours, theirs)

    def ask(side: Change) -> Callable[[Sequence[Request]], list[list[str]]]:
        return lambda asked: [answer(side(each)) for each in asked]

    differing = [
        Differing(each, (answer(ours(each)), answer(theirs(each)))) for each in requests
    ]
    differing = [each for each in differing if each.lists[0] != each.lists[1]]
    return explanation(differing, (ask(both[0]), ask(both[1])), "film")


def as_it_is(request: Request) -> Request:
    return request


def without_age(request: Request) -> Request:
    return request.replace(attributes={})


def shifted(request: Request) -> Request:
    return request.replace(
        history=tuple(
            Rating(each.item, each.value, (each.timestamp or 0) - 5 * HOUR)
            for each in request.history
        ),
    )


def liked(request: Request) -> Request:
    return request.replace(
        history=tuple(each for each in request.history if each.value > 3)
    )


SKEWS: list[tuple[Change, str]] = [
    (
        lambda request: request.replace(history=request.history[-10:]),
        "the last 10 films",
    ),
    (lambda request: request.replace(history=request.history[:-2]), "its last 2 films"),
    (without_age, "a user without attributes"),
    (shifted, "ratings of 5 hours earlier"),
    (liked, "the ratings above the middle of the scale alone"),
    (lambda request: request.replace(history=()), "an empty history"),
]


@over("skew, words", SKEWS)
def test_a_part_that_one_side_reads_otherwise_is_named(
    skew: Change, words: str
) -> None:
    served = explained(as_it_is, skew)
    assert served is not None
    assert words in served.words
    assert (served.answers_so, served.explained, served.tried) == (1, 20, 20)
    assert served.sentence(("A", "B")).startswith(
        f"B answers as A does to {served.words}"
    )
    trained = explained(skew, as_it_is)
    assert trained is not None
    # A shift can be undone, so it explains either side.
    assert trained.answers_so == (skew is shifted)


def test_another_recommender_is_explained_by_nothing() -> None:
    def reversed_ids(request: Request) -> Request:
        return request.replace(user=request.user[::-1], k=9)

    assert explained(as_it_is, reversed_ids) is None


def test_few_users_explain_nothing() -> None:
    assert explained(as_it_is, without_age, users=2) is None
    assert explained(as_it_is, without_age, users=3) is not None


@pytest.mark.parametrize("refuses", [True, False])
def test_answers_that_are_missing_explain_nothing(refuses: bool) -> None:
    differing = [
        Differing(request(user), (["i01"], ["i02"] if refuses else []))
        for user in range(9)
    ]
    found = explanation(differing, (lambda r: [None] * len(r),) * 2, "")
    assert found is None


def test_guesses_are_few_and_each_has_words_of_its_own() -> None:
    guesses = list(guesses_for([request(user) for user in range(5)], "film"))
    words = [guess.words for guess in guesses]
    assert len(set(words)) == len(words) < 70
