"""A recommender under test with any protocol: its questions, how they are sent, its answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pytest_recsys_mt import abilities
from pytest_recsys_mt.calls.answer import (
    LOST,
    Answer,
    completion_of,
    failure,
    plain_completion,
    plain_recommendation,
    refusing_titles,
    usage_of,
)
from pytest_recsys_mt.calls.call import SCHEMA, Call, Content, Part, canonical, key_of
from pytest_recsys_mt.calls.contract import COMPLETE, RECOMMEND
from pytest_recsys_mt.calls.patience import Patience
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import NotApplicable, RecommenderError
from pytest_recsys_mt.llm.question import Question, call_seed, plain_messages
from pytest_recsys_mt.llm.recommender import LLMRecommender
from pytest_recsys_mt.requests import (
    Aspect,
    Completion,
    Entry,
    Message,
    Promised,
    Prompt,
    Recommendation,
    Recommender,
    Request,
    TextModel,
)
from pytest_recsys_mt.safety.sanitize import one_line

FAILURES = (Exception, SystemExit, BaseExceptionGroup)
"""Errors of users' code that fail only its call: not a Ctrl-C, nor the exceptions by which pytest skips or ends."""

DECLARED = (
    "deterministic", "reads_text", "ignores", "promises", "durable", "live", "waits", "streams", "fingerprint",
)  # fmt: skip
"""What a subject says of itself, and another one around it with it."""

Asked = TypeVar("Asked")


Wavers = Literal["", "seen", "told"]
"""Whether answers to one request differed, and whether a verdict is about this difference."""


class Subject:
    """A recommender under test: the base class of all.

    Attributes:
        name: Its name in reports and in the record.
        deterministic: Whether it declares that it always gives the same answer.
        reads_text: Whether instructions and prompt edits reach it.
        ignores: The parts of a request that it declares not to read; known once it is fitted.
        promises: What it promises beside what all do; see `requests.Promised`.
        durable: Whether its answers may be stored beyond this run.
        live: Whether its answers may change while it is asked; recorded ones cannot.
        waits: Whether asking it takes long beside running a test: a text model, or a recommender that is
            asked over the network.
        streams: Whether each call is a request of its own, which further ones can join at any time.
        fingerprint: Digest that distinguishes its versions; None if it gives none.
        unfit: Why a relation on training data does not apply to it; empty if it does.
        behind: The subject that it asks in turn, whose calls alone count; None if it sends its calls itself.
        wavers: Whether two answers to one request differed in an earlier test, whatever it declares; see `Wavers`.
        wavered: The same for this test: it counts from the next test on.
    """

    deterministic = False
    reads_text = False
    ignores: frozenset[Aspect] = frozenset()
    promises: frozenset[Promised] = frozenset()
    durable = False
    live = True
    waits = False
    streams = False
    fingerprint: str | None = None
    unfit = ""
    behind: Subject | None = None
    wavers: Wavers = ""
    wavered: Wavers = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, training: Dataset, seed: int) -> None:
        """Train, if needed; called once, before the first call."""

    def same_question(self, one: Request, other: Request) -> bool:
        """Whether two requests look the same to the recommender."""
        return one == other

    def messages(self, request: Request) -> Sequence[Message]:
        """What a text model reads for `request`; nothing for other recommenders."""
        return ()

    def call(self, request: Request, repeat: bool) -> Call:
        """The call for `request`; a `repeat` is asked anew although nothing differs."""
        raise NotImplementedError

    def prompt_tokens(self, call: Call) -> int | None:
        """The tokens of a call's prompt, by the recommender's own tokenizer; None without one."""
        return None

    def request_body(self, call: Call) -> dict[str, Any] | None:
        """The request body for a Chat Completions endpoint; None for a model without one."""
        return None

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls; yields (position, answer), those that arrived together in one list.

        Before the answer of a call, `LOST` may come for it any number of times.
        """
        raise NotImplementedError

    def also(self, calls: Sequence[Call]) -> bool:
        """Send these calls too, within the `ask` that is being read, which numbers them on.

        Returns:
            Whether it can.
        """
        return False

    def wind_down(self) -> bool:
        """Start no further call of the current batch.

        Returns:
            Whether it can: calls in flight are then still answered.
        """
        return False

    def in_flight(self) -> Sequence[int]:
        """The positions of the calls that may have been paid for, although `ask` yielded no answer."""
        return ()

    def read(self, request: Request, answer: Answer) -> Recommendation:
        """The answer as a `Recommendation`.

        Raises:
            NotApplicable: If the recommender cannot serve the request.
        """
        if "error" in answer:
            return Recommendation((), error=answer["error"])
        if "not_applicable" in answer:
            raise NotApplicable(answer["not_applicable"])
        seen = frozenset(request.seen)
        return Recommendation(
            items=tuple(answer.get("items", ())),
            entries=tuple(
                # The recommender may have classified its entries only by what the request shows.
                Entry(text, "history" if kind == "candidate" and item in seen else kind, item)
                for text, kind, item in answer.get("entries", ())
            ),
            text=answer.get("text"),
            usage=usage_of(answer),
            how=str(answer.get("how", "")),
            ambiguous=bool(answer.get("ambiguous", False)),
        )


class Wrapped(Subject):
    """A subject around another one, which it is like in everything that it does not say itself.

    Attributes:
        origin: The other one.
    """

    def __init__(self, origin: Subject) -> None:
        super().__init__(origin.name)
        self.origin = origin
        for name in DECLARED:
            setattr(self, name, getattr(origin, name))

    def same_question(self, one: Request, other: Request) -> bool:
        return self.origin.same_question(one, other)

    def messages(self, request: Request) -> Sequence[Message]:
        return self.origin.messages(request)

    def call(self, request: Request, repeat: bool) -> Call:
        return self.origin.call(request, repeat)

    def prompt_tokens(self, call: Call) -> int | None:
        return self.origin.prompt_tokens(call)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        return self.origin.ask(calls)

    def read(self, request: Request, answer: Answer) -> Recommendation:
        return self.origin.read(request, answer)


def subject(
    recommender: object, name: str, prompt: str, fixture: str = "", timeout: float | None = None
) -> Subject:
    """Wrap an object that has either protocol.

    Args:
        recommender: An object with `recommend` or `complete`.
        name: Its name in reports and in the record.
        prompt: The template for text models.
        fixture: The fixture that gave it, if several fixtures may give objects of one name; else empty.
        timeout: Most seconds for one call of a method; None for no limit.

    Raises:
        RecommenderError: If it has neither protocol.
    """
    if isinstance(recommender, LLMRecommender):
        return TextSubject(recommender, name, fixture, timeout)
    if isinstance(recommender, Recommender):
        return RecommenderSubject(recommender, name, fixture, timeout)
    if isinstance(recommender, TextModel):
        return TextSubject(LLMRecommender(recommender, prompt), name, fixture, timeout)
    raise RecommenderError(
        f"{name}: {recommender!r} is not a recommender; it needs a method recommend(requests) that "
        f"returns a Recommendation for each request, or complete(prompts) that returns a "
        f"Completion for each prompt"
    )


def identity_in_key(asked: object, name: str, fixture: str) -> dict[str, Any]:
    """What the answers of `asked` depend on, as far as known, so that no two share an answer.

    Args:
        asked: A recommender, or the text model of one.
        name: Its name in reports.
        fixture: The fixture that gave it; empty for a spec.
    """
    identity = abilities.identity_of(asked)
    if identity is not None:  # omits parts of its spec that do not affect answers
        return dict(identity)
    own = {"fixture": fixture} if fixture else {}
    return {"recommender": name, "fingerprint": abilities.fingerprint_of(asked), **own}


class RecommenderSubject(Subject):
    """A recommender that answers requests."""

    def __init__(
        self, recommender: Recommender, name: str, fixture: str = "", timeout: float | None = None
    ) -> None:
        super().__init__(name)
        self._patience = Patience(timeout)
        self.deterministic = abilities.declares(recommender, "deterministic")
        self.reads_text = abilities.declares(recommender, "reads_text")
        self.promises = abilities.promises_of(recommender)
        self.live = abilities.declares(recommender, "live")
        self.waits = abilities.method_of(recommender, "recommend_each") is not None
        self._recommender = recommender
        self._fixture = fixture
        self._model = Part({})
        if abilities.method_of(recommender, "fit") is None:
            self.unfit = f"{name} has no fit(dataset, seed)"

    def fit(self, training: Dataset, seed: int) -> None:
        fit = abilities.method_of(self._recommender, "fit")
        if fit is not None:
            fit(training.apart(), seed)
        self.ignores = abilities.ignored_by(self._recommender)
        fingerprint = abilities.fingerprint_of(self._recommender)
        self.durable = fingerprint is not None
        self.fingerprint = key_of({"fingerprint": fingerprint}) if self.durable else None
        identity = identity_in_key(self._recommender, self.name, self._fixture)
        identity |= {"fingerprint": fingerprint, "seed": seed}
        if fit is not None:
            identity["training"] = training.digest
        self._model = Part(identity)

    def stand_for(self, fit: str) -> None:
        """Be one of several fits in a plan, which makes none: its calls are told apart by `fit`."""
        self._model = Part(
            {**identity_in_key(self._recommender, self.name, self._fixture), "fit": fit}
        )

    def same_question(self, one: Request, other: Request) -> bool:
        same = abilities.method_of(self._recommender, "same_question")
        return one == other or (same is not None and bool(same(one, other)))

    def call(self, request: Request, repeat: bool) -> Call:
        content = Content(self._model, request, repeat)
        return Call(key_of(content), content, request)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls as one batch; if that fails, one by one, so that each fails alone.

        A recommender with a `recommend_each` does both itself, and yields answers as they arrive.
        """
        requests = [call.request for call in calls if call.request is not None]
        each = abilities.method_of(self._recommender, "recommend_each")
        if each is None:
            return _together_or_apart(self._recommend, requests)

        def plain(place: int, answer: Recommendation | NotApplicable) -> Answer:
            if isinstance(answer, NotApplicable):
                return failure(answer)
            return refusing_titles(plain_recommendation(answer), requests[place])

        return _as_they_arrive(each, requests, plain)

    def _recommend(self, requests: Sequence[Request]) -> list[Answer]:
        answers = self._patience.call(self._recommender.recommend, requests)
        held = map(plain_recommendation, RECOMMEND.held(answers, len(requests)))
        return [*map(refusing_titles, held, requests)]


class TextSubject(Subject):
    """A text model: a prompt asks it, and a parser reads its answers."""

    reads_text = True
    waits = True

    def __init__(
        self,
        recommender: LLMRecommender,
        name: str,
        fixture: str = "",
        timeout: float | None = None,
    ) -> None:
        super().__init__(name)
        self._patience = Patience(timeout)
        self.deterministic = recommender.deterministic
        self.model = model = recommender.model
        self.promises = abilities.promises_of(model)
        self.streams = abilities.method_of(model, "also") is not None
        self.unfit = f"{name} answers from a prompt, and is not fitted to data"
        self._recommender = recommender
        self._waiting: set[int] = set()
        self._last = 0
        self._seed = 0
        self._identity = identity_in_key(model, name, fixture)
        known = abilities.identity_of(model) is not None
        self.durable = known or self._identity["fingerprint"] is not None
        self.fingerprint = key_of(self._identity) if self.durable else None

    def fit(self, training: Dataset, seed: int) -> None:
        self._seed = seed
        self._recommender.fit(training, seed)
        self.ignores = abilities.ignored_by(self.model)

    def same_question(self, one: Request, other: Request) -> bool:
        return one == other or (one.k == other.k and self.messages(one) == self.messages(other))

    def messages(self, request: Request) -> Sequence[Message]:
        return self._recommender.question(request).unseeded.messages

    def call(self, request: Request, repeat: bool) -> Call:
        question = self._recommender.question(request)
        prompt = question.prompt(self._seed, request.replicate)
        content = self._content(prompt, question.messages, request.replicate, repeat)
        return Call(_key_of(question, content), content, request, prompt)

    def prompt_call(self, prompt: Prompt, replicate: int) -> Call:
        """The call for a test's own prompt; its seed follows from the run's seed and the call."""
        seeded = replace(prompt, seed=call_seed(self._seed, prompt.messages, replicate))
        content = self._content(seeded, plain_messages(seeded.messages), replicate, repeat=False)
        return Call(key_of(content), content, None, seeded)

    def _content(
        self, prompt: Prompt, messages: list[list[str]], replicate: int, repeat: bool
    ) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "model": self._identity,
            "messages": messages,
            "seed": prompt.seed,
            "replicate": replicate,
            "repeat": repeat,
            **({} if prompt.k is None else {"k": prompt.k}),
            **({"choices": list(prompt.choices)} if prompt.choices else {}),
            **({"json_schema": dict(prompt.schema)} if prompt.schema is not None else {}),
        }

    def prompt_tokens(self, call: Call) -> int | None:
        count = abilities.method_of(self.model, "prompt_tokens")
        if count is None or call.prompt is None:
            return None
        return int(count(call.prompt))

    def request_body(self, call: Call) -> dict[str, Any] | None:
        body = abilities.method_of(self.model, "body")
        return None if body is None or call.prompt is None else dict(body(call.prompt))

    def wind_down(self) -> bool:
        wind_down = abilities.method_of(self.model, "wind_down")
        return wind_down is not None and bool(wind_down())

    def in_flight(self) -> Sequence[int]:
        in_flight = abilities.method_of(self.model, "in_flight")
        return () if in_flight is None else in_flight()

    def also(self, calls: Sequence[Call]) -> bool:
        also = abilities.method_of(self.model, "also")
        if also is None:
            return False
        # Before the model hears of them: their answers may arrive at once.
        further = range(self._last, self._last + len(calls))
        self._waiting.update(further)
        if not also([call.prompt for call in calls if call.prompt is not None]):
            self._waiting.difference_update(further)
            return False
        self._last = further.stop
        return True

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        prompts = [call.prompt for call in calls if call.prompt is not None]
        completions = abilities.method_of(self.model, "complete_each")
        if completions is None:
            return _together_or_apart(self._complete, prompts)
        self._waiting = set(range(len(calls)))
        self._last = len(calls)
        return _as_they_arrive(completions, prompts, _plain, self._waiting)

    def _complete(self, prompts: Sequence[Prompt]) -> list[Answer]:
        completions = self._patience.call(self.model.complete, prompts)
        return [*map(plain_completion, COMPLETE.held(completions, len(prompts)))]

    def read(self, request: Request, answer: Answer) -> Recommendation:
        if "not_applicable" in answer:
            raise NotApplicable(answer["not_applicable"])
        if "items" in answer:  # made up for a plan
            return Recommendation(tuple(answer["items"]))
        read = self._recommender.read(request, completion_of(answer))
        version = _version(answer.get("model"), answer.get("system_fingerprint"))
        return replace(read, version=version)


@lru_cache(maxsize=256)
def _version(*said: str | None) -> str | None:
    return " ".join(one_line(part) for part in said if part) or None


_OF_ONE_CALL = ("repeat", "replicate", "schema", "seed")
"""What differs between the calls of one question; in canonical JSON it stands behind the rest."""


def _key_of(question: Question, content: Mapping[str, Any]) -> str:
    """As `key_of`, for a call of `question`; what its calls share is hashed once."""
    begun = question.begun.get("key")
    if begun is None:
        shared = {name: value for name, value in content.items() if name not in _OF_ONE_CALL}
        begun = hashlib.sha256(canonical(shared)[:-1].encode())
        question.begun["key"] = begun
    key = begun.copy()
    key.update(f",{canonical({name: content[name] for name in _OF_ONE_CALL})[1:]}".encode())
    return key.hexdigest()


def _plain(_: int, completion: Completion | None) -> Answer:
    return LOST if completion is None else plain_completion(completion)


def _as_they_arrive(
    ask: Callable[[Sequence[Asked]], Iterator[list[tuple[int, Any]]]],
    asked: Sequence[Asked],
    plain: Callable[[int, Any], Answer],
    waiting: set[int] | None = None,
) -> Iterator[list[tuple[int, Answer]]]:
    """The answers as they arrive; an error fails those that have not."""
    waiting = set(range(len(asked))) if waiting is None else waiting
    try:
        for arrived in ask(asked):
            waiting.difference_update(place for place, each in arrived if each is not None)
            yield [(place, plain(place, each)) for place, each in arrived]
    except FAILURES as error:
        failed = failure(error)
        if isinstance(error, RecommenderError):  # nothing was sent
            failed["usage"] = [0, 0]
        yield [(place, failed) for place in sorted(waiting)]


def _together_or_apart(
    ask: Callable[[Sequence[Asked]], list[Answer]], asked: Sequence[Asked]
) -> Iterator[list[tuple[int, Answer]]]:
    """Ask all as one batch; if that fails, one by one, so that each fails alone."""
    answers: list[Answer] | None
    try:
        answers = ask(asked)
    except FAILURES as error:
        answers = [failure(error)] if len(asked) == 1 else None
    if answers is not None:
        yield list(enumerate(answers))
        return
    for position, one in enumerate(asked):
        for ((_, answer),) in _together_or_apart(ask, [one]):
            yield [(position, answer)]
