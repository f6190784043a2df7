from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from pytest_recsys_mt import NotApplicable
from pytest_recsys_mt.requests import Completion, Prompt, Usage
from pytest_recsys_mt.suites.lrworld import Question, ask


class Scripted:
    """Answers in turn, and keeps the prompts."""

    def __init__(self, *answers: str | None, scores_choices: bool = False) -> None:
        self.scores_choices = scores_choices
        self.prompts: list[Prompt] = []
        self._answers = answers

    def complete(self, *prompts: Prompt, replicate: int = 0) -> list[Completion]:
        self.prompts += prompts
        return [
            Completion(None, error="away")
            if text is None
            else Completion(text, Usage(100, 2))
            for text, _ in zip(self._answers, prompts, strict=True)
        ]


def questions(count: int, domain: str = "movie") -> list[Question]:
    return [
        Question(
            f"genre-{number}",
            "genre",
            "knowledgeability",
            "<entity, attribute>",
            domain,
            {"history": ("Heat (1995)",)},
            tuple(f"genre {number}{letter}" for letter in "abcd"),
            number % 4,
        )
        for number in range(count)
    ]


def test_answers_are_read_counted_and_kept_apart_from_failed_calls() -> None:
    replies = ask(Scripted("A", "(B)", "I do not know", None, "A"), questions(5))
    choices = replies.choices
    assert choices.chosen == (0, 1, None, 0)
    assert choices.said == ("genre 0a", "genre 1b", None, "genre 4a")
    assert choices.hits == (True, True, False, True)
    assert choices.failed == ("genre-3",)
    assert choices.missed == 0.25
    figures = replies.figures
    assert figures["answered_by"] == "generation"
    assert figures["missed_rate"] == 0.25
    assert (figures["prompt_tokens"], figures["completion_tokens"]) == (400, 8)
    assert figures["right_answers_by_place"] == "2 1 1 0"
    assert figures["chosen_by_place"] == "2 1 0 0"
    assert figures["chance"] == 0.25


def test_seconds_are_those_of_the_answers_and_unknown_if_one_is() -> None:
    told = (
        Completion("A", seconds=1.5),
        Completion("B", seconds=0.25),
        Completion(None),
    )
    replies = dataclasses.replace(
        ask(Scripted("A", "B", None), questions(3)),
        completions=told,
    )
    assert replies.figures["seconds"] == 1.75
    assert [answer["seconds"] for answer in replies.answers] == [1.5, 0.25]
    assert replies.figures["prompt_tokens"] is None  # these have no usage
    unknown = dataclasses.replace(replies, completions=(Completion("A"), *told[1:]))
    assert unknown.figures["seconds"] is None


def test_the_report_says_whether_choices_were_scored() -> None:
    model = Scripted("A)", "B)", scores_choices=True)
    assert ask(model, questions(2)).figures["answered_by"] == "choice scoring"
    assert model.prompts[0].choices == ("A)", "B)", "C)", "D)")
    model = Scripted("so\nAnswer: A", "Answer: C", scores_choices=True)
    thought = ask(model, questions(2), think=True, label="chain_of_thought")
    assert thought.figures["answered_by"] == "generation"
    assert thought.choices.chosen == (0, 2)
    assert thought.choices.label == "chain_of_thought"
    assert model.prompts[0].choices == ()


@pytest.mark.parametrize("shots", range(1, 6))
def test_examples_come_from_the_other_questions(shots: int) -> None:
    model = Scripted(*["A"] * 8)
    ask(model, questions(8), shots=shots)
    for number, prompt in enumerate(model.prompts):
        text = prompt.messages[0].content
        assert text.count("The right answer was:") == shots
        assert f"The right answer was: genre {number}" not in text
    again = Scripted(*["A"] * 8)
    ask(again, questions(8), shots=shots)
    assert again.prompts == model.prompts
    with pytest.raises(NotApplicable, match="examples are wanted"):
        ask(Scripted(*["A"] * 3), questions(3), shots=5)


def test_images_that_are_not_there_are_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="no image"):
        ask(Scripted("A"), questions(1), image=True)


def llara_of(answers: Sequence[str]) -> dict[str, float | None]:
    return ask(Scripted(*answers), questions(len(answers), "artist")).llara


def test_llaras_figures_stand_beside_ours() -> None:
    found = llara_of(["Genre 0A", "genre 1a or genre 1b", "none", "genre 3a"])
    assert found == {
        "valid_ratio": 0.5,
        "hit@1_of_valid": 0.5,
        "valid_ratio_x_hit@1": 0.25,
    }
    assert llara_of(["none"])["hit@1_of_valid"] is None
