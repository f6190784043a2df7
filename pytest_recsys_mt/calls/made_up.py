"""Answers that are made up, for a plan: of the right form, and different for different calls."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.requests import Item, Request

MARK = "made up for a plan, "
"""Start of each made-up text, so that a prompt that quotes it can be recognised."""


def made_up(call: Call, deterministic: bool, catalogue: Sequence[Item]) -> Answer:
    """A valid answer to a call; if `deterministic`, the same for all replicates of a question."""
    asked = {**call.content, "replicate": 0, "seed": 0, "repeat": False} if deterministic else None
    draw = random.Random(repr(asked) if asked else call.key)
    request, prompt = call.request, call.prompt
    if request is not None:
        items = _items(request, catalogue, draw)
        return {"items": [item.id for item in items]}
    if prompt is not None and prompt.choices:
        return {"text": draw.choice(prompt.choices), "finish_reason": "stop"}
    if prompt is not None and prompt.schema is not None:
        return {"text": json.dumps(_instance(prompt.schema, draw)), "finish_reason": "stop"}
    return {"text": f"{MARK}{call.key[:12]}", "finish_reason": "stop"}


def _items(request: Request, catalogue: Sequence[Item], draw: random.Random) -> list[Item]:
    offered = request.candidates
    if offered is None:
        known = request.known.union(request.seen)
        offered = tuple(item for item in catalogue if item.id not in known)
    return draw.sample(offered, min(request.k, len(offered)))


def _instance(schema: Mapping[str, Any], draw: random.Random) -> Any:
    """A value of a JSON schema, as far as prompts of this package use it."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _instance(field, draw) for name, field in fields.items()}
    if kind == "array":
        return [_instance(schema.get("items", {}), draw)]
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return draw.randint(int(low), int(high)) if kind == "integer" else draw.uniform(low, high)
    return draw.random() < 0.5 if kind == "boolean" else MARK
