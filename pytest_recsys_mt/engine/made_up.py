"""Valid answers to calls that are not sent, for a plan."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.requests import Item, Prompt, Request

MARK = "made up for a plan, "
"""Start of each made-up text, so that a prompt that quotes it can be recognised."""


def quotes_an_answer(prompt: Prompt) -> bool:
    """Whether a prompt has a made-up text, so that a real run sends another prompt."""
    return any(MARK in message.content for message in prompt.messages)


def made_up(call: Call, deterministic: bool, catalogue: Sequence[Item]) -> Answer:
    """A valid answer to a call; if `deterministic`, the
    same for all replicates of a question.
    """
    if deterministic:
        question = {**call.content, "replicate": 0, "seed": 0, "repeat": False}
        number = crc32(repr(question).encode())
    else:
        number = int(call.key[:8], 16)
    draw = random.Random(number)
    if call.request is not None:
        return {"items": _drawn_items(call.request, catalogue, draw)}
    prompt = call.prompt
    if prompt is not None and prompt.choices:
        text = prompt.choices[number % len(prompt.choices)]
    elif prompt is not None and prompt.schema is not None:
        text = json.dumps(_instance(prompt.schema, draw))
    else:
        text = f"{MARK}{call.key[:12]}"
    return {"text": text, "finish_reason": "stop"}


def _drawn_items(
    request: Request,
    catalogue: Sequence[Item],
    draw: random.Random,
) -> list[str]:
    """A random answer to a request: equal lists would be fewer
    questions to a judge than real ones can be.
    """
    offered = request.candidates
    if offered is None:
        known = request.known.union(request.seen)
        offered = tuple(item for item in catalogue if item.id not in known)
    chosen = draw.sample(offered, min(request.k, len(offered)))
    return [item.id for item in chosen]


def _instance(schema: Mapping[str, Any], draw: random.Random) -> Any:
    """A random value that fits a JSON schema."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _instance(field, draw) for name, field in fields.items()}
    if kind == "array":
        return [_instance(schema.get("items", {}), draw)]
    low = schema.get("minimum", 0)
    high = schema.get("maximum", 1)
    if kind == "integer":
        return draw.randint(int(low), int(high))
    if kind == "number":
        return draw.uniform(low, high)
    if kind == "boolean":
        return draw.random() < 0.5
    return MARK
