"""What is rendered, hashed and read once is the same as if it were done for each call."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import (
    Completion,
    Item,
    Message,
    Prompt,
    Rating,
    Request,
    Scale,
)
from tests.support.calls import TextSubject, canonical, key_of
from tests.support.llm import Latest, LLMRecommender, call_seed, recommender

ITEMS = [
    *(Item(f"{n}", title, year) for n, (title, year) in enumerate([
        ("Heat", 1995), ("Heat", 1986), ("Aliens", 1986), ("Alien", 1979), ("Café \ud83c", None),
        ("Seven (a.k.a. Se7en)", 1995), ("300", 2006), ("Rocky II", 1979), ("Matrix, The", 1999),
    ])),
    Item("x", "Heat", 1995, {"genres": ("crime",)}),
]  # fmt: skip
LINES = [
    "1. Heat (1995)",
    "2. Alien",
    "- Café",
    "3",
    "Se7en",
    "The Matrix",
    "I like Heat.",
    "Hat",
]


@dataclass(frozen=True)
class Shout:
    """An edit of the prompt."""

    mark: str = "!"

    def __call__(self, text: str, /) -> str:
        return text.upper() + self.mark


class Model:
    """Has an identity, so that its calls have keys; it is never asked."""

    fingerprint = "1"
    scores_choices = False
    lists_as_json = False

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        raise AssertionError


class Choosing(Model):
    scores_choices = True


class Listing(Model):
    lists_as_json = True


def fitted(model: Model, template: str = "person") -> TextSubject:
    rows = pd.DataFrame(
        [("1", "0", 5.0, 0)],
        columns=["user", "item", "rating", "timestamp"],
    )
    made = TextSubject(LLMRecommender(model, template), "m")
    made.fit(Dataset("films", {item.id: item for item in ITEMS}, rows, Scale()), 7)
    return made


some = st.lists(st.sampled_from(ITEMS), unique_by=lambda item: item.id, max_size=6).map(
    tuple,
)
requests = st.builds(
    Request,
    user=st.sampled_from(["1", 'a "name"', "\u2028"]),
    history=st.lists(
        st.builds(Rating, st.sampled_from(ITEMS), st.sampled_from([1.0, 4.5])),
        max_size=4,
    ).map(tuple),
    scale=st.sampled_from([Scale(), Scale(0.5, 5)]),
    candidates=st.none() | some,
    k=st.integers(1, 4),
    instruction=st.sampled_from(["", "Be bold."]),
    edits=st.sampled_from([(), (Shout(),), (Shout("?"), Shout())]),
    replicate=st.integers(0, 3),
    seen=st.sampled_from([(), ("0", "3")]),
)
KEPT = [
    fitted(model(), name)
    for model in (Model, Choosing, Listing)
    for name in ("person", "wok")
]


@given(
    asked=st.lists(requests, min_size=1, max_size=6),
    at=st.integers(0, 5),
    repeat=st.booleans(),
)
def test_calls_are_those_of_a_recommender_that_keeps_nothing(
    asked: list[Request],
    at: int,
    repeat: bool,
) -> None:
    kept = KEPT[at]
    fresh = fitted(kept._recommender.model, kept._recommender.prompt)  # type: ignore[arg-type]
    for request in [
        *asked,
        *(each.replace(replicate=each.replicate + 1) for each in asked),
    ]:
        call, other = kept.call(request, repeat), fresh.call(request, repeat)
        assert call == other
        assert call.key == key_of(call.content)
        assert call.prompt is not None
        said = [[m.role, m.content, *m.images] for m in call.prompt.messages]
        digest = hashlib.sha256(
            json.dumps([7, said, request.replicate]).encode(),
        ).digest()
        assert call.prompt.seed == int.from_bytes(digest[:8], "big") >> 1
        assert call.content["messages"] == [
            [m.role, m.content] for m in call.prompt.messages
        ]


@given(
    asked=st.lists(requests, min_size=1, max_size=4),
    text=st.lists(st.sampled_from(LINES), min_size=1, max_size=5).map("\n".join),
    cut_off=st.booleans(),
)
def test_answers_are_read_as_by_a_recommender_that_keeps_nothing(
    asked: list[Request],
    text: str,
    cut_off: bool,
) -> None:
    answer: Any = {
        "text": text,
        "finish_reason": "length" if cut_off else "stop",
        "model": "m",
    }
    kept = KEPT[0]
    for request in [
        *asked,
        *(each.replace(scale=Scale(0, 9)) for each in asked),
        *asked,
    ]:
        assert kept.read(request, answer) == fitted(Model()).read(request, answer)


def test_an_item_whose_title_changed_is_read_anew() -> None:
    found = []
    for title in ("Heat", "Cold", "Heat"):
        request = Request("1", (), Scale(), (Item("new", title),), 1)
        found.append(KEPT[0].read(request, {"text": "1. Cold"}).items)
    assert found == [("unknown:cold",), ("new",), ("unknown:cold",)]


def test_what_is_kept_is_bounded_and_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recommender, "QUESTIONS", 3)
    kept = fitted(Model())
    asked = [Request(str(n), (), Scale(), (), 1) for n in range(5)]
    questions = [kept._recommender.question(request) for request in asked]
    assert kept._recommender.question(asked[4]) is questions[4]
    assert kept._recommender.question(asked[0]) is not questions[0]
    latest = Latest[str](2)
    for key in "abc":
        latest.put(key, key)
        assert latest.get("a") == "a"
    assert [latest.get(key) for key in "abc"] == ["a", None, "c"]
    for other in (
        copy.copy(latest),
        copy.deepcopy(latest),
        pickle.loads(pickle.dumps(latest)),
    ):
        assert other.get("a") is None  # its key may hold addresses of this process


@given(st.text(), st.lists(st.text(), max_size=2), st.integers(0, 9))
def test_the_seed_of_a_prompt_with_images(
    content: str,
    images: list[str],
    replicate: int,
) -> None:
    messages = (Message("system", "x"), Message("user", content, tuple(images)))
    said = [["system", "x"], ["user", content, *images]]
    digest = hashlib.sha256(json.dumps([3, said, replicate]).encode()).digest()
    assert call_seed(3, messages, replicate) == int.from_bytes(digest[:8], "big") >> 1


@given(
    st.dictionaries(st.sampled_from(["choices", "k", "messages", "model"]), st.text()),
)
def test_what_calls_share_stands_first_in_canonical_json(
    shared: dict[str, str],
) -> None:
    own = {"repeat": False, "replicate": 1, "schema": "s", "seed": 2}
    shared = {"model": "m", **shared}
    assert canonical(shared | own) == f"{canonical(shared)[:-1]},{canonical(own)[1:]}"
