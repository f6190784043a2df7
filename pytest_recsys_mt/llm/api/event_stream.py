"""Answers that an endpoint sends in pieces, as server-sent events, put together."""

from collections.abc import Callable
from typing import Any

from pytest_recsys_mt.llm.api.responses_api import mapping

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_TEXTS = ("content", "refusal", "reasoning", "reasoning_content")


def is_stream(body: bytes) -> bool:
    """Whether the body of a response is a stream of events."""
    return body.lstrip().startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def joined(body: bytes, load: Callable[[str], Any]) -> dict[str, Any]:
    """The response that the events of a stream make up, of either API; `load` reads the JSON of each.

    Raises:
        ValueError: If the stream ends before the answer does.
    """
    messages: dict[Any, dict[str, Any]] = {}
    finished: dict[Any, Any] = {}
    whole: dict[str, Any] = {}
    ended = False
    for line in body.splitlines():
        field, _, value = line.decode().partition(":")
        if field != "data" or not value.strip():
            continue
        if value.strip() == "[DONE]":
            ended = True
            continue
        event = mapping(load(value))
        if event.get("error"):
            return dict(event)
        if event.get("type") in _ENDS:
            return dict(mapping(event.get("response")))
        before = whole.get("usage")
        whole.update((name, event[name]) for name in event if event[name] is not None)
        if _written(before) > _written(whole.get("usage")):
            whole["usage"] = before  # what was written is not taken back
        choices = event.get("choices")
        for choice in map(mapping, choices if isinstance(choices, list) else ()):
            number = str(choice.get("index", 0))
            message = messages.setdefault(number, {})
            _add(message, mapping(choice.get("delta") or choice.get("message")))
            finished[number] = choice.get("finish_reason") or finished.get(number)
    if messages and not ended and None in finished.values():
        raise ValueError("the answer is a stream that ends before the answer does")
    whole["choices"] = [
        {"message": message, "finish_reason": finished[number]}
        for number, message in messages.items()
    ]
    return whole


def _written(usage: object) -> int:
    count = mapping(usage).get("completion_tokens")
    return count if isinstance(count, int) else -1


def _add(message: dict[str, Any], delta: Any) -> None:
    for name in _TEXTS:
        if isinstance(delta.get(name), str):
            message[name] = message.get(name, "") + delta[name]
    calls = delta.get("tool_calls")
    for call in map(mapping, calls if isinstance(calls, list) else ()):
        known = message.setdefault("tool_calls", [])
        if not known or call.get("id") not in (None, "", known[-1]["id"]):
            known.append({"id": call.get("id"), "function": {"arguments": ""}})
        said = mapping(call.get("function")).get("arguments")
        known[-1]["function"]["arguments"] += said if isinstance(said, str) else ""
