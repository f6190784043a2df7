"""Answers that an endpoint sends in pieces, as server-sent events, joined."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_recsys_mt.llm.api.responses_api import mapping

_ENDS = ("response.completed", "response.incomplete", "response.failed")
"""Types of the event of the Responses API that has the whole response."""

_TEXTS = ("content", "refusal", "reasoning", "reasoning_content")


def is_stream(body: bytes) -> bool:
    """Whether the body of a response is a stream of events."""
    return body.lstrip().startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def joined(body: bytes, load: Callable[[str], Any]) -> dict[str, Any]:
    """The response that the events of a stream make up, of either API.

    Args:
        body: The body of the HTTP response.
        load: Reads the JSON of each event.

    Returns:
        The response in the form of one that was not streamed; an event with an error as
        it is.

    Raises:
        ValueError: If the stream ends before the answer does.
    """
    response: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    reasons: dict[str, Any] = {}
    ended = False
    for data in _data(body):
        if data.strip() == "[DONE]":
            ended = True
            continue
        event = mapping(load(data))
        if event.get("error"):
            return dict(event)
        if event.get("type") in _ENDS:
            return dict(mapping(event.get("response")))
        _merge(response, event)
        for choice in _objects(event.get("choices")):
            number = str(choice.get("index", 0))
            message = messages.setdefault(number, {})
            _append(message, mapping(choice.get("delta") or choice.get("message")))
            reasons[number] = choice.get("finish_reason") or reasons.get(number)

    # Some endpoints send no "[DONE]"; then each choice must say why it ends.
    if messages and not ended and None in reasons.values():
        raise ValueError("the answer is a stream that ends before the answer does")
    choices = []
    for number, message in messages.items():
        choices.append({"message": message, "finish_reason": reasons[number]})
    response["choices"] = choices
    return response


def _data(body: bytes) -> Iterator[str]:
    """The data of each event that has any."""
    for line in body.splitlines():
        field, _, value = line.decode().partition(":")
        if field == "data" and value.strip():
            yield value


def _objects(values: object) -> Iterator[Mapping[str, Any]]:
    """The elements of a JSON array, each as an object; none of any other value."""
    if isinstance(values, list):
        yield from map(mapping, values)


def _merge(response: dict[str, Any], event: Mapping[str, Any]) -> None:
    """Take over the fields of an event; tokens that were
    counted as written stay counted.
    """
    usage_before = response.get("usage")
    for name, value in event.items():
        if value is not None:
            response[name] = value
    if _completion_tokens(usage_before) > _completion_tokens(response.get("usage")):
        response["usage"] = usage_before


def _completion_tokens(usage: object) -> int:
    """The number of tokens in a `usage`, or -1."""
    count = mapping(usage).get("completion_tokens")
    return count if isinstance(count, int) else -1


def _append(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Append the texts and the calls of tools in a delta to those of a message."""
    for name in _TEXTS:
        text = delta.get(name)
        if isinstance(text, str):
            message[name] = message.get(name, "") + text
    for call in _objects(delta.get("tool_calls")):
        calls = message.setdefault("tool_calls", [])
        # A delta without an identifier goes on with the last call.
        if not calls or call.get("id") not in (None, "", calls[-1]["id"]):
            calls.append({"id": call.get("id"), "function": {"arguments": ""}})
        arguments = mapping(call.get("function")).get("arguments")
        if isinstance(arguments, str):
            calls[-1]["function"]["arguments"] += arguments
