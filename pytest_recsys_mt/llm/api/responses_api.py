"""The Responses API, as a translation of Chat Completions:
of requests to it, and of its answers.
"""

from collections.abc import Iterator, Mapping
from typing import Any


def mapping(value: object) -> Mapping[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def request(chat: Mapping[str, Any]) -> dict[str, Any]:
    """The request to `/responses` that is equivalent to a request to
    `/chat/completions`.

    There is no seed. Nothing is stored at the provider.
    """
    messages = chat["messages"]
    system = [message["content"] for message in messages if message["role"] == "system"]
    body: dict[str, Any] = {
        "model": chat["model"],
        "input": [
            _message(message) for message in messages if message["role"] != "system"
        ],
        "store": False,
    }
    if system:
        body["instructions"] = "\n\n".join(system)
    for name, value in chat.items():
        if name in ("max_tokens", "max_completion_tokens"):
            body["max_output_tokens"] = value
        elif name == "reasoning_effort":
            body["reasoning"] = {"effort": value}
        elif name == "response_format":
            body["text"] = {
                "format": {"type": value["type"], **value.get("json_schema", {})},
            }
        elif name in ("temperature", "top_p", "stream"):
            body[name] = value
    return body


def as_chat(response: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of `/responses` in the form of one of `/chat/completions`."""
    if response.get("status") == "failed":
        return {"error": response.get("error") or "no reason given"}
    parts = list(_parts(response))
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    refusals = [
        part["refusal"] for part in parts if isinstance(part.get("refusal"), str)
    ]
    message = {
        "content": "".join(texts),
        "refusal": "".join(refusals),
        "reasoning": any(
            mapping(item).get("type") == "reasoning" for item in response["output"]
        ),
    }
    reason = mapping(response.get("incomplete_details")).get("reason")
    finish = "length" if reason == "max_output_tokens" else reason or "stop"
    return {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {
            name.replace("input_", "prompt_").replace("output_", "completion_"): count
            for name, count in mapping(response.get("usage")).items()
        },
        "model": response.get("model"),
    }


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, str):
        return {"role": message["role"], "content": content}
    parts = [
        {"type": "input_text", "text": part["text"]}
        if part["type"] == "text"
        else {
            "type": "input_image",
            "image_url": part["image_url"]["url"],
            "detail": "auto",
        }
        for part in content
    ]
    return {"role": message["role"], "content": parts}


def _parts(response: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for item in response["output"]:
        if isinstance(item, Mapping) and item.get("type") == "message":
            content = item.get("content")
            yield from map(mapping, content if isinstance(content, list) else [])
