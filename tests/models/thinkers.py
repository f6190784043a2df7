"""Two endpoints on this machine whose models think
before they answer, and what they bill.
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from aiohttp import web

from tests.support.llm_api import BackgroundLoop

THOUGHTS = {"none": 0, "minimal": 0, "low": 200, "medium": 1500, "high": 6000}
"""Tokens that are spent on thinking, by effort."""
WRITTEN = 80
"""Tokens of an answer beside them."""
CACHED = 128
"""Tokens of each prompt that the provider has in its cache."""


class RefusedError(Exception):
    """An error of the API; its text is the message, its status that of HTTP."""

    def __init__(self, text: str, status: int = 400, **fields: str) -> None:
        super().__init__(text)
        self.status = status
        self.body = {
            "error": {"message": text, "type": "invalid_request_error", **fields},
        }


class Endpoint:
    """An aiohttp server with `/v1/chat/completions` and `/v1/responses`.

    Attributes:
        url: The base URL.
        asked: What was asked, in its order: the path below the base URL, and the body.
        answered: The usage of each answer.
    """

    def __enter__(self) -> Self:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answered: list[dict[str, Any]] = []
        self._loop = BackgroundLoop(self._running())
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.close()

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        application = web.Application()
        application.router.add_post("/v1/{path:.+}", self._handle)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        path, body = request.match_info["path"], await request.json()
        self.asked.append((path, body))
        try:
            answer = (
                self.chat(body) if path == "chat/completions" else self.responses(body)
            )
        except RefusedError as refusal:
            return web.json_response(refusal.body, status=refusal.status)
        self.answered.append(answer["usage"])
        return web.json_response(answer)

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer of `/chat/completions`."""
        raise NotImplementedError

    def responses(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer of `/responses`."""
        raise RefusedError("Not Found", 404)


class GPT5(Endpoint):
    """Refuses and answers in the words of OpenAI's gpt-5.

    Args:
        only_responses: Whether the model is missing in Chat Completions.
    """

    def __init__(self, *, only_responses: bool = False) -> None:
        self._only_responses = only_responses

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._only_responses:
            raise RefusedError(
                "This model is only supported in v1/responses and not in v1/chat/completions.",
                404,
                param="model",
            )
        for name, instead in (
            ("max_tokens", " Use 'max_completion_tokens' instead."),
            ("seed", ""),
        ):
            if name in body:
                _unsupported(name, instead)
        effort = body.get("reasoning_effort", "medium")
        text = body["messages"][-1]["content"]
        prompt, thought, written = self._think(
            body,
            effort,
            body["max_completion_tokens"],
            text,
        )
        message = {
            "role": "assistant",
            "content": ranked(text) if written else "",
            "refusal": None,
        }
        return {
            "id": "1", "object": "chat.completion", "created": 0, "model": "gpt-5-2025-08-07",
            "choices": [
                {"index": 0, "message": message, "finish_reason": "stop" if written else "length"},
            ],
            "usage": {
                "prompt_tokens": prompt, "completion_tokens": thought + written,
                "total_tokens": prompt + thought + written,
                "prompt_tokens_details": {"cached_tokens": CACHED, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": thought, "audio_tokens": 0},
            },
        }  # fmt: skip

    def responses(self, body: dict[str, Any]) -> dict[str, Any]:
        for name in (
            "seed",
            "messages",
            "max_tokens",
            "max_completion_tokens",
            "response_format",
        ):
            if name in body:
                _unsupported(name)
        assert body["store"] is False
        effort = body.get("reasoning", {}).get("effort", "medium")
        text = body["input"][-1]["content"]
        if not isinstance(text, str):
            text = text[-1]["text"]
        prompt, thought, written = self._think(
            body,
            effort,
            body["max_output_tokens"],
            text,
        )
        form = body.get("text", {}).get("format", {})
        said = guided(form["schema"]) if form else ranked(text)
        part = {"type": "output_text", "text": said, "annotations": []}
        if "refuse" in text:
            part = {"type": "refusal", "refusal": "I won't."}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [part],
        }
        reasoning = {"id": "rs_1", "type": "reasoning", "summary": []}
        return {
            "id": "resp_1", "object": "response", "created_at": 0, "model": "gpt-5-2025-08-07",
            "status": "completed" if written else "incomplete", "error": None,
            "incomplete_details": None if written else {"reason": "max_output_tokens"},
            "output": [reasoning, message] if written else [reasoning],
            "usage": {
                "input_tokens": prompt, "output_tokens": thought + written,
                "total_tokens": prompt + thought + written,
                "input_tokens_details": {"cached_tokens": CACHED},
                "output_tokens_details": {"reasoning_tokens": thought},
            },
        }  # fmt: skip

    def _think(
        self,
        body: dict[str, Any],
        effort: str,
        limit: int,
        text: str,
    ) -> tuple[int, int, int]:
        """Tokens of the prompt, of the thinking and of the
        answer: none if the limit is spent.
        """
        temperature = body.get("temperature", 1)
        if temperature > 2:
            raise RefusedError(
                f"Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got "
                f"{temperature} instead.",
                param="temperature", code="decimal_above_max_value",
            )  # fmt: skip
        if temperature != 1:
            raise RefusedError(
                f"Unsupported value: 'temperature' does not support {temperature} with this model. "
                f"Only the default (1) value is supported.",
                param="temperature", code="unsupported_value",
            )  # fmt: skip
        if "top_p" in body:
            _unsupported("top_p")
        if effort in ("none", "xhigh", "max"):
            raise RefusedError(
                f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
                f"Supported values are: 'minimal', 'low', 'medium', and 'high'.",
                param="reasoning_effort", code="unsupported_value",
            )  # fmt: skip
        thought = min(THOUGHTS[effort], limit)
        return (
            CACHED + len(text) // 4,
            thought,
            WRITTEN if thought + WRITTEN <= limit else 0,
        )


class VLLM(Endpoint):
    """Like vLLM with a reasoning parser: thinking in a field of its own, and no count
    of it.

    Args:
        field: The name of the field; None leaves the thinking in the text, without its
            beginning, as the template of the model has it.
    """

    def __init__(self, field: str | None = "reasoning_content") -> None:
        self._field = field

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        text = body["messages"][-1]["content"]
        thinks = body.get("chat_template_kwargs", {}).get("enable_thinking", True)
        thought = min(THOUGHTS["medium"] if thinks else 0, body["max_tokens"])
        ends = thought + WRITTEN <= body["max_tokens"]
        form = body.get("response_format")
        said = guided(form["json_schema"]["schema"]) if form else ranked(text)
        message: dict[str, Any] = {
            "role": "assistant",
            "content": said if ends else None,
        }
        thoughts = (
            "Perhaps these:\n1. The Room (2003)\n2. Cats (2019)\n" if thinks else None
        )
        if self._field is not None:
            message[self._field] = thoughts
        elif thoughts is not None:
            message["content"] = (
                f"{thoughts}</think>\n\n{said}" if ends else f"<think>{thoughts}"
            )
        completion = thought + WRITTEN * ends
        return {
            "id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [
                {"index": 0, "message": message, "finish_reason": "stop" if ends else "length"},
            ],
            "usage": {
                "prompt_tokens": 300, "completion_tokens": completion, "total_tokens": 300 + completion,
                "prompt_tokens_details": None,
            },
        }  # fmt: skip


def ranked(text: str) -> str:
    """The films of a prompt, always in the same order."""
    films = dict.fromkeys(re.findall(r"(?m)^\d+\. (.+ \(\d{4}\))", text))
    order = sorted(films, key=lambda film: hashlib.sha256(film.encode()).hexdigest())
    return (
        "\n".join(f"{n}. {film}" for n, film in enumerate(order[:10], 1))
        or "1. Heat (1995)"
    )


def guided(schema: dict[str, Any]) -> str:
    """An answer in a schema of texts."""
    return json.dumps(dict.fromkeys(schema["properties"], "Heat"))


def _unsupported(name: str, instead: str = "") -> None:
    raise RefusedError(
        f"Unsupported parameter: '{name}' is not supported with this model.{instead}",
        param=name, code="unsupported_parameter",
    )  # fmt: skip
