"""A large record is read into little memory, and says the same."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.records import ASKED, document, example, row
from tests.support.gate import OF_EXAMPLES, OF_ROWS, parsed
from tests.support.safety import (
    Numbers,
    Packer,
    clean,
    names_in_both,
    numbers_of,
    sanitize,
    without_controls,
)

SUSPECT = st.sampled_from(
    ["\x1b[31m", "\r", "\n", "::a", "##[", "--- ", "+", "\u202e", "\ud800"],
)
TEXTS = st.lists(st.text(max_size=3) | SUSPECT, max_size=4).map("".join)
NUMBERS = st.none() | st.booleans() | st.integers() | st.floats()
KEYS = TEXTS | st.sampled_from(["nodeid", "per_user", "examples"])
JSON = st.recursive(
    NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def cleaned_plainly(value: Any) -> Any:
    """A value with every text sanitized alone."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, dict):
        return {
            sanitize(key): without_controls(each)
            if key == "nodeid" and isinstance(each, str)
            else cleaned_plainly(each)
            for key, each in value.items()
        }
    return [*map(cleaned_plainly, value)] if isinstance(value, list) else value


def told(value: Any) -> str:
    """A value as text, which tells 1 from 1.0 and has the order of keys."""
    return json.dumps(value, default=dict)


@given(JSON)
def test_a_text_of_json_says_the_same_in_little_memory(value: Any) -> None:
    text = json.dumps(value)
    assert told(parsed(text)) == text


@given(JSON)
def test_what_is_clean_all_at_once_is_clean_text_by_text(value: Any) -> None:
    read = parsed(json.dumps(value))
    assert told(clean(read)) == told(cleaned_plainly(json.loads(json.dumps(value))))


def test_what_is_clean_is_not_copied() -> None:
    record = document(row(), row(1))
    assert clean(record) is record


@given(
    st.dictionaries(TEXTS, st.floats(allow_nan=False, allow_infinity=False)),
    st.dictionaries(TEXTS, st.floats(allow_nan=False, allow_infinity=False)),
)
def test_packed_numbers_are_those_of_the_mapping(
    one: dict[str, float],
    other: dict[str, float],
) -> None:
    packer = Packer()
    first, second = packer.pack(one), packer.pack(other)
    assert first == one
    assert list(first.items()) == list(one.items())
    assert (first == second) == (one == other)
    assert first.keys() == one.keys()
    both = [name for name in one if name in other]
    assert list(names_in_both(first, second)) == both
    assert list(numbers_of(second, both)) == [other[name] for name in both]
    assert first.get("no such user") is None


@pytest.mark.parametrize(
    "value",
    [1, True, None, "0.5", float("nan"), float("inf"), [0.5]],
)
def test_what_is_no_number_with_a_fraction_stays_for_those_who_check(
    value: object,
) -> None:
    values = {"u1": 0.5, "u2": value}
    assert Packer().pack(values) is values


def test_rows_lose_what_nobody_asks_for_and_nothing_else_does() -> None:
    users = {"examples": 0.1, "shrunk": 0.2, "asked": 0.3}
    made = row(
        examples=[example(asked=ASKED)],
        per_user=users,
        details={"examples": [1]},
    )
    text = json.dumps(document(made, settings={"asked": 1, "examples": 2}))
    brief = parsed(text, (*OF_ROWS, *OF_EXAMPLES))
    (kept,) = brief["results"]
    assert brief["settings"] == {"asked": 1, "examples": 2}
    assert kept == {name: each for name, each in made.items() if name not in OF_ROWS}
    (kept,) = parsed(text, OF_EXAMPLES)["results"]
    assert kept["examples"] == [example()]


def test_a_record_of_many_users_takes_less_memory_than_its_plain_objects() -> None:
    values = {f"user {number}": number / 7 for number in range(2_000)}
    text = json.dumps(document(*(row(number, per_user=values) for number in range(20))))
    held = []
    for read in (json.loads, parsed):
        tracemalloc.start()
        record = read(text)
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert isinstance(record["results"][0]["per_user"], Numbers) == (read is parsed)
    assert held[1] < held[0] / 3
