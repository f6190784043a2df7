"""The smallest request at which users' code raises, and the code that asks it."""

import math
from typing import Any

import pytest

from pytest_recsys_mt import Item, Rating, Recommendation, Request, Scale
from tests.support.calls import Failures, subject
from tests.support.engine import MOST_CALLS, smallest_raising
from tests.support.report import as_code, how_to_send

ITEMS = tuple(
    Item(f"i{n}", f"Film {n}", 1960 + n, {"genres": ("Crime",)}) for n in range(20)
)
REQUEST = Request(
    "u1",
    tuple(Rating(item, 5.0, 7) for item in ITEMS),
    Scale(),
    ITEMS,
    10,
    attributes={"age": 61},
)


class Raising:
    """Raises where `fails` says so."""

    def __init__(self, fails: Any) -> None:
        self.fails, self.asked = fails, 0

    def recommend(self, requests: Any) -> list[Recommendation]:
        self.asked += len(requests)
        for request in requests:
            if len(request.candidates) == 1 and len(request.history) > 1:
                raise ValueError("another error")
            if self.fails(request):
                raise KeyError("m1")
        return [Recommendation(("i1",)) for _ in requests]


def smallest(fails: Any, until: float = math.inf) -> tuple[Request | None, int]:
    asked = Raising(fails)
    known, failures = subject(asked, "raising", "person"), Failures()
    call = known.call(REQUEST, repeat=False)
    for arrived in known.ask([call]):
        for _, answer in arrived:
            failures.add("raising", answer, call)
    (failure,) = failures.named_in("KeyError: 'm1'", "raising")
    asked.asked = 0
    return smallest_raising(known, failure, until), asked.asked


def test_all_that_the_error_does_not_need_is_left_out() -> None:
    found, _ = smallest(lambda request: len(request.candidates or ()) > 3)
    assert found is not None
    assert found == Request("u1", (), Scale(), found.candidates, 4)
    assert len(found.candidates or ()) == 4


def test_what_it_needs_stays() -> None:
    def fails(request: Any) -> bool:
        here = [rating.item for rating in request.history if rating.item.id == "i7"]
        return any(item.attributes.get("genres") for item in here)

    found, _ = smallest(fails)
    assert found is not None
    assert [rating.item for rating in found.history] == [ITEMS[7]]
    assert found.history[0].timestamp is None


def test_another_error_is_not_the_same() -> None:
    found, _ = smallest(lambda request: len(request.history) > 1)
    assert found is not None
    assert len(found.history) == 2
    assert len(found.candidates or ()) == 2, "with one, something else is raised"


def test_an_error_that_does_not_come_again_has_no_smallest_request() -> None:
    first = iter([True])
    found, asked = smallest(lambda request: next(first, False))
    assert found is None
    assert asked == 1


def test_it_ends_by_the_clock_and_by_the_calls() -> None:
    assert smallest(lambda request: True, until=0.0)[0] is None
    found, asked = smallest(lambda request: len(request.history) == 20)
    assert found is not None
    assert asked <= MOST_CALLS


@pytest.mark.parametrize(
    "request_",
    [
        REQUEST,
        REQUEST.replace(history=(), candidates=None, seen=("i1",), attributes={}),
        REQUEST.replace(instruction="It's\nnew", user="u'1", scale=Scale(0.5, 10)),
        REQUEST.replace(candidates=(Item("x"), Item("y", year=1999), Item("z", "Z\\"))),
    ],
)
def test_the_code_makes_the_request(request_: Request) -> None:
    names: dict[str, Any] = {
        "Item": Item,
        "Rating": Rating,
        "Request": Request,
        "Scale": Scale,
    }
    exec("\n".join(as_code(request_)), names)  # noqa: S102 - our own code
    assert names["request"] == request_


def test_a_follow_up_is_told_from_the_users_own_request() -> None:
    followup = REQUEST.replace(scale=Scale(2, 10), replicate=3)
    lines = list(how_to_send(REQUEST, followup, None))
    assert lines[1:] == [
        "this request is a follow-up; it differs from the user's own in:",
        "  scale       - 1 to 5",
        "              + 2 to 10",
    ]
    assert list(how_to_send(REQUEST, REQUEST.replace(replicate=1), REQUEST)) == [], (
        "too long to read"
    )
