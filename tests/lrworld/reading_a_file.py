"""A text model that knows the right answers of a file of
questions, as a run of the suite names it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from pytest_recsys_mt import Completion, Prompt
from pytest_recsys_mt.suites.lrworld import load
from tests.support.suites_lrworld import labels, prompt


class Knowing:
    """Has read the file that the variable LRWORLD_FILE names;
    of what is not in it, it knows nothing.
    """

    deterministic = True
    reads_images = True

    def __init__(self) -> None:
        self._answers = {}
        for question in load(os.environ["LRWORLD_FILE"]):
            mark = (labels(question) or question.options)[question.answer]
            self._answers[prompt(question).messages[0].content] = mark

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(self._answers.get(prompt.messages[0].content, ""))
            for prompt in prompts
        ]
