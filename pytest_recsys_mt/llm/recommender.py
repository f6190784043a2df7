"""A text model as a recommender: with a prompt template and the answer parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_recsys_mt.llm.prompts import as_json, template
from pytest_recsys_mt.llm.question import Latest, Question
from pytest_recsys_mt.llm.reading.known_films import KnownFilms
from pytest_recsys_mt.llm.reading.parser import read, scope_of
from pytest_recsys_mt.llm.reading.result import Reading
from pytest_recsys_mt.llm.reading.titles import Scope, TitleIndex
from pytest_recsys_mt.requests import (
    Completion,
    Item,
    Prompt,
    Recommendation,
    Request,
    TextModel,
    is_cut_off,
)
from pytest_recsys_mt.requests.abilities import declares
from pytest_recsys_mt.requests.chat_settings import system_of, with_system
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.sanitize import one_line, without_controls

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset


QUESTIONS = 2**14
"""Questions that are kept, about 4 kB each: those of the
latest relations for some thousand users.
"""

ANSWERS = 2**13
"""Answers whose readings are kept, about 2 kB each."""

SCOPES = 2**11
"""Indexes of the titles of one request that are kept
for its replicates, about 10 kB each.
"""


class LLMRecommender:
    """Sends prompts to a text model and reads its answers.

    `render` and `read` are the two halves of `recommend`, so that raw completions can
    be stored and read again by a better parser. A model with a true ``scores_choices``
    gets the candidates of a request as the prompt's choices; one with a true
    ``lists_as_json`` is asked for its list as JSON.

    Args:
        model: The model that completes the prompts.
        prompt: A built-in template (`pytest_recsys_mt.llm.prompts.NAMES`) or the path
            of one.
    """

    reads_text = True

    def __init__(self, model: TextModel, prompt: str = "person") -> None:
        self.model = model
        self.prompt = prompt
        self.deterministic = declares(model, "deterministic")
        lists_as_json = declares(model, "lists_as_json")
        self._template = replace(template(prompt), lists_as_json=lists_as_json)
        self._questions = Latest[Question](QUESTIONS)
        # Data that are found by the addresses of items are kept with them.
        self._read = Latest[tuple[Reading, tuple[Item, ...]]](ANSWERS)
        self._scopes = Latest[tuple[Scope, tuple[Item, ...]]](SCOPES)
        self._index: TitleIndex | None = None
        self._known = KnownFilms(())
        self._newest: int | None = None
        self._seed = 0

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn the titles of the catalogue; interactions are not used."""
        self._questions.clear()  # they name the newest year
        self._read.clear()
        self._scopes.clear()
        self._index = TitleIndex(dataset.items.values())
        self._known = KnownFilms(dataset.items.values())
        years = (item.year for item in dataset.items.values() if item.year is not None)
        self._newest = max(years, default=None)
        self._template = replace(
            self._template,
            thing=dataset.thing or "item",
            data=dataset.name,
        )
        self._seed = seed

    def render(self, request: Request, seed: int | None = None) -> Prompt:
        """The prompt of one request, by default for the seed given to `fit`."""
        seed = self._seed if seed is None else seed
        return self.question(request).prompt(seed, request.replicate)

    def question(self, request: Request) -> Question:
        """The question of the model for `request`, rendered once for all its replicates
        and comparisons.

        A request is known by its parts, which `Request.replace` keeps.
        """
        parts = (request.history, request.candidates, request.edits, request.attributes)
        key = (
            *map(id, (*parts, request.scale, request.seen)),
            request.user,
            request.k,
            request.instruction,
        )
        question = self._questions.get(key)
        if question is None:
            question = self._question(request)
            if request.fixed:
                self._questions.put(key, question)
        return question

    def _question(self, request: Request) -> Question:
        messages, shown = self._template.written(request, self._newest)
        prompt = with_system(Prompt(messages, k=request.k), system_of(self.model))
        if self._template.lists_as_json:
            prompt = as_json(prompt, self._allowed(request, shown))
        if declares(self.model, "scores_choices"):
            prompt = replace(prompt, choices=_choices(request, shown))
        return Question(request, prompt, shown)

    def _allowed(self, request: Request, shown: Sequence[Sequence[str]]) -> list[str]:
        """The titles that the schema of an answer allows, as the
        prompt shows them; none allows any.
        """
        if not declares(self.model, "lists_offered"):
            return []
        offered = request.candidates or ()
        names = shown or [()] * len(offered)
        own = [
            next(iter(each), item.label)
            for item, each in zip(offered, names, strict=True)
        ]
        return list(dict.fromkeys(own))

    def read(self, request: Request, completion: Completion) -> Recommendation:
        """The recommendations in a completion: the first k entries that name something.

        Repeats count as entries. A failed completion is an error; an answer that names
        nothing (a refusal, an empty text) is an empty list.
        """
        if self._index is None:
            raise RecommenderError(
                f"the recommender on {self.model!r} knows no titles yet; call fit(dataset, seed)",
            )
        error = completion.error
        text = None if completion.text is None else without_controls(completion.text)
        if error is None and text is None:
            error = "the model gave no text"
        if error is not None or text is None:
            return Recommendation((), text=text, usage=completion.usage, error=error)
        truncated = is_cut_off(completion.finish_reason)
        reading = self._reading(text, request, self._index, truncated)
        return reading.recommendation(request.k, text, completion.usage)

    def _reading(
        self,
        text: str,
        request: Request,
        index: TitleIndex,
        truncated: bool,
    ) -> Reading:
        shown = self.question(request).shown if request.edits else ()
        items = (
            *(rating.item for rating in request.history),
            *(request.candidates or ()),
        )
        offered = None if request.candidates is None else len(request.candidates)
        known = (offered, shown, *map(id, items))
        key = (text, truncated, request.seen, request.k, known)
        found = self._read.get(key)
        if found is None:
            scope = self._scopes.get(known)
            if scope is None:
                scope = self._scopes.put(
                    known,
                    (scope_of(request, index, shown), items),
                )
            reading = read(
                text,
                request,
                index,
                truncated=truncated,
                exists=self._known.hold,
                scope=scope[0],
                first=self._template.first,
            )
            found = self._read.put(key, (reading, items))
        return found[0]

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """Ask the model all requests in one batch and read its answers."""
        completions = self.model.complete(
            [self.render(request) for request in requests],
        )
        return [
            self.read(request, completion)
            for request, completion in zip(requests, completions, strict=True)
        ]


def _choices(request: Request, shown: Sequence[Sequence[str]]) -> tuple[str, ...]:
    plain = [one_line(item.label) for item in request.candidates or ()]
    names = [names[0].strip() for names in shown] or plain
    return tuple(
        dict.fromkeys(name or own for name, own in zip(names, plain, strict=True)),
    )
