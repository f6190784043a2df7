"""A text model as a recommender: with a prompt template and the answer parser."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_recsys_mt.abilities import declares
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.llm.prompts import as_json, template
from pytest_recsys_mt.llm.reading.known_films import KnownFilms
from pytest_recsys_mt.llm.reading.parser import parse
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from pytest_recsys_mt.requests import (
    Completion,
    Message,
    Prompt,
    Recommendation,
    Request,
    TextModel,
    is_cut_off,
)
from pytest_recsys_mt.sanitize import one_line, sanitize

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset


class LLMRecommender:
    """Asks a text model and reads its answers.

    `render` and `read` are the two halves of `recommend`, so that raw completions can be stored and
    read again by a better parser.

    Args:
        model: The model that completes the prompts.
        prompt: A built-in template (`pytest_recsys_mt.llm.prompts.NAMES`) or the path of one.

    Attributes:
        deterministic: As the model declares.

    A model with a true ``scores_choices`` gets the candidates of a request as the prompt's choices;
    one with a true ``lists_as_json`` is asked for its list as JSON.
    """

    reads_text = True

    def __init__(self, model: TextModel, prompt: str = "person") -> None:
        self.model = model
        self.prompt = prompt
        self.deterministic = declares(model, "deterministic")
        lists_as_json = declares(model, "lists_as_json")
        self._template = replace(template(prompt), lists_as_json=lists_as_json)
        self._index: TitleIndex | None = None
        self._known = KnownFilms(())
        self._newest: int | None = None
        self._seed = 0

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn the titles of the catalogue; interactions are not used."""
        self._index = TitleIndex(dataset.items.values())
        self._known = KnownFilms(dataset.items.values())
        years = (item.year for item in dataset.items.values() if item.year is not None)
        self._newest = max(years, default=None)
        self._seed = seed

    def render(self, request: Request, seed: int | None = None) -> Prompt:
        """The prompt of one request.

        Args:
            request: The request.
            seed: The seed of the run; by default the one given to `fit`.
        """
        prompt = Prompt(self._template.render(request, self._newest), k=request.k)
        if self._template.lists_as_json:
            prompt = as_json(prompt)
        if declares(self.model, "scores_choices"):
            prompt = replace(prompt, choices=self._choices(request))
        run = self._seed if seed is None else seed
        return replace(prompt, seed=call_seed(run, prompt.messages, request.replicate))

    def read(self, request: Request, completion: Completion) -> Recommendation:
        """The recommendations in a completion: the first k entries that name something.

        A candidate may also be named by its line in the prompt after the request's edits. Repeats
        count as entries. A failed or empty completion is an error; an answer that names nothing (a
        refusal) is an empty list.
        """
        if self._index is None:
            raise RecommenderError(
                f"the recommender on {self.model!r} knows no titles yet; call fit(dataset, seed)"
            )
        error = completion.error
        text = None if completion.text is None else sanitize(completion.text)
        if error is None and not (text and text.strip()):
            error = f"the model gave no text (finish_reason={completion.finish_reason!r})"
        if error is not None or text is None:
            return Recommendation((), text=text, usage=completion.usage, error=error)
        truncated = is_cut_off(completion.finish_reason)
        shown = self._template.shown(request, self._newest)
        entries = parse(
            text, request, self._index, truncated=truncated, shown=shown, exists=self._known.hold
        )
        items = [entry.item for entry in entries if entry.item is not None]
        return Recommendation(tuple(items[: request.k]), entries, text, completion.usage)

    def _choices(self, request: Request) -> tuple[str, ...]:
        """The names of the candidates in the prompt, each once."""
        shown = self._template.shown(request, self._newest)
        plain = [one_line(item.label) for item in request.candidates or ()]
        names = [names[0].strip() for names in shown] or plain
        return tuple(dict.fromkeys(name or own for name, own in zip(names, plain, strict=True)))

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """Ask the model all requests in one batch and read its answers."""
        completions = self.model.complete([self.render(request) for request in requests])
        return [
            self.read(request, completion)
            for request, completion in zip(requests, completions, strict=True)
        ]


def call_seed(seed: int, messages: Sequence[Message], replicate: int) -> int:
    """The seed of one call: 63 bits from only the run's seed, the messages and the replicate."""
    said = [[message.role, message.content, *message.images] for message in messages]
    call = [seed, said, replicate]
    digest = hashlib.sha256(json.dumps(call).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
