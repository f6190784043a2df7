"""A text model under test: it receives a prompt, and a parser reads its answers."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pytest_recsys_mt.calls.answer import (
    LOST,
    Answer,
    as_they_arrive,
    completion_of,
    plain_completion,
    together_or_apart,
)
from pytest_recsys_mt.calls.call import SCHEMA, Call, canonical, key_of
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.timing import timed
from pytest_recsys_mt.calls.users_code import COMPLETE, Patience
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.llm.question import Question, call_seed, plain_messages
from pytest_recsys_mt.llm.recommender import LLMRecommender
from pytest_recsys_mt.requests import (
    Completion,
    Message,
    Prompt,
    Recommendation,
    Request,
    abilities,
)
from pytest_recsys_mt.requests.chat_settings import system_of, with_system
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.safety.sanitize import one_line


class TextSubject(Subject):
    """A text model: it receives a prompt, and a parser reads its answers.

    Args:
        recommender: The model with its prompt template and its parser.
        name: Its name in reports and in the record.
        fixture: The fixture that gave it, if several fixtures may give objects of one
            name; else empty.
        timeout: Most seconds for one call of a method; None for no limit.

    Attributes:
        model: The text model itself.
    """

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
        model = recommender.model
        self.model = model
        self.deterministic = recommender.deterministic
        self.seeded = abilities.declares(model, "seeded")
        self.promises = abilities.promises_of(model)
        self.streams = abilities.method_of(model, "also") is not None
        # A user's own model may take a schema too, but its spec has no parameter for
        # it.
        is_built_in = getattr(model, "answer", "") == "generate"
        self.takes_json = is_built_in and abilities.declares(model, "takes_schema")
        self.unfit = f"{name} answers from a prompt, and is not fitted to data"
        self._recommender = recommender
        self._patience = Patience(timeout)
        self._seed = 0
        # Of the batch in flight: the positions without an answer, and the number of its
        # calls.
        self._unanswered: set[int] = set()
        self._batch_size = 0
        self._identity = abilities.identity_in_key(model, name, fixture)
        has_identity = abilities.identity_of(model) is not None
        self.durable = has_identity or self._identity["fingerprint"] is not None
        self.fingerprint = key_of(self._identity) if self.durable else None

    def fit(self, training: Dataset, seed: int) -> None:
        self._seed = seed
        self._recommender.fit(training, seed)
        self.ignores = abilities.ignored_by(self.model)
        self.reads_latest = abilities.latest_read_by(self.model)

    def hidden(self, request: Request) -> frozenset[str]:
        return frozenset(request.seen)  # no prompt names them

    def same_question(self, one: Request, other: Request) -> bool:
        if one == other:
            return True
        if one.k != other.k:
            return False
        return self.messages(one) == self.messages(other)

    def messages(self, request: Request) -> Sequence[Message]:
        return self._recommender.question(request).unseeded.messages

    def call(self, request: Request, repeat: bool) -> Call:
        question = self._recommender.question(request)
        prompt = question.prompt(self._seed, request.replicate)
        content = self._content(prompt, question.messages, request.replicate, repeat)
        key = _question_key(question, content)
        return Call(key, content, request, prompt)

    def prompt_call(self, prompt: Prompt, replicate: int) -> Call:
        """The call for a test's own prompt; its seed follows
        from the run's seed and the call.
        """
        prompt = with_system(prompt, system_of(self.model))
        seed = call_seed(self._seed, prompt.messages, replicate)
        seeded = replace(prompt, seed=seed)
        messages = plain_messages(seeded.messages)
        content = self._content(seeded, messages, replicate, repeat=False)
        return Call(key_of(content), content, request=None, prompt=seeded)

    def _content(
        self,
        prompt: Prompt,
        messages: list[list[str]],
        replicate: int,
        repeat: bool,
    ) -> dict[str, Any]:
        """All that the answer to a prompt may depend on; what
        the prompt does not set is left out.
        """
        content = {
            "schema": SCHEMA,
            "model": self._identity,
            "messages": messages,
            "seed": prompt.seed,
            "replicate": replicate,
            "repeat": repeat,
        }
        if prompt.k is not None:
            content["k"] = prompt.k
        if prompt.choices:
            content["choices"] = list(prompt.choices)
        if prompt.schema is not None:
            content["json_schema"] = dict(prompt.schema)
        return content

    def prompt_tokens(self, call: Call) -> int | None:
        count = abilities.method_of(self.model, "prompt_tokens")
        if count is None or call.prompt is None:
            return None
        return int(count(call.prompt))

    def request_body(self, call: Call) -> dict[str, Any] | None:
        body = abilities.method_of(self.model, "body")
        if body is None or call.prompt is None:
            return None
        return dict(body(call.prompt))

    def wind_down(self) -> bool:
        wind_down = abilities.method_of(self.model, "wind_down")
        if wind_down is None:
            return False
        return bool(wind_down())

    def in_flight(self) -> Sequence[int]:
        in_flight = abilities.method_of(self.model, "in_flight")
        if in_flight is None:
            return ()
        positions: Sequence[int] = in_flight()
        return positions

    def also(self, calls: Sequence[Call]) -> bool:
        also = abilities.method_of(self.model, "also")
        if also is None:
            return False
        positions = range(self._batch_size, self._batch_size + len(calls))
        # Before they are sent: the first answers may arrive before `also` returns.
        self._unanswered.update(positions)
        if not also(_prompts(calls)):
            self._unanswered.difference_update(positions)
            return False
        self._batch_size = positions.stop
        return True

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        prompts = _prompts(calls)
        complete_each = abilities.method_of(self.model, "complete_each")
        if complete_each is None:
            return timed(together_or_apart(self._complete, prompts))
        self._unanswered = set(range(len(calls)))
        self._batch_size = len(calls)
        return timed(
            as_they_arrive(complete_each, prompts, _plain_or_lost, self._unanswered),
        )

    def _complete(self, prompts: Sequence[Prompt]) -> list[Answer]:
        returned = self._patience.call(self.model.complete, prompts)
        completions = COMPLETE.held(returned, len(prompts))
        return [plain_completion(completion) for completion in completions]

    def read(self, request: Request, answer: Answer) -> Recommendation:
        if "not_applicable" in answer:
            raise NotApplicable(answer["not_applicable"])
        if "items" in answer:  # made up for a plan
            return Recommendation(tuple(answer["items"]))
        read = self._recommender.read(request, completion_of(answer))
        version = _version(answer.get("model"), answer.get("system_fingerprint"))
        return replace(read, version=version)


def _prompts(calls: Sequence[Call]) -> list[Prompt]:
    return [call.prompt for call in calls if call.prompt is not None]


@lru_cache(maxsize=256)
def _version(*names: str | None) -> str | None:
    """The version of a model in one line, of the names that an
    endpoint reports; None if it reports none.
    """
    reported = [one_line(name) for name in names if name]
    return " ".join(reported) or None


_OF_ONE_CALL = ("repeat", "replicate", "schema", "seed")
"""The fields that differ between the calls of one question; in
canonical JSON it stands behind the rest.
"""


def _question_key(question: Question, content: Mapping[str, Any]) -> str:
    """`key_of` of the content, where what all calls of a question share is hashed once.

    The digest of the shared beginning is kept with the question, without the closing
    brace; each call copies it and adds its own fields.
    """
    shared_digest = question.begun.get("key")
    if shared_digest is None:
        shared = {
            name: value for name, value in content.items() if name not in _OF_ONE_CALL
        }
        shared_text = canonical(shared)
        shared_digest = hashlib.sha256(shared_text[:-1].encode())
        question.begun["key"] = shared_digest
    rest_text = canonical({name: content[name] for name in _OF_ONE_CALL})
    digest = shared_digest.copy()
    digest.update(f",{rest_text[1:]}".encode())
    return digest.hexdigest()


def _plain_or_lost(_: int, completion: Completion | None) -> Answer:
    if completion is None:
        return LOST
    return plain_completion(completion)
