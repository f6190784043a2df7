"""Chat models behind an OpenAI-compatible endpoint: OpenAI, vLLM, SGLang, Ollama, llama.cpp."""

from __future__ import annotations

import json
import logging
import queue
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_recsys_mt import parameters
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.llm.background import BackgroundLoop
from pytest_recsys_mt.llm.endpoint import Endpoint, Secret
from pytest_recsys_mt.llm.sanitize import one_line
from pytest_recsys_mt.requests import Completion, Prompt, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_log = logging.getLogger(__name__)

_RETRIES = 2
"""How often the client asks again after a dropped connection, a 408, 409, 429 or 5xx."""

_REASON_LENGTH = 300
"""Characters of an error that are kept."""

_SECRET_LENGTH = 8
"""Keys shorter than this are placeholders ("none", "ollama") that may well occur in an answer."""

_HINTS: Mapping[int, str] = {
    401: "check OPENAI_API_KEY",
    403: "check what the key in OPENAI_API_KEY may do",
    404: "check the model's name and the path in OPENAI_BASE_URL, which mostly ends in /v1",
}


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What an endpoint understands.

    Attributes:
        limits: Names for the most tokens of an answer that are still to be tried, best first.
        seed: Whether a seed may be sent.
    """

    limits: tuple[str, ...]
    seed: bool = True

    @classmethod
    def of(cls, endpoint: Endpoint) -> _Dialect:
        """What to try first.

        OpenAI's newer models refuse `max_tokens`; several other servers ignore
        `max_completion_tokens` in silence and write on without end.
        """
        names = ("max_tokens", "max_completion_tokens")
        is_openai = urlsplit(endpoint.url).hostname == "api.openai.com"
        return cls(names[::-1] if is_openai else names)

    def without_rejected(self, complaint: str) -> _Dialect | None:
        """What to try after a complaint, or None where the complaint is about something else."""
        if len(self.limits) > 1 and re.search(rf"\b{self.limits[0]}\b", complaint):
            return replace(self, limits=self.limits[1:])
        if self.seed and re.search(r"\bseed\b", complaint):
            return replace(self, seed=False)
        return None


class OpenAIModel:
    """A text model behind the Chat Completions API.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, read when they are
    first needed. The key goes nowhere but to that address, over https or on this machine, and no
    redirect is followed.

    Args:
        model: As the endpoint names it.
        temperature: At least 0; None leaves it to the endpoint.
        max_tokens: The most tokens of one answer.
        top_p: In (0, 1]; None leaves it to the endpoint.
        concurrency: Calls in flight at a time.
        timeout: Seconds to wait for the server, at each step of an attempt.

    Attributes:
        deterministic: False. Servers put the calls of many users into one batch, and answers change
            with its shape even at temperature 0.
        notes: What the endpoint was found not to understand, one sentence each.

    Raises:
        RecommenderError: If an argument is out of range.
    """

    deterministic = False

    def __init__(
        self,
        model: str,
        *,
        temperature: float | None = None,
        max_tokens: int = 1024,
        top_p: float | None = None,
        concurrency: int = 8,
        timeout: float = 60.0,
    ) -> None:
        for name, value, fits, allowed in (
            ("model", model, bool(model.strip()), "the name of a model"),
            ("temperature", temperature, temperature is None or 0 <= temperature <= 2, "in [0, 2]"),
            ("max_tokens", max_tokens, max_tokens >= 1, "at least 1"),
            ("top_p", top_p, top_p is None or 0 < top_p <= 1, "in (0, 1]"),
            ("concurrency", concurrency, 1 <= concurrency <= 256, "in 1..256"),
            ("timeout", timeout, 0 < timeout < float("inf"), "a number of seconds above 0"),
        ):
            if not fits:
                raise RecommenderError(f"openai: {name}={value!r} must be {allowed}")
        self.model = model
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.top_p = top_p
        self.concurrency = concurrency
        self.timeout = timeout
        self.notes: list[str] = []
        self._loop: BackgroundLoop | None = None

    @classmethod
    def from_spec(cls, spec: str) -> OpenAIModel:
        """The model that ``openai:NAME?temperature=0&max_tokens=256`` means; the prefix may lack.

        Raises:
            RecommenderError: If a parameter is unknown or a value is out of range.
        """
        target, given = parameters.split(spec)
        model: OpenAIModel = parameters.build(
            partial(cls, target.removeprefix("openai:")), given, spec
        )
        return model

    def __repr__(self) -> str:
        sampling = "".join(
            f", {name}={value!r}" for name, value in self._sampling.items() if value is not None
        )
        return f"OpenAIModel({self.model!r}{sampling})"

    @property
    def name(self) -> str:
        """As reports print it."""
        return self.model

    @property
    def identity(self) -> dict[str, Any]:
        """All that an answer depends on besides the prompt, as plain JSON data without secrets."""
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
        answers = dict(self.complete_each(prompts))
        return [answers[index] for index in range(len(prompts))]

    def complete_each(
        self, prompts: Sequence[Prompt]
    ) -> Generator[tuple[int, Completion], None, None]:
        """Yield each prompt's position with its answer, in the order in which answers arrive.

        Calls that are still in flight when the caller stops reading are cancelled.

        Raises:
            RecommenderError: If the address is not usable or the key is missing.
        """
        client = self._client
        if self._loop is None:
            self._loop = BackgroundLoop(client)
        arrived: queue.SimpleQueue[tuple[int, Completion] | None] = queue.SimpleQueue()
        calls = self._loop.submit(self._ask_all(client, tuple(prompts), arrived))
        calls.add_done_callback(lambda _: arrived.put(None))
        try:
            while (answer := arrived.get()) is not None:
                yield answer
            calls.result()
        finally:
            calls.cancel()

    def close(self) -> None:
        """Drop the connections; asking again opens new ones."""
        loop, self._loop = self._loop, None
        self.__dict__.pop("_client", None)
        if loop is not None:
            loop.close()

    @property
    def _sampling(self) -> dict[str, float | int | None]:
        return {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
        }

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint.from_environment()

    @cached_property
    def _key(self) -> Secret | None:
        return self._endpoint.key()

    @cached_property
    def _dialect(self) -> _Dialect:
        return _Dialect.of(self._endpoint)

    @cached_property
    def _client(self) -> AsyncOpenAI:
        key = self._key
        import openai

        return openai.AsyncOpenAI(
            # Never nothing, or the client would look for other keys in the environment.
            api_key=key or "none",
            base_url=self._endpoint.url,
            timeout=self.timeout,
            max_retries=_RETRIES,
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False,
                # What stays on this machine does not go through a proxy.
                trust_env=not self._endpoint.is_loopback,
            ),
        )

    async def _ask_all(
        self,
        client: AsyncOpenAI,
        prompts: Sequence[Prompt],
        arrived: queue.SimpleQueue[tuple[int, Completion] | None],
    ) -> None:
        import asyncio

        waiting = iter(enumerate(prompts))

        async def work() -> None:
            for index, prompt in waiting:
                arrived.put((index, await self._ask(client, prompt)))

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.concurrency, len(prompts))):
                group.create_task(work())

    async def _ask(self, client: AsyncOpenAI, prompt: Prompt) -> Completion:
        import openai

        headers = {"Authorization": openai.omit} if self._key is None else {}
        dialect = self._dialect
        while True:
            try:
                response = await client.chat.completions.with_raw_response.create(
                    **self._arguments(prompt, dialect), extra_headers=headers
                )
                answer = self._read(response.text)
            except openai.APIStatusError as error:
                simpler = None
                if error.status_code in (400, 422):
                    simpler = dialect.without_rejected(str(error.body))
                if simpler is None:
                    return self._failure(_describe(error, self._endpoint))
                dialect = simpler
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                return self._failure(_describe(error, self._endpoint))
            else:
                self._learn(dialect)
                return answer

    def _arguments(self, prompt: Prompt, dialect: _Dialect) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": message.role, "content": message.content} for message in prompt.messages
            ],
            dialect.limits[0]: self.max_tokens,
        }
        if self.temperature is not None:
            arguments["temperature"] = self.temperature
        if self.top_p is not None:
            arguments["top_p"] = self.top_p
        if dialect.seed:
            # Servers differ in how wide a seed may be; all of them take 31 bits.
            arguments["seed"] = prompt.seed % 2**31
        return arguments

    def _learn(self, dialect: _Dialect) -> None:
        """Remember what was understood, once an answer has proved it."""
        if dialect == self._dialect:
            return
        for note, is_new in (
            (
                f"{self._endpoint.url} takes no seed, so answers cannot be asked for again",
                self._dialect.seed and not dialect.seed,
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

    def _read(self, body: str) -> Completion:
        """The answer in the body of a response; a ValueError says why there is none."""
        try:
            answer = json.loads(body)
        except ValueError:
            raise ValueError(f"the answer is not JSON: {body[:80]!r}") from None
        answer = answer if isinstance(answer, dict) else {}
        choices = answer.get("choices")
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            failure = answer.get("error")
            raise ValueError(f"the answer has no choices{f': {failure}' if failure else ''}")
        message = choices[0].get("message")
        message = message if isinstance(message, dict) else {}
        finish = _text(choices[0].get("finish_reason"))
        text = _text(message.get("content"))
        usage = _usage(answer.get("usage"))
        error = None
        if refusal := _text(message.get("refusal")):
            text, error = None, f"refused: {refusal}"
        elif not text:
            hint = "; raise max_tokens" if finish == "length" else ""
            text, error = None, f"the model wrote nothing (finish_reason {finish!r}){hint}"
        return Completion(
            text=None if text is None else self._redact(text),
            usage=usage,
            finish_reason=finish,
            model=_text(answer.get("model")),
            system_fingerprint=_text(answer.get("system_fingerprint")),
            error=None if error is None else self._failure(error).error,
        )

    def _failure(self, reason: str) -> Completion:
        return Completion(text=None, error=one_line(self._redact(reason))[:_REASON_LENGTH])

    def _redact(self, text: str) -> str:
        """`text` without the key, should a server send it back."""
        key = self._key
        if key is None or len(key) < _SECRET_LENGTH:
            return text
        return text.replace(key, "[OPENAI_API_KEY]")


def _describe(error: Exception, endpoint: Endpoint) -> str:
    """Why a call failed, and what to do where that is known."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return f"{endpoint.url} did not answer in time; raise timeout or lower concurrency"
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        return f"{endpoint.url} cannot be reached: {cause or error}"
    if isinstance(error, openai.APIStatusError):
        if 300 <= error.status_code < 400:
            said = "a redirect, which is not followed, for the key would go along"
        else:
            said = _complaint(error.body)
        hint = _HINTS.get(error.status_code)
        return f"HTTP {error.status_code}{f' ({hint})' if hint else ''}: {said}"
    if isinstance(error, ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _complaint(body: object) -> str:
    """The message in the body of an error, wherever the server puts it."""
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            if body.get(name):
                return str(body[name])
    return str(body or "no reason given")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _usage(value: object) -> Usage | None:
    if not isinstance(value, Mapping):
        return None
    counts = [value.get("prompt_tokens"), value.get("completion_tokens")]
    return Usage(*(count if isinstance(count, int) else 0 for count in counts))
