"""The requests behind an example, as plain data."""

import json
from typing import Any, cast

from pytest_recsys_mt import Item, Rating, Recommendation, Request, Scale, Verdict
from pytest_recsys_mt.requests import Entry, Message
from pytest_recsys_mt.verdict.answers import Context
from tests.support.oracles_judging import Shown
from tests.support.relations import AddSpaces
from tests.support.report import (
    MOST_CHARACTERS,
    asked_of,
    changes,
    plain_requests,
    row_of,
)
from tests.support.verdict import Example, Status

HEAT = Item("i1", "Heat", 1995, {"genres": ("Crime",)})
ALIEN = Item("i2", "Alien", 1979)
REQUEST = Request(
    "u1",
    (Rating(HEAT, 4.0, 7),),
    Scale(),
    (ALIEN, HEAT),
    1,
    attributes={"age": 61},
)


def example(followup: Request | None = None, **told: Any) -> Example:
    def shown(request: Request) -> Shown:
        answer = Recommendation(("i2",), told.get("entries", ()), told.get("text"))
        context = Context(
            items={"i1": HEAT, "i2": ALIEN},
            messages=lambda request: told.get("messages", ()),
        )
        return Shown(request, answer, context)

    return Example(
        "u1", ("Alien (1979)",), ("Alien (1979)",), 0.5,
        source_asked=shown(REQUEST), followup_asked=None if followup is None else shown(followup),
    )  # fmt: skip


def test_both_sides_have_all_parts_of_a_request_as_plain_data() -> None:
    spaced = REQUEST.replace(edits=(AddSpaces(0.1, 3),), candidates=None, seen=("i9",))
    found: Any = asked_of(example(spaced))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["source"] == {
        "user": "u1",
        "history": [
            {"item": "i1", "title": "Heat (1995)", "rating": 4.0, "timestamp": 7},
        ],
        "scale": [1.0, 5.0],
        "candidates": [
            {"item": "i2", "title": "Alien (1979)"},
            {"item": "i1", "title": "Heat (1995)"},
        ],
        "seen": [],
        "k": 1,
        "instruction": "",
        "edits": [],
        "attributes": {"age": "61"},
        "answer": ["Alien (1979)"],
        "kinds": [],
    }
    assert found["followup"]["edits"] == ["AddSpaces(rate=0.1, seed=3)"]
    assert found["followup"]["candidates"] is None


def test_a_verdict_on_one_side_has_only_that() -> None:
    assert asked_of(example())["followup"] is None


def test_a_text_model_comes_with_its_prompt_its_text_and_how_each_line_was_read() -> (
    None
):
    messages = (
        Message("system", "Be brief."),
        Message("user", "Films?", ("data:image/png;A",)),
    )
    entries = (
        Entry("alien", "candidate", "i2"),
        Entry("Heta", "unknown", "unknown:heta"),
    )
    found: Any = asked_of(
        example(messages=messages, text="alien\nHeta", entries=entries),
    )
    source = found["source"]
    assert source["prompt"][0] == {"role": "system", "content": "Be brief."}
    assert source["prompt"][1]["content"] == "Films?"
    (image,) = source["prompt"][1]["images"]
    assert len(image) == 8
    assert source["text"] == "alien\nHeta"
    assert source["entries"] == [
        {"text": "alien", "kind": "candidate", "title": "Alien (1979)"},
        {"text": "Heta", "kind": "unknown", "title": None},
    ]


def test_endless_texts_are_cut_and_say_so() -> None:
    found: Any = asked_of(
        example(messages=(Message("user", "x" * 30_000),), text="y" * 30_000),
    )
    for text in (found["source"]["text"], found["source"]["prompt"][0]["content"]):
        assert len(text) < MOST_CHARACTERS + 40
        assert text.endswith("\n… 10,000 more characters")


def test_only_facts_of_items_that_differ_are_told() -> None:
    other = Item("i1", "Heat", 1995, {"genres": ("Comedy",)})
    one, two = plain_requests(REQUEST, REQUEST.replace(candidates=(ALIEN, other)))
    (change,) = changes(one, two)
    assert change.lines[-2:] == (
        ("-", "Heat (1995) {genres: ('Crime',)}"),
        ("+", "Heat (1995) {genres: ('Comedy',)}"),
    )


def test_a_rating_that_json_cannot_hold_is_named() -> None:
    odd = tuple(Rating(ALIEN, float(value)) for value in ("nan", "inf", "4"))
    one, two = plain_requests(REQUEST, REQUEST.replace(history=odd))
    assert [each["rating"] for each in cast("Any", two["history"])] == [
        "nan",
        "inf",
        4.0,
    ]
    assert json.loads(json.dumps(two, allow_nan=False)) == two
    (change,) = changes(one, two)
    assert any("nan" in line for _, line in change.lines)


def examples_of(status: Status) -> list[Any]:
    verdict = Verdict(status, "same_ranking:rbo", "x", examples=(example(REQUEST),) * 5)
    row = row_of(verdict, nodeid="t", suite="s", model="m", expected="holds")
    return list(row["examples"])


def test_a_row_that_holds_has_none_and_any_other_has_three() -> None:
    assert not any("asked" in each for each in examples_of("holds"))
    for status in ("violated", "inconclusive", "error"):
        assert ["asked" in each for each in examples_of(status)] == [True] * 3 + [
            False,
        ] * 2


def test_what_stands_in_a_request_is_safe_to_print() -> None:
    evil = Item("i1", "\x1b[31mHeat\x07", 1995)
    verdict = Verdict(
        "violated",
        "o",
        "x",
        examples=(example(REQUEST.replace(candidates=(evil,))),),
    )
    row: Any = row_of(verdict, nodeid="t", suite="s", model="m", expected="holds")
    assert "\\u001b" not in json.dumps(row)
