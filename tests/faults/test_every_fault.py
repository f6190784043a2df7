"""What is true of every fault that can be planted: valid
requests, lists no longer, the same every time.
"""

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.faults import Dose, Known, doses, shipped
from pytest_recsys_mt.relations import title_injection
from pytest_recsys_mt.requests import Rating, Recommendation, Request, Scale, World
from pytest_recsys_mt.strategies import requests
from tests.laws import over
from tests.support.engine import Split
from tests.support.requests import Design, generator

MINI = load("mini")
KNOWN = Known(MINI.items, MINI.popularity, frozenset(MINI.interactions["user"]), seed=7)
ALL = over("dose", doses(), ids=lambda dose: dose.spec)
KINDS = over("name", sorted(shipped()))

ANOTHER_LIST = {"stale", "swapped_users"}
"""Give a list that was made for another request."""
MISPLACING = {"invents", "names_others", "names_the_history", *ANOTHER_LIST}
"""May name what was not offered."""
REPEATING = {"repeats", "names_the_history"}
"""May name an item twice."""
BY_THE_WORDS = {"ignores_exclusions", "ignores_the_order", "minds_the_wording"}
"""Shows only to recommenders that read text, or the order of a history."""


def sound(asked: Sequence[Request]) -> list[Recommendation]:
    """By the number of common genres with the liked items, then by id."""

    def liking(request: Request) -> tuple[str, ...]:
        counts: dict[str, float] = {}
        for rating in request.history:
            for genre in rating.item.attributes["genres"]:
                counts[genre] = counts.get(genre, 0) + request.scale.unit(rating.value)
        offered = request.candidates or [
            MINI.items[item] for item in sorted(MINI.items)[:40]
        ]
        ranked = sorted(
            offered,
            key=lambda item: (
                -sum(counts.get(g, 0) for g in item.attributes["genres"]),
                item.id,
            ),
        )
        return tuple(item.id for item in ranked[: request.k])

    return [Recommendation(liking(request)) for request in asked]


BATCHES = st.lists(
    requests("mini", max_history=6, max_candidates=8),
    min_size=1,
    max_size=3,
)


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(batch=BATCHES)
def test_requests_stay_valid_and_lists_do_not_grow(batch: list[Request]) -> None:
    for dose in doses():
        seen: list[Request] = []

        def ask(
            asked: Sequence[Request],
            seen: list[Request] = seen,
        ) -> list[Recommendation]:
            seen.extend(asked)
            return sound(asked)

        answers = dose.planted(KNOWN).recommend(batch, ask)
        assert len(answers) == len(batch), dose
        for request in seen:
            values = [rating.value for rating in request.history]
            assert all(
                request.scale.low <= value <= request.scale.high for value in values
            ), dose
        for request, answer in zip(batch, answers, strict=True):
            offered = {item.id for item in request.candidates or ()}
            assert answer.error is None
            assert len(answer.items) <= request.k or dose.name in ANOTHER_LIST, dose
            if dose.name not in MISPLACING:
                assert set(answer.items) <= offered, dose
            if dose.name not in REPEATING:
                assert len(set(answer.items)) == len(answer.items), dose
            if dose.name != "invents":
                assert set(answer.items) <= MINI.items.keys(), dose
        one, other = dose.planted(KNOWN), dose.planted(KNOWN)
        for _ in range(2):
            assert one.recommend(batch, sound) == other.recommend(batch, sound), dose


@KINDS
def test_what_failed_stays_failed(name: str) -> None:
    batch = _batch(Design(users=3))
    failed = [Recommendation((), error="gone") for _ in batch]
    for dose in doses([name]):
        answers = dose.planted(KNOWN).recommend(
            batch,
            lambda asked: failed[: len(asked)],
        )
        assert all(one is other for one, other in zip(answers, failed, strict=True)), (
            dose
        )


@KINDS
def test_an_empty_answer_does_no_harm(name: str) -> None:
    batch = _batch(Design(users=3))
    for dose in doses([name]):
        for answer in dose.planted(KNOWN).recommend(
            batch,
            lambda asked: [Recommendation(())] * len(asked),
        ):
            assert answer.items == (), dose


@KINDS
@pytest.mark.parametrize("candidates", [20, 0], ids=["candidates", "whole catalogue"])
def test_it_works_with_and_without_candidates(name: str, candidates: int) -> None:
    batch = _batch(Design(users=20, candidates=candidates))
    for dose in doses([name]):
        answers = dose.planted(KNOWN).recommend(batch, sound)
        for request, answer in zip(batch, answers, strict=True):
            assert answer.error is None, dose
            assert len(answer.items) <= request.k, dose


@ALL
def test_every_strength_changes_answers(dose: Dose) -> None:
    if dose.name in BY_THE_WORDS:
        pytest.skip(
            "shows only to recommenders that read text, or the order of a history",
        )
    if dose.name == "ties_by_hash":
        pytest.skip("what Python's hash() gives differs from process to process")
    changed = _changed(dose)
    assert changed > 0


@KINDS
def test_the_whole_fault_changes_no_fewer_answers_than_a_weak_one(name: str) -> None:
    changed = [
        _changed(dose) for dose in doses([name]) if dose.name not in BY_THE_WORDS
    ]
    if name in (
        "popular",
        "ties_by_hash",
        "last_place",
        "haunted",
    ):  # another list, of as many answers
        return
    assert changed == [] or changed[-1] >= changed[0]


@KINDS
def test_it_says_what_it_does_and_what_would_find_it(name: str) -> None:
    kind = shipped()[name]
    for strength in kind.strengths:
        words = kind.words(strength)
        assert words
        assert "{" not in words
        assert words[0].islower()
    assert kind.__doc__
    assert kind.cure is not None, "name the relation that finds it"
    compile(kind.cure.code, name, "exec")
    assert "assert" in kind.cure.code


@cache
def _batch(design: Design) -> tuple[Request, ...]:
    return tuple(case.request for case in Split(MINI, 0).cases(design))


@cache
def _layouts() -> tuple[tuple[Request, ...], ...]:
    """The same users as they are, strangely, asked for long
    lists, and with half of their history.
    """
    usual = _batch(Design(users=40))
    world = World(
        tuple(MINI.items.values()),
        {each.user: each.history for each in usual},
    )
    strange = tuple(_strange(request, world) for request in usual)
    halves = tuple(
        each.replace(history=each.history[1::2], replicate=1) for each in usual
    )
    return usual, strange, _batch(Design(users=40, candidates=25, k=20)), halves


@cache
def _right() -> dict[int, Recommendation]:
    """The sound answer to each request of the layouts, by its
    identity: most faults change answers alone.
    """
    asked = [request for layout in _layouts() for request in layout]
    return {id(one): answer for one, answer in zip(asked, sound(asked), strict=True)}


def _sound(asked: Sequence[Request]) -> list[Recommendation]:
    known = _right()
    return [
        known[id(each)] if id(each) in known else sound([each])[0] for each in asked
    ]


@cache
def _changed(dose: Dose) -> int:
    """How many answers a fault changes, over sources and follow-ups of all kinds."""
    fault = dose.planted(KNOWN)
    changed = 0
    for asked in _layouts():
        right = _sound(asked)
        for _ in range(2):
            changed += sum(
                one.items != two.items
                for one, two in zip(fault.recommend(asked, _sound), right, strict=True)
            )
    return changed


def _strange(request: Request, world: World) -> Request:
    """Another scale, a repeat in the history, a stranger's
    name, and an instruction in a title.
    """
    told = title_injection(request, generator("told", request.user), world)
    history = (*told.history, told.history[0])
    scale = Scale(request.scale.low * 2 + 3, request.scale.high * 2 + 3)
    moved = tuple(
        Rating(each.item, each.value * 2 + 3, each.timestamp) for each in history
    )
    return told.replace(user=f"stranger {request.user}", history=moved, scale=scale)
