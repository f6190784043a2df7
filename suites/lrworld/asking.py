"""Sends questions to a text model and reads its answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from pytest_recsys_mt.requests import Completion, Prompt, is_cut_off
from pytest_recsys_mt.safety.errors import DataError, NotApplicable
from pytest_recsys_mt.suites.lrworld.chosen import llara, read
from pytest_recsys_mt.suites.lrworld.question import Question, digest_of
from pytest_recsys_mt.suites.lrworld.question_texts import examples_for, prompt
from pytest_recsys_mt.verdict.answers import Choices


class Model(Protocol):
    """A model that answers questions: ``recsys.texts``."""

    @property
    def scores_choices(self) -> bool:
        """Whether it answers a prompt with choices by scoring them."""
        ...

    def complete(self, *prompts: Prompt, replicate: int = 0) -> list[Completion]:
        """The completions, one per prompt, in their order."""
        ...


@dataclass(frozen=True)
class Replies:
    """The answers to questions, all with the same number of options."""

    questions: tuple[Question, ...]
    completions: tuple[Completion, ...]
    readings: tuple[
        int | None,
        ...,
    ]  # the place of the option that each chooses, if it chooses one
    how: str  # ``generation`` if it wrote, ``choice scoring`` if it scored the options
    label: str = ""  # what was done to the questions

    @property
    def choices(self) -> Choices:
        """The chosen options, for the oracles."""
        answered = self._answered
        return Choices(
            questions=tuple(question.id for question, _, _ in answered),
            right=tuple(question.answer for question, _, _ in answered),
            chosen=tuple(choice for _, _, choice in answered),
            said=tuple(
                None if choice is None else question.options[choice]
                for question, _, choice in answered
            ),
            options=len(self.questions[0].options) if self.questions else 0,
            failed=tuple(
                question.id
                for question, completion in zip(
                    self.questions,
                    self.completions,
                    strict=True,
                )
                if completion.text is None
            ),
            label=self.label,
            why=next((each.error for each in self.completions if each.error), ""),
            unread=tuple(
                said.text or "" for _, said, choice in answered if choice is None
            ),
            digest=digest_of(self.questions),
        )

    @property
    def figures(self) -> dict[str, Any]:
        """Numbers for the report: how it was answered, what
        was missed, where, at what cost.
        """
        choices = self.choices
        usages = [each.usage for each in self.completions if each.usage is not None]
        places = range(choices.options)
        took = [each.seconds for each in self.completions if each.text is not None]
        return {
            "answered_by": self.how,
            "questions": len(self.questions),
            "chance": 1 / choices.options if choices.options else None,
            "missed_rate": choices.missed if choices.chosen else None,
            "right_answers_by_place": " ".join(
                str(choices.right.count(at)) for at in places
            ),
            "chosen_by_place": " ".join(str(choices.chosen.count(at)) for at in places),
            "prompt_tokens": sum(usage.prompt_tokens for usage in usages) or None,
            "completion_tokens": sum(usage.completion_tokens for usage in usages)
            or None,
            # One after another, however they were asked; None if that of an answer is
            # unknown.
            "seconds": None
            if None in took
            else round(sum(each or 0 for each in took), 3),
        }

    @property
    def answers(self) -> list[dict[str, Any]]:
        """One row a question that was answered, plain JSON, for
        ``details["answers"]`` of a verdict.
        """
        return [
            {
                "question": question.id,
                "digest": digest_of([question]),
                "kind": question.measure,
                "shown": dict(question.shown),
                "options": list(question.options),
                "right": question.answer,
                "chosen": choice,
                "raw": completion.text,
                "tokens": (usage := completion.usage)
                and usage.prompt_tokens + usage.completion_tokens,
                "seconds": completion.seconds,
            }
            for question, completion, choice in self._answered
        ]

    @property
    def _answered(self) -> list[tuple[Question, Completion, int | None]]:
        answered = zip(self.questions, self.completions, self.readings, strict=True)
        return [
            (asked, said, choice)
            for asked, said, choice in answered
            if said.text is not None
        ]

    @property
    def llara(self) -> dict[str, Any]:
        """LLaRA's figures for the same answers: its hit rate
        counts only answers it finds valid.
        """
        found = [
            (llara(said.text or "", question.options), question.answer)
            for question, said, _ in self._answered
        ]
        valid = [choice == right for choice, right in found if choice is not None]
        ratio = len(valid) / len(found) if found else None
        hits = sum(valid) / len(valid) if valid else None
        both = None if ratio is None or hits is None else ratio * hits
        return {
            "valid_ratio": ratio,
            "hit@1_of_valid": hits,
            "valid_ratio_x_hit@1": both,
        }


def ask(
    model: Model,
    questions: Sequence[Question],
    *,
    shots: int = 0,
    think: bool = False,
    image: bool = False,
    seed: int = 0,
    label: str = "",
) -> Replies:
    """Send questions of one kind to a model, all as one batch.

    Args:
        model: The model.
        questions: The questions.
        shots: Examples before each question (few-shot), drawn from the others.
        think: Whether to ask for the reasoning first (chain of thought); the model then
            writes, even if it can score choices.
        image: Whether to show the picture of the latest item too.
        seed: Seed of the examples.
        label: The change of the questions.

    Raises:
        NotApplicable: If images should be shown and the model reads none, or if there
            are too few questions to draw the examples from.
    """
    try:
        prompts = [
            prompt(
                question,
                examples=examples_for(
                    question,
                    questions,
                    shots,
                    Random(f"{seed} {question.id}"),
                ),
                think=think,
                image=image,
            )
            for question in questions
        ]
    except DataError as reason:
        raise NotApplicable(str(reason)) from reason
    completions = model.complete(*prompts)
    return Replies(
        questions=tuple(questions),
        completions=tuple(completions),
        readings=tuple(
            _reading(question, completion, think=think)
            for question, completion in zip(questions, completions, strict=True)
        ),
        how="choice scoring" if model.scores_choices and not think else "generation",
        label=label,
    )


def _reading(question: Question, completion: Completion, *, think: bool) -> int | None:
    """The place of the option that a completion chooses, if it chooses one."""
    if completion.text is None:
        return None
    return read(
        completion.text,
        question,
        think=think,
        cut_off=is_cut_off(completion.finish_reason),
    )
