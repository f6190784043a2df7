"""A language model as judge."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pytest_recsys_mt.calls.texts import Texts
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.suites.arena import paper_words
from pytest_recsys_mt.suites.arena.judge_prompts import (
    Form,
    Question,
    choice_prompt,
    profile_prompt,
    whole_prompt,
)
from pytest_recsys_mt.suites.arena.judgement import (
    read_appraisal,
    read_conclusion,
    read_judgement,
)
from pytest_recsys_mt.suites.arena.judging import (
    OVERALL,
    Appraisal,
    Aspect,
    Comparison,
    Judgement,
    Showing,
)

Answer = TypeVar("Answer")


class LanguageJudge:
    """Asks a text model which of two lists is better, and how good one is.

    A model that writes is asked once per comparison, for all aspects and overall. A
    model that answers by choosing (``scores_choices``) is asked once for each of them.
    All calls use the cache, the limits and the counts of the run.

    Args:
        texts: The model that judges.
        profiler: A model that describes each user, once, from history and attributes;
            without one the judge reads the attributes themselves.
    """

    def __init__(self, texts: Texts, profiler: Texts | None = None) -> None:
        self._texts = texts
        self._profiler = profiler
        self._form: Form = "json" if texts.takes_schema else "lines"
        self.name = texts.name
        self.apart = texts.scores_choices
        self.deterministic = texts.deterministic and (
            profiler is None or profiler.deterministic
        )

    def judge(self, comparisons: Sequence[Comparison], /) -> list[Judgement]:
        """The judgements, one per comparison, in their order.

        Raises:
            LimitReachedError: If a limit of the run is reached.
            RecommenderError: If a user could not be described.
        """
        concludes = paper_words.in_use() and not self._texts.scores_choices
        return self._ask(
            comparisons,
            read_conclusion if concludes else read_judgement,
            lambda error: Judgement(None, error=error),
        )

    def rate(self, showings: Sequence[Showing], /) -> list[Appraisal]:
        """The scores, one appraisal per list, in their order.

        Raises:
            LimitReachedError: If a limit of the run is reached.
            RecommenderError: If a user could not be described.
        """
        return self._ask(
            showings,
            read_appraisal,
            lambda error: Appraisal(None, error=error),
        )

    def __repr__(self) -> str:
        return f"<judge: {self.name}>"

    def _ask(
        self,
        questions: Sequence[Question],
        read: Callable[[str, Sequence[Aspect]], Answer],
        failed: Callable[[str], Answer],
    ) -> list[Answer]:
        profiles = self._profiles([question.request for question in questions])
        prompts = [
            [
                choice_prompt(question, profile, aspect)
                for aspect in (*question.aspects, None)
            ]
            if self._texts.scores_choices
            else [whole_prompt(question, profile, self._form)]
            for question, profile in zip(questions, profiles, strict=True)
        ]
        said: dict[int, Answer] = {}
        for replicate in sorted({question.replicate for question in questions}):
            places = [
                at for at, each in enumerate(questions) if each.replicate == replicate
            ]
            batch = [prompt for at in places for prompt in prompts[at]]
            completions = iter(self._texts.complete(*batch, replicate=replicate))
            for at in places:
                own = [next(completions) for _ in prompts[at]]
                error = next(
                    (each.error for each in own if each.error is not None),
                    None,
                )
                texts = [each.text or "" for each in own]
                if self._texts.scores_choices:
                    names = [
                        *(aspect.name for aspect in questions[at].aspects),
                        OVERALL,
                    ]
                    texts = [
                        f"{name}: {text}"
                        for name, text in zip(names, texts, strict=True)
                    ]
                answer = "\n".join(texts)
                said[at] = (
                    read(answer, questions[at].aspects)
                    if error is None
                    else failed(error)
                )
        return [said[at] for at in range(len(questions))]

    def _profiles(self, requests: Sequence[Request]) -> list[str]:
        if self._profiler is None:
            return [""] * len(requests)
        completions = self._profiler.complete(*map(profile_prompt, requests))
        for request, completion in zip(requests, completions, strict=True):
            if not completion.text:
                raise RecommenderError(
                    f"{self._profiler.name} could not describe user {request.user!r}: "
                    f"{completion.error or 'it wrote nothing'}; leave recsys_profiler out to show "
                    f"the judge what is known of the user itself",
                )
        return [completion.text or "" for completion in completions]
