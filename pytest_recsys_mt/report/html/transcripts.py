"""The transcript of one call: what was asked, the raw answer, and how each line of it was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.report.changes import the_catalogue
from pytest_recsys_mt.report.html.lists import FAULTS, Mark, Place, alone

OFFERED = Mark("same", "was offered")

Asked = Mapping[str, Any]
"""A request and its answer as the record has them; see `report.asked`."""


@dataclass(frozen=True)
class Call:
    """One call.

    Attributes:
        text: The raw answer; None if the recommender writes no text.
        lines: Each line of the raw answer, how it was read, and the title of what was read, if any.
        answer: The answer as a list, for a recommender that writes no text.
    """

    side: str
    request: Mapping[str, Sequence[str]]
    messages: Sequence[Mapping[str, Any]]
    text: str | None
    how: str
    lines: Sequence[tuple[str, Mark, str]]
    answer: Sequence[Place]


def calls_of(source: Asked | None, followup: Asked | None) -> list[Call]:
    """The calls of both sides; of one if there is no other."""
    sides = [
        (name, asked) for name, asked in (("source", source), ("follow-up", followup)) if asked
    ]
    return [
        Call(
            side=name if len(sides) > 1 else "request",
            request=request_of(asked),
            messages=[
                {**each, "images": each.get("images") or ()} for each in asked.get("prompt") or ()
            ],
            text=asked.get("text"),
            how=asked.get("how") or "",
            lines=[
                (each["text"], FAULTS.get(each["kind"], OFFERED), each.get("title") or "")
                for each in asked.get("entries") or ()
            ],
            answer=alone(asked["answer"], asked.get("kinds") or ()),
        )
        for name, asked in sides
    ]


def request_of(asked: Asked) -> dict[str, list[str]]:
    """Every part of a request, by name, as lines of text."""
    low, high = asked["scale"]
    offered = asked["candidates"]
    attributes = asked.get("attributes") or {}
    return {
        "user": [asked["user"]],
        "history": [f"{each['title']}: {float(each['rating']):g}" for each in asked["history"]],
        "scale": [f"{low:g} to {high:g}"],
        "candidates": (
            [the_catalogue(len(asked.get("seen", ())))]
            if offered is None
            else [each["title"] for each in offered]
        ),
        "asked for": [f"{asked['k']} items"],
        "instruction": [asked["instruction"]] if asked["instruction"] else [],
        "edits": list(asked["edits"]),
        "attributes": [f"{name}: {value}" for name, value in attributes.items()],
    }
