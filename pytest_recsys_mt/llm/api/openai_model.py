"""Chat models behind an OpenAI-compatible endpoint:
OpenAI, vLLM, SGLang, Ollama, llama.cpp.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from pytest_recsys_mt.llm.api import chat_api, chat_request
from pytest_recsys_mt.llm.api.background import BackgroundLoop
from pytest_recsys_mt.llm.api.dialect import Dialect
from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.extra_body import check
from pytest_recsys_mt.llm.api.flight import Arrival, Flight
from pytest_recsys_mt.llm.api.pacing import MAX_WAIT, Pace, pace_rules
from pytest_recsys_mt.llm.api.retries import Earlier, persist
from pytest_recsys_mt.llm.api.thinkers import Effort, room
from pytest_recsys_mt.requests import Completion, Prompt, Usage, specs
from pytest_recsys_mt.requests.chat_settings import FILE, stops_of, with_file
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.llm.api.channel import Channel


@dataclass(eq=False, repr=False)
class OpenAIModel:
    """A text model behind the Chat Completions API, or the Responses API.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, read
    at first use. The key is sent only to that address, over https or on this machine.
    Redirects are not followed. A prompt's `schema` is sent until the endpoint refuses
    it; `notes` are the fields that it refused, one sentence each. With `ahead`, further
    calls are sent before answers are taken; a run without limits sets it. Most servers
    batch the calls of many users, and answers change with the shape of the batch even
    at temperature 0.

    Args:
        model: The model's name at the endpoint.
        temperature: At least 0; None leaves it to the endpoint.
        max_tokens: The most tokens of one answer, with its thinking. None: 16,384 for a
            model that is known to think by its name, or by its `reasoning_effort`;
            1,024 for others.
        top_p: In (0, 1]; None leaves it to the endpoint.
        json: Whether answers must be JSON (``response_format``). The prompt must ask
            for JSON too, which no built-in template does.
        answer: ``json`` asks for recommendations as a list by a JSON schema, and says
            so at the end of the prompt; ``offered`` the same, and the schema allows the
            offered titles alone. Other prompts, such as those of judges, stay the same.
        concurrency: Calls in flight at a time; fewer while the endpoint refuses. None
            starts with 8 and tries up to 64 while answers stay as fast.
        timeout: Seconds of one attempt. None: 300 for a model that is known to think,
            60 for others.
        max_wait: Seconds to wait for an endpoint that is busy or unreachable; 0 asks
            only once. None leaves it to the run.
        reasoning_effort: How long a model thinks; None leaves it to the endpoint.
        api: None: Chat Completions, and Responses for a model or an endpoint that has
            nothing else.
        deterministic: Whether equal prompts always get equal answers, as from a server
            that answers each call alone.
        seeded: Whether a prompt that is sent again with the same ``seed`` always gets
            the same answer.
        system: A system message before each prompt.
        stop: A text that ends an answer, which does not contain it; or several, as a
            JSON list.
        extra_body: Further fields of the request.

    Raises:
        RecommenderError: If an argument is out of range.
    """

    prefix: ClassVar = "openai"
    takes_schema: ClassVar = True
    reads_images: ClassVar = True
    adds_system: ClassVar = True

    model: str
    _: KW_ONLY
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    json: bool = False
    answer: Literal["generate", "json", "offered"] = "generate"
    concurrency: int | None = None
    timeout: float | None = None
    max_wait: float | None = None
    reasoning_effort: Effort | None = None
    api: Literal["chat", "responses"] | None = None
    deterministic: bool = False
    seeded: bool = False
    system: str | None = None
    stop: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        most, longest = room(self.model, self.reasoning_effort)
        self._default_limit = most if self.max_tokens is None else None
        self.max_tokens = most if self.max_tokens is None else self.max_tokens
        self.timeout = self._longest = longest if self.timeout is None else self.timeout
        given = (
            self.temperature,
            self.top_p,
            self.reasoning_effort,
            self.api,
            self.extra_body,
        )
        temperature, top_p, effort, api, extra_body = given
        specs.check(
            self.prefix,
            ("model", self.model, bool(self.model.strip()), "the name of a model"),
            ("temperature", temperature, temperature is None or 0 <= temperature <= 2, "in [0, 2]"),
            ("max_tokens", self.max_tokens, self.max_tokens >= 1, "at least 1"),
            ("top_p", top_p, top_p is None or 0 < top_p <= 1, "in (0, 1]"),
            *pace_rules(self.concurrency, self._longest, self.max_wait),
            ("reasoning_effort", effort, effort in (None, *get_args(Effort)),
             f"one of {', '.join(get_args(Effort))}"),
            ("api", api, api in (None, "chat", "responses"), "chat or responses"),
            ("extra_body", extra_body, isinstance(extra_body, Mapping),
             "fields, each given as extra_body.KEY=VALUE"),
            ("stop", self.stop, not self.stop or api != "responses", "left out with api=responses, which takes none"),
        )  # fmt: skip
        check(self.prefix, extra_body)
        self.stops = stops_of(self.prefix, self.stop)
        self.name = self.model
        self.lists_as_json = self.answer in ("json", "offered")
        self.lists_offered = self.answer == "offered"
        self.ahead = False
        self.notes: list[str] = []
        self._loop: BackgroundLoop | None = None
        self._flight: Flight | None = None

    @classmethod
    def from_spec(cls, spec: str) -> OpenAIModel:
        """The model in ``openai:NAME?temperature=0&max_tokens=256``, with the settings of
        the file that ``request=FILE.toml`` names; raises `RecommenderError` as the
        class.
        """
        target, given = specs.split(spec)
        extra, given = specs.nested(given, "extra_body", spec)
        file = given.get(FILE)
        given, fields = with_file(given, cls, spec, extra)
        check(cls.prefix, fields, file)
        factory = partial(
            cls,
            target.removeprefix(f"{cls.prefix}:"),
            extra_body={**fields, **extra},
        )
        model: OpenAIModel = specs.build(factory, given, spec)
        return model

    def __repr__(self) -> str:
        given = {
            name: value
            for name, value in chat_request.sampling(self).items()
            if value is not None
        }
        sampling = "".join(f", {name}={value!r}" for name, value in given.items())
        return f"{type(self).__name__}({self.model!r}{sampling})"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything besides the prompt that an answer depends
        on, as JSON data without secrets.
        """
        return {
            "provider": self.prefix,
            "host": self._endpoint.url,
            "model": self.model,
            "sampling": chat_request.sampling(self),
        }

    def require_key(self) -> None:
        """Raise `RecommenderError` if the server wants a key and
        there is none, or its address is unusable.
        """
        self._endpoint.key()

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answers in the order of the prompts; a failed call is a `Completion` with an
        error.

        Raises:
            RecommenderError: If the address is not usable or the key is missing.
        """
        arrived = itertools.chain.from_iterable(self.complete_each(prompts))
        answers = {index: answer for index, answer in arrived if answer is not None}
        return [answers[index] for index in range(len(prompts))]

    def complete_each(
        self,
        prompts: Sequence[Prompt],
    ) -> Generator[list[Arrival], None, None]:
        """Yield each prompt's position with its answer, those that arrived together in
        one list.

        None instead of an answer is an attempt that gave none and may have been paid
        for; later results for that prompt do not include its cost. If the caller stops
        reading, the calls in flight are cancelled. Raises as `complete`.
        """
        channel, pace = self._channel, self._pace
        if self._loop is None:
            self._loop = BackgroundLoop(channel)
        flight = self._flight = Flight(pace.ceiling if self.ahead else 0)
        ask = partial(self._ask, channel, pace, flight)
        calls = self._loop.submit(flight.send_all(tuple(prompts), pace.ceiling, ask))
        calls.add_done_callback(lambda _: flight.end())
        try:
            yield from flight
            calls.result()
        finally:
            calls.cancel()

    def also(self, prompts: Sequence[Prompt]) -> bool:
        """Ask these prompts too, in the `complete_each` that
        is being read; it numbers them on.
        """
        if self._flight is None:
            return False
        self._flight.add(prompts)
        return True

    def wind_down(self) -> bool:
        """Start no further call; `complete_each` continues
        until those in flight are answered.
        """
        if self._flight is not None:
            self._flight.stop()
        return True

    def in_flight(self) -> list[int]:
        """The positions of the calls that may have been paid for, although
        `complete_each` yielded no answer.
        """
        return [] if self._flight is None else self._flight.in_flight

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request body for `prompt`, as in a batch file."""
        return {**chat_request.fields(self, prompt, self._dialect), **self.extra_body}

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        loop, self._loop = self._loop, None
        for held in ("_channel", "_pace"):
            self.__dict__.pop(held, None)
        if loop is not None:
            loop.close()

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint.from_environment()

    @cached_property
    def _dialect(self) -> Dialect:
        """What the endpoint is known to take by now."""
        return self._usual

    @cached_property
    def _usual(self) -> Dialect:
        dialect = Dialect.of(self._endpoint)
        return dialect.of_responses() if self.api == "responses" else dialect

    @cached_property
    def _pace(self) -> Pace:
        return Pace(
            self.concurrency,
            MAX_WAIT if self.max_wait is None else self.max_wait,
        )

    @cached_property
    def _channel(self) -> Channel:
        key = self._endpoint.key()
        from pytest_recsys_mt.llm.api.channel import Channel

        return Channel(self._endpoint, key, self._pace.ceiling, self.notes)

    async def _ask(
        self,
        channel: Channel,
        pace: Pace,
        flight: Flight,
        prompt: Prompt,
        lost: Callable[[], Awaitable[None]],
    ) -> Completion:
        earlier = Earlier()

        async def attempt() -> Completion:
            try:
                began = time.perf_counter()
                with flight.sending():
                    answer = await self._attempt(channel, prompt)
                return replace(
                    answer,
                    seconds=time.perf_counter() - began,
                    failed_before=earlier.failed,
                    refused_before=earlier.refused,
                )
            except Exception as error:
                if chat_api.may_be_paid(error):
                    await lost()
                else:
                    flight.unpaid()
                if flight.stopped:
                    raise chat_api.GivenUpError(self._reason(error)) from error
                raise

        try:
            return await persist(attempt, pace, self._reason, earlier)
        except Exception as error:  # noqa: BLE001 - one call's failure is its answer, whatever it is
            return Completion(text=None, usage=Usage(), error=self._reason(error))

    async def _attempt(self, channel: Channel, prompt: Prompt) -> Completion:
        import asyncio

        import openai

        dialect, no_chat = self._dialect, None
        before: Dialect | None = None
        while True:
            path = "/responses" if dialect.responses else "/chat/completions"
            sent = chat_request.fields(self, prompt, dialect)
            limit = self._pace.time_limit(self._longest)
            try:
                async with asyncio.timeout(limit):
                    body = await channel.post(path, {**sent, **self.extra_body})
            except TimeoutError as error:
                if limit < self._longest and not self._pace.alive:
                    raise chat_api.SilentError from error
                raise
            except (
                openai.BadRequestError,
                openai.UnprocessableEntityError,
                openai.NotFoundError,
            ) as error:
                missing = isinstance(error, openai.NotFoundError)
                without_rejected = partial(
                    Dialect.without_rejected,
                    complaint=str(error.body),
                    schema=prompt.schema is not None,
                    missing=missing,
                )
                simpler = without_rejected(dialect, sent=sent)
                if simpler is None or (simpler.responses and self.api == "chat"):
                    if missing and no_chat is not None:
                        raise no_chat from None  # it has neither API
                    if before is not None:
                        again = without_rejected(
                            before,
                            sent=chat_request.fields(self, prompt, before),
                        )
                        if again != dialect:
                            self._learn(
                                dialect,
                            )  # another complaint: the first one is settled
                    raise
                if simpler.responses and not dialect.responses:
                    no_chat = error
                before, dialect = dialect, simpler
            else:
                answer = chat_api.read(body)
                self._learn(dialect)
                notes = self._unmet(dialect, prompt)
                self._log(notes)
                return replace(answer, notes=tuple(notes))

    def _unmet(self, dialect: Dialect, prompt: Prompt) -> list[str]:
        """What one call asked for and the endpoint did not take, in sentences."""
        asked = {
            "stop": bool(self.stops),
            "schema": prompt.schema is not None,
            "json": self.json,
        }
        return dialect.unmet(self._usual, asked, self._endpoint.url, self.model)

    def _learn(self, dialect: Dialect) -> None:
        if dialect == self._dialect:
            return
        # That no stop is taken matters only where one is given.
        before = replace(self._dialect, stop=self._dialect.stop and bool(self.stops))
        after = replace(dialect, stop=dialect.stop and bool(self.stops))
        self._log(after.notes_since(before, self._endpoint.url, self.model))
        self._dialect = dialect

    def _log(self, notes: Sequence[str]) -> None:
        for note in notes:
            if note not in self.notes:
                self.notes.append(note)
                logging.getLogger(__name__).warning(note)

    def _reason(self, error: Exception) -> str:
        reason = chat_api.describe(error, self._endpoint, self._default_limit)
        return shortened(one_line(reason), chat_api.REASON_LENGTH)
