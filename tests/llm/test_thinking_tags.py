"""Thinking in the text of an answer, in the tags of many models."""

import pytest

from pytest_recsys_mt.requests import Completion
from tests.support.calls import plain_completion
from tests.support.llm_reading import pieces, without_thinking

THOUGHT = "Perhaps these:\n1. The Room (2003)\n2. Cats (2019)\nNo.\n"
ANSWER = "1. Heat (1995)\n2. Alien (1979)"

TAGS = [
    ("<think>", "</think>"),
    ("<Thinking>", "</Thinking>"),
    ("<antThinking>", "</antThinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    ("analysis", "assistantfinal"),
]


@pytest.mark.parametrize(("begin", "end"), TAGS)
def test_what_follows_the_thinking_is_the_answer(begin: str, end: str) -> None:
    for text in (f"{begin}{THOUGHT}{end}{ANSWER}", f"{THOUGHT}{end}\n{ANSWER}"):
        assert "The Room" not in without_thinking(text)
        assert [piece.text for piece in pieces(text)] == [
            piece.text for piece in pieces(ANSWER)
        ]


@pytest.mark.parametrize("begin", [begin for begin, _ in TAGS])
def test_thinking_without_an_end_is_a_failed_call(begin: str) -> None:
    stored = plain_completion(Completion(begin + THOUGHT, finish_reason="length"))
    assert "the model wrote its thinking and no answer" in str(stored.get("error"))
    assert "text" not in stored


@pytest.mark.parametrize(
    "text",
    [
        "1. [Reflection] (2021)",
        "Analysis of your taste:\n1. Heat (1995)",
        "analysis:\n1. Heat (1995)",
        "1. <Heat> (1995)",
        "My final answer as an assistant: Heat",
    ],
)
def test_what_only_resembles_a_tag_stays(text: str) -> None:
    assert without_thinking(text) == text
