"""What a run knows of its answers comes back as it was."""

import json
import tracemalloc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.calls import Known

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
)
ANSWERS = st.dictionaries(
    st.sampled_from(["text", "usage", "items", "entries", "error", "model", "asked"]),
    PLAIN | st.lists(PLAIN | st.lists(PLAIN, max_size=2), max_size=3),
    min_size=1,
)


@given(st.lists(ANSWERS))
def test_answers_come_back_as_they_were(answers: list[Any]) -> None:
    known = Known()
    for number, answer in enumerate(answers):
        known[str(number)] = answer
    for number, answer in enumerate(answers):
        found = known.get(str(number))
        assert repr(found) == repr(answer)  # 1, 1.0 and True are three answers
        assert str(number) in known
    assert known.get("another") is None


def test_a_returned_answer_is_the_callers_own() -> None:
    known = Known()
    known["a"] = known["b"] = {"text": "1. Heat", "usage": [1, 2]}
    for _ in range(2):
        answer: Any = known.get("a")
        assert answer == known.get("b") == {"text": "1. Heat", "usage": [1, 2]}
        answer["text"] = "changed"
        answer["usage"].append(3)


ANSWER = {
    "asked": 1795448942.5, "finish_reason": "stop", "model": "gpt-4o", "run": "9" * 32,
    "system_fingerprint": None, "text": "", "usage": [640, 80],
}  # fmt: skip


def test_an_answer_takes_little_beside_its_text_and_its_key() -> None:
    tracemalloc.start()
    try:
        known = Known()
        for number in range(10_000):
            text = json.dumps(ANSWER | {"text": f"{number} " + "x" * 200})
            known[f"{number:064}"] = json.loads(text)
        assert tracemalloc.get_traced_memory()[0] < 10_000 * 640
    finally:
        tracemalloc.stop()
