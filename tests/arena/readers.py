"""Text models that judge by the number of ratings of the
embedded films, whatever form is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property

from pytest_recsys_mt import Completion, Prompt
from pytest_recsys_mt.datasets import load
from tests.support.suites_arena import SCORES


class Reader:
    """Writes one line an aspect."""

    fingerprint = "reader"
    deterministic = True

    @cached_property
    def shares(self) -> dict[str, float]:
        dataset = load("mini")
        most = max(dataset.popularity.values())
        return {
            dataset.items[item].label: n / most
            for item, n in dataset.popularity.items()
        }

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(self.answer(prompt)) for prompt in prompts]

    def answer(self, prompt: Prompt) -> str:
        text = prompt.messages[-1].content
        if "Describe the user" in text:
            return f"You are {re.search(r'age: (.+)', text)[1]} years old."  # type: ignore[index]
        return self.written(self.said(text), self.names(text))

    def said(self, text: str) -> str:
        lists = re.findall(r"(?:List [AB][^\n]*|The list):\n((?:\d+\. .+\n?)+)", text)
        worth = [round(sum(map(self.worth, each.splitlines())), 9) for each in lists]
        if len(worth) == 1:
            return f"{worth[0] / len(lists[0].splitlines()):.1f}"
        return "tie" if worth[0] == worth[1] else "A" if worth[0] > worth[1] else "B"

    def worth(self, line: str) -> float:
        return self.shares.get(line.partition(". ")[2].partition(" [")[0], 0.0)

    def names(self, text: str) -> list[str]:
        return [*re.findall(r"^- ([a-z ]+): [A-Z]", text, re.MULTILINE), "overall"]

    def written(self, said: str, names: Sequence[str]) -> str:
        return "I thought about it.\n\n" + "\n".join(
            f"**{name}**: {said}" for name in names
        )


class Chooses(Reader):
    """Scores the choices, and so answers with one of them."""

    fingerprint = "chooses"
    scores_choices = True

    def answer(self, prompt: Prompt) -> str:
        said = self.said(prompt.messages[-1].content)
        assert said in prompt.choices
        assert prompt.choices in (("A", "B", "tie"), SCORES)
        return said


class FillsTheSchema(Reader):
    """Takes a JSON schema and fills in its fields."""

    fingerprint = "schema"
    takes_schema = True

    def answer(self, prompt: Prompt) -> str:
        assert prompt.schema is not None
        assert "JSON" in prompt.messages[-1].content
        said = self.said(prompt.messages[-1].content)
        fields = prompt.schema["properties"].items()
        return json.dumps(
            {
                name: {"reason": "It is so.", "winner": said}
                if kind["type"] == "object"
                else float(said)
                for name, kind in fields
            },
        )


class Rambles(Reader):
    """Never comes to the point."""

    fingerprint = "rambles"

    def written(self, said: str, names: Sequence[str]) -> str:
        return "Some would say that A wins, others that B wins. Both lists have their merits."
