"""A text model under test: a prompt asks it, and a parser reads its answers."""

import hashlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pytest_recsys_mt import abilities
from pytest_recsys_mt.calls.answer import LOST, Answer, completion_of, plain_completion
from pytest_recsys_mt.calls.call import SCHEMA, Call, canonical, key_of
from pytest_recsys_mt.calls.contract import COMPLETE
from pytest_recsys_mt.calls.patience import Patience
from pytest_recsys_mt.calls.sending import as_they_arrive, together_or_apart
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.llm.question import Question, call_seed, plain_messages
from pytest_recsys_mt.llm.recommender import LLMRecommender
from pytest_recsys_mt.requests import Completion, Message, Prompt, Recommendation, Request
from pytest_recsys_mt.safety.sanitize import one_line


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
        self.seeded = abilities.declares(model, "seeded")
        self.promises = abilities.promises_of(model)
        self.streams = abilities.method_of(model, "also") is not None
        # A model of one's own may take a schema too, but has no such parameter.
        plain = getattr(model, "answer", "") == "generate"
        self.takes_json = plain and abilities.declares(model, "takes_schema")
        self.unfit = f"{name} answers from a prompt, and is not fitted to data"
        self._recommender = recommender
        self._waiting: set[int] = set()
        self._last = 0
        self._seed = 0
        self._identity = abilities.identity_in_key(model, name, fixture)
        known = abilities.identity_of(model) is not None
        self.durable = known or self._identity["fingerprint"] is not None
        self.fingerprint = key_of(self._identity) if self.durable else None

    def fit(self, training: Dataset, seed: int) -> None:
        self._seed = seed
        self._recommender.fit(training, seed)
        self.ignores = abilities.ignored_by(self.model)
        self.reads_latest = abilities.latest_read_by(self.model)

    def hidden(self, request: Request) -> frozenset[str]:
        return frozenset(request.seen)  # no prompt names them

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
            return _timed(together_or_apart(self._complete, prompts))
        self._waiting = set(range(len(calls)))
        self._last = len(calls)
        return _timed(as_they_arrive(completions, prompts, _plain, self._waiting))

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
    begun = question.begun.get("key")
    if begun is None:
        shared = {name: value for name, value in content.items() if name not in _OF_ONE_CALL}
        begun = hashlib.sha256(canonical(shared)[:-1].encode())
        question.begun["key"] = begun
    key = begun.copy()
    key.update(f",{canonical({name: content[name] for name in _OF_ONE_CALL})[1:]}".encode())
    return key.hexdigest()


def _timed(arrivals: Iterator[list[tuple[int, Answer]]]) -> Iterator[list[tuple[int, Answer]]]:
    began = time.perf_counter()
    for arrived in arrivals:
        share = (time.perf_counter() - began) / max(1, len(arrived))
        for _, answer in arrived:
            if "text" in answer:
                said = answer.get("seconds")
                if not (isinstance(said, int | float) and 0 <= said < math.inf):
                    said = share
                answer["seconds"] = round(said, 6)
        yield arrived
        began = time.perf_counter()


def _plain(_: int, completion: Completion | None) -> Answer:
    return LOST if completion is None else plain_completion(completion)
