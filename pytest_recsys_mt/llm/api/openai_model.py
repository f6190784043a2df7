"""Chat models behind an OpenAI-compatible endpoint: OpenAI, vLLM, SGLang, Ollama, llama.cpp."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt import specs
from pytest_recsys_mt.llm.api import chat_api
from pytest_recsys_mt.llm.api.background import BackgroundLoop
from pytest_recsys_mt.llm.api.chat_api import Dialect
from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.flight import Flight, Told
from pytest_recsys_mt.llm.api.pacing import MAX_WAIT, Pace, pace_rules
from pytest_recsys_mt.llm.api.retries import persist
from pytest_recsys_mt.redaction import Secret, shortened
from pytest_recsys_mt.requests import Completion, Prompt, Usage
from pytest_recsys_mt.sanitize import one_line

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_log = logging.getLogger(__name__)


class OpenAIModel:
    """A text model behind the Chat Completions API.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, read at first use.
    The key is sent only to that address, over https or on this machine. Redirects are not followed.

    Args:
        model: The model's name at the endpoint.
        temperature: At least 0; None leaves it to the endpoint.
        max_tokens: The most tokens of one answer.
        top_p: In (0, 1]; None leaves it to the endpoint.
        json: Whether answers must be JSON (``response_format``). The prompt must ask for JSON too,
            which no built-in template does.
        concurrency: Calls in flight at a time; fewer while the endpoint refuses. None starts with 8
            and tries up to 64 while answers stay as fast.
        timeout: Seconds that one attempt may take.
        max_wait: Seconds to wait for an endpoint that is busy or unreachable; 0 asks only once.
            None leaves it to the run, which sets the attribute of the same name.

    Attributes:
        deterministic: False. Servers batch the calls of many users, and answers change with the
            shape of the batch even at temperature 0.
        takes_schema: True: a prompt's `schema` is sent, until the endpoint refuses it.
        reads_images: True. An endpoint whose model cannot see images refuses the call.
        notes: Fields that the endpoint refused, one sentence each.

    Raises:
        RecommenderError: If an argument is out of range.
    """

    deterministic = False
    takes_schema = True
    reads_images = True

    def __init__(
        self,
        model: str,
        *,
        temperature: float | None = None,
        max_tokens: int = 1024,
        top_p: float | None = None,
        json: bool = False,
        concurrency: int | None = None,
        timeout: float = 60.0,
        max_wait: float | None = None,
    ) -> None:
        specs.check(
            "openai",
            ("model", model, bool(model.strip()), "the name of a model"),
            ("temperature", temperature, temperature is None or 0 <= temperature <= 2, "in [0, 2]"),
            ("max_tokens", max_tokens, max_tokens >= 1, "at least 1"),
            ("top_p", top_p, top_p is None or 0 < top_p <= 1, "in (0, 1]"),
            *pace_rules(concurrency, timeout, max_wait),
        )
        self.model = model
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.top_p = top_p
        self.json = json
        self.concurrency = concurrency
        self.timeout = timeout
        self.max_wait = max_wait
        self.notes: list[str] = []
        self._loop: BackgroundLoop | None = None
        self._flight: Flight | None = None

    @classmethod
    def from_spec(cls, spec: str) -> OpenAIModel:
        """The model in ``openai:NAME?temperature=0&max_tokens=256``; the prefix is optional.

        Raises:
            RecommenderError: If a parameter is unknown or a value is out of range.
        """
        target, given = specs.split(spec)
        model: OpenAIModel = specs.build(partial(cls, target.removeprefix("openai:")), given, spec)
        return model

    def __repr__(self) -> str:
        sampling = "".join(
            f", {name}={value!r}" for name, value in self._sampling.items() if value is not None
        )
        return f"OpenAIModel({self.model!r}{sampling})"

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.model

    @property
    def identity(self) -> dict[str, Any]:
        """Everything besides the prompt that an answer depends on, as JSON data without secrets."""
        return {
            "provider": "openai",
            "host": self._endpoint.url,
            "model": self.model,
            "sampling": self._sampling,
        }

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answers in the order of the prompts; a failed call is a `Completion` with an error.

        Raises:
            RecommenderError: If the address is not usable or the key is missing.
        """
        answers = {i: answer for i, answer in self.complete_each(prompts) if answer is not None}
        return [answers[index] for index in range(len(prompts))]

    def complete_each(self, prompts: Sequence[Prompt]) -> Generator[Told, None, None]:
        """Yield each prompt's position with its answer, in the order in which answers arrive.

        None instead of an answer is an attempt that gave none and may have been paid for; later
        results for that prompt do not include its cost. If the caller stops reading, the calls in
        flight are cancelled.

        Raises:
            RecommenderError: If the address is not usable or the key is missing.
        """
        client, pace = self._client, self._pace
        if self._loop is None:
            self._loop = BackgroundLoop(client)
        flight = self._flight = Flight()
        ask = partial(self._ask, client, pace, flight)
        calls = self._loop.submit(flight.ask_all(tuple(prompts), pace.ceiling, ask))
        calls.add_done_callback(lambda _: flight.end())
        try:
            yield from flight
            calls.result()
        finally:
            calls.cancel()

    def also(self, prompts: Sequence[Prompt]) -> bool:
        """Ask these prompts too, in the `complete_each` that is being read; it numbers them on."""
        if self._flight is None:
            return False
        self._flight.add(prompts)
        return True

    def wind_down(self) -> bool:
        """Start no further call; `complete_each` continues until those in flight are answered."""
        if self._flight is not None:
            self._flight.stop()
        return True

    def in_flight(self) -> list[int]:
        """The positions of the calls that may have been paid for, although `complete_each` yielded no answer."""
        return [] if self._flight is None else self._flight.in_flight

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request body for `prompt`, as in a batch file."""
        return self._arguments(prompt, self._dialect)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        loop, self._loop = self._loop, None
        for held in ("_client", "_pace"):
            self.__dict__.pop(held, None)
        if loop is not None:
            loop.close()

    @property
    def _sampling(self) -> dict[str, float | int | None]:
        sampling: dict[str, float | int | None] = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
        }
        # Omitted unless requested: the keys of answers depend on this mapping.
        return {**sampling, "json": True} if self.json else sampling

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint.from_environment()

    @cached_property
    def _key(self) -> Secret | None:
        return self._endpoint.key()

    @cached_property
    def _dialect(self) -> Dialect:
        return Dialect.of(self._endpoint)

    @cached_property
    def _pace(self) -> Pace:
        return Pace(self.concurrency, MAX_WAIT if self.max_wait is None else self.max_wait)

    @cached_property
    def _client(self) -> AsyncOpenAI:
        key = self._key
        import openai

        from pytest_recsys_mt.llm.api.transport import http_client

        client = http_client(self._endpoint)
        return openai.AsyncOpenAI(
            # Never empty, or the client would look for other keys in the environment.
            api_key=key or "none",
            base_url=self._endpoint.url,
            timeout=client.timeout,
            max_retries=0,
            http_client=client,
        )

    async def _ask(
        self,
        client: AsyncOpenAI,
        pace: Pace,
        flight: Flight,
        prompt: Prompt,
        lost: Callable[[], Awaitable[None]],
    ) -> Completion:
        async def attempt() -> Completion:
            try:
                with flight.sending():
                    return await self._attempt(client, prompt)
            except Exception as error:
                if chat_api.may_be_paid(error):
                    await lost()
                else:
                    flight.unpaid()
                if flight.stopped:
                    raise chat_api.GivenUpError(self._reason(error)) from error
                raise

        try:
            return await persist(attempt, pace, self._reason)
        except Exception as error:  # noqa: BLE001 - one call's failure is its answer, whatever it is
            return Completion(text=None, usage=Usage(), error=self._reason(error))

    async def _attempt(self, client: AsyncOpenAI, prompt: Prompt) -> Completion:
        import asyncio

        import openai

        headers = {"Authorization": openai.omit} if self._key is None else {}
        dialect = self._dialect
        while True:
            try:
                async with asyncio.timeout(self._pace.time_limit(self.timeout)):
                    response = await client.chat.completions.with_raw_response.create(
                        **self._arguments(prompt, dialect), extra_headers=headers
                    )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                simpler = dialect.without_rejected(
                    str(error.body), schema=prompt.schema is not None
                )
                if simpler is None:
                    raise
                dialect = simpler
            else:
                answer = chat_api.read(response.content)
                self._learn(dialect)
                return answer

    def _arguments(self, prompt: Prompt, dialect: Dialect) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": [chat_api.plain(message) for message in prompt.messages],
            dialect.limits[0]: self.max_tokens,
        }
        if self.temperature is not None:
            arguments["temperature"] = self.temperature
        if self.top_p is not None:
            arguments["top_p"] = self.top_p
        if prompt.schema is not None and dialect.schema:
            arguments["response_format"] = chat_api.response_format(prompt.schema)
        elif self.json and dialect.json:
            arguments["response_format"] = {"type": "json_object"}
        if dialect.seed:
            # Servers allow different ranges of seeds; all of them accept 31 bits.
            arguments["seed"] = prompt.seed % 2**31
        return arguments

    def _learn(self, dialect: Dialect) -> None:
        """Remember the accepted dialect once an answer proves it."""
        if dialect == self._dialect:
            return
        for note, is_new in (
            (
                f"{self._endpoint.url} takes no seed, so answers cannot be reproduced",
                self._dialect.seed and not dialect.seed,
            ),
            (
                f"{self._endpoint.url} takes no response_format, so nothing holds answers to JSON",
                self._dialect.json and not dialect.json,
            ),
            (
                f"{self._endpoint.url} takes no JSON schema, so answers may have any form",
                self._dialect.schema and not dialect.schema,
            ),
            (
                f"{self._endpoint.url} takes {dialect.limits[0]}, not {self._dialect.limits[0]}",
                dialect.limits[0] != self._dialect.limits[0],
            ),
        ):
            if is_new and note not in self.notes:
                self.notes.append(note)
                _log.warning(note)
        self._dialect = dialect

    def _reason(self, error: Exception) -> str:
        """Why a call failed, in one line without secrets."""
        return shortened(one_line(chat_api.describe(error, self._endpoint)), chat_api.REASON_LENGTH)
