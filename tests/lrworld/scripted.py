"""A text model that knows all right answers, as a run of the suite names it."""

from __future__ import annotations

import os
import re
import tomllib
import zlib
from collections.abc import Sequence
from pathlib import Path

from pytest_recsys_mt import Completion, NotApplicable, Prompt
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.suites.lrworld import LASTFM, MEASURES, questions_for
from tests.support.suites_lrworld import labels, prompt


class Knowing:
    """Has made the same questions, so it knows what is right."""

    deterministic = True
    reads_images = True

    def __init__(self) -> None:
        dataset = load(os.environ["LRWORLD_DATA"])
        self._answers = {}
        for measure in (*MEASURES, *LASTFM):
            try:
                made = questions_for(
                    measure,
                    dataset,
                    int(os.environ["LRWORLD_COUNT"]),
                    0,
                )
            except NotApplicable:
                continue
            for question in made:
                marks = labels(question)
                right = marks[question.answer] if marks else question.right
                self._answers[prompt(question).messages[0].content] = right

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(self._answers[prompt.messages[0].content]) for prompt in prompts
        ]


class Polyglot(Knowing):
    """Knows as much, and says it in another of the collected forms each time."""

    def __init__(self) -> None:
        super().__init__()
        path = Path(__file__).parent / "answer_forms.toml"
        groups = tomllib.loads(path.read_text(encoding="utf-8"))
        self._forms = [
            form.replace("\\n", "\n")
            for kind, forms in groups.items()
            for form in forms
            if not kind.startswith("unread") and not re.search(r"\{[tdswxy]\}", form)
        ]

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(self._said(str(answer.text), prompt.messages[0].content))
            for answer, prompt in zip(super().complete(prompts), prompts, strict=True)
        ]

    def _said(self, mark: str, text: str) -> str:
        form: str = self._forms[zlib.crc32(text.encode()) % len(self._forms)]
        return form.replace("{m}", mark)


class Forgetful(Knowing):
    """Knows half as much: of every second question it takes the first option."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            answer if number % 2 else Completion(prompt.choices[0])
            for number, (answer, prompt) in enumerate(
                zip(super().complete(prompts), prompts, strict=True),
            )
        ]
