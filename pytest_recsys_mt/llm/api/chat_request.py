"""The request to a chat model, as the fields that its endpoint accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pytest_recsys_mt.llm.api import chat_api, responses_api
from pytest_recsys_mt.llm.api.dialect import Dialect
from pytest_recsys_mt.requests import Prompt


class Settings(Protocol):
    """The settings of a model that stand in its requests; see `OpenAIModel`."""

    model: str
    temperature: float | None
    max_tokens: int | None
    top_p: float | None
    json: bool
    api: Any
    reasoning_effort: Any
    stops: tuple[str, ...]
    extra_body: Mapping[str, Any]


def fields(model: Settings, prompt: Prompt, dialect: Dialect) -> dict[str, Any]:
    """The fields of a request, without those of ``extra_body``.

    Args:
        model: Says which settings are wanted.
        prompt: Its messages, seed and schema are sent.
        dialect: The fields that the endpoint accepts; others are left out.
    """
    arguments: dict[str, Any] = {
        "model": model.model,
        "messages": [chat_api.plain(message) for message in prompt.messages],
        dialect.limits[0]: model.max_tokens,
    }
    if model.temperature is not None and dialect.temperature:
        arguments["temperature"] = model.temperature
    if model.top_p is not None and dialect.top_p:
        arguments["top_p"] = model.top_p
    if model.reasoning_effort is not None:
        arguments["reasoning_effort"] = model.reasoning_effort
    if model.stops and dialect.stop:
        arguments["stop"] = list(model.stops)
    if prompt.schema is not None and dialect.schema:
        arguments["response_format"] = chat_api.response_format(prompt.schema)
    elif model.json and dialect.json:
        arguments["response_format"] = {"type": "json_object"}
    if dialect.stream:
        arguments["stream"] = True
        if dialect.stream_options:
            arguments["stream_options"] = {"include_usage": True}
    if dialect.seed:
        # Servers allow different ranges of seeds; all of them accept 31 bits.
        arguments["seed"] = prompt.seed % 2**31
    return responses_api.request(arguments) if dialect.responses else arguments


def sampling(model: Settings) -> dict[str, Any]:
    """The settings on which answers depend, as JSON data.

    Those that are seldom given are left out unless they are: the keys of answers depend
    on this mapping.
    """
    requested = {
        "json": model.json,
        "reasoning_effort": model.reasoning_effort,
        "api": model.api,
        "stop": list(model.stops),
        "extra_body": model.extra_body,
    }
    return {
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "top_p": model.top_p,
        **{name: value for name, value in requested.items() if value},
    }
