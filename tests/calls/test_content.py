"""The key of a call is the hash of plain JSON, however its text is put together."""

import hashlib
import json
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import RelationError
from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from tests.support.calls import (
    Content,
    Part,
    canonical,
    digest_of,
    key_of,
    plain_request,
    request_digest,
)


@dataclass(frozen=True)
class _Louder:
    rate: float

    def __call__(self, text: str, /) -> str:
        return text.upper()


_TEXT = st.text(max_size=8)
_VALUES = st.one_of(
    _TEXT,
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
_FACTS = st.dictionaries(
    _TEXT,
    st.one_of(_VALUES, st.lists(_TEXT, max_size=3).map(tuple)),
    max_size=3,
)
_ITEMS = st.builds(Item, _TEXT, _TEXT, st.none() | st.integers(1800, 2100), _FACTS)
_RATINGS = st.builds(
    Rating,
    _ITEMS,
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-10, 10),
    st.none() | st.integers(0, 2**40),
)
_REQUESTS = st.builds(
    Request,
    _TEXT,
    st.lists(_RATINGS, max_size=4).map(tuple),
    st.sampled_from((Scale(1, 5), Scale(0.5, 5.0), Scale(-1e22, 1e16))),
    st.none() | st.lists(_ITEMS, max_size=4).map(tuple),
    st.integers(1, 50),
    _TEXT,
    st.lists(st.builds(_Louder, st.floats(0, 1)), max_size=2).map(tuple),
    st.integers(0, 2**31),
    _FACTS,
    st.lists(_TEXT, max_size=3).map(tuple),
)


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@given(_REQUESTS, _FACTS, st.booleans())
def test_the_text_is_that_of_plain_data(
    request: Request,
    model: dict[str, object],
    repeat: bool,
) -> None:
    content = Content(Part(model), request, repeat)
    plain = {
        "schema": "recsys-mt-call/1",
        "model": model,
        "request": plain_request(request),
        "replicate": request.replicate,
        "repeat": repeat,
    }
    assert content.text == canonical(content) == _plain(plain)
    assert dict(content) == plain
    assert (
        key_of(content)
        == key_of(plain)
        == hashlib.sha256(_plain(plain).encode()).hexdigest()
    )
    assert pickle.loads(pickle.dumps(content)).text == content.text
    sent = {"asked": "alone", "before": "0" * 64}
    assert key_of(content.sent(**sent)) == key_of(plain | sent)
    assert dict(content.sent(**sent)) == plain | sent
    assert request_digest(request) == request_digest(request.replace(replicate=7))
    both = {"requests": [plain_request(request)] * 2}
    assert digest_of([request, request]) == key_of(both)


def test_a_rating_that_is_no_number_has_no_key() -> None:
    request = Request("u", (Rating(Item("a"), float("nan")),), Scale(), None, 1)
    with pytest.raises(ValueError, match="not JSON compliant"):
        key_of(Content(Part({}), request, False))


def test_an_edit_without_fields_has_no_key() -> None:
    request = Request("u", (), Scale(), None, 1, edits=(str.upper,))
    with pytest.raises(RelationError, match="is not a dataclass"):
        key_of(Content(Part({}), request, False))


def test_an_unknown_name_is_not_in_a_content() -> None:
    content = Content(Part({}), Request("u", (), Scale(), None, 1), False)
    assert content.get("messages") is None
    assert len(content) == len(list(content))


def test_what_can_be_changed_in_place_is_written_each_time() -> None:
    genres = ["Drama"]
    item = Item("a", attributes={"genres": genres})
    request = Request("u", (Rating(item, 3.0),), Scale(), (item,), 1)
    content = Content(Part({}), request, False)
    before = content.text
    assert not item.fixed
    assert not request.fixed
    genres.append("War")
    assert content.text != before
    assert content.text == canonical(dict(content))
    assert Item("a", attributes={"genres": ("Drama",), "cast": (("x", 1), None)}).fixed


def test_the_key_does_not_depend_on_equal_items_that_came_before() -> None:
    # 1990 and 1990.0 are equal, and stand in JSON as they are.
    keys = {}
    for order in (("whole", "float"), ("float", "whole")):
        items = {"whole": Item("a", "Heat", 1990), "float": Item("a", "Heat", 1990.0)}  # type: ignore[arg-type]
        keys[order] = {
            name: request_digest(
                Request("u", (Rating(items[name], 4.0),), Scale(1, 5), None, 1),
            )
            for name in order
        }
    first, second = keys.values()
    assert first == second
    assert first["whole"] != first["float"]
