"""The smallest counterexample, as plain data and as two columns of text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from pytest_recsys_mt.report.asked import asked
from pytest_recsys_mt.report.changes import the_catalogue
from pytest_recsys_mt.requests import Request

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample

NOTHING = "(nothing)"


def plain(found: Counterexample) -> dict[str, object]:
    """The counterexample as plain data, for the record."""
    example, followup = found.example, found.followup
    return {
        "user": example.user,
        "effect": found.effect,
        "score": example.score,
        "calls": found.calls,
        "minimal": found.minimal,
        **asked(found.source, followup, example),
    }


def side_by_side(found: Counterexample) -> list[str]:
    """The counterexample as lines of text: both requests and answers, left and right."""
    whole, source, followup = found.whole, found.source, found.followup
    size = f"{len(source.history)} of {len(whole.history)} history items"
    if whole.candidates is not None and source.candidates is not None:
        size += f", {len(source.candidates)} of {len(whole.candidates)} candidates"
    ended = "nothing more can be left out" if found.minimal else "the calls ran out"
    lines = [
        f"smallest counterexample: user {found.example.user}, {size}; effect {found.effect:.4f}",
        f"({ended}; {found.calls} calls)",
    ]
    left = dict(_parts(source, found.example.source or found.example.followup))
    right = {} if followup is None else dict(_parts(followup, found.example.followup))
    rows = [("", "source", "follow-up" if right else "")]
    for name, texts in left.items():
        others = right.get(name, [])
        if name in ("user", "instruction", "edits", "attributes") and (
            not right or texts == others
        ):
            continue
        labels = [name] + [""] * (max(len(texts), len(others)) - 1)
        rows += zip_longest(labels, texts, others, fillvalue="")
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines += [
        f"  {label:<{widths[0]}}  {one:<{widths[1]}}  {two}".rstrip() for label, one, two in rows
    ]
    return lines


def _parts(request: Request, answer: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Every part of a request, and its answer, by name, as lines of text."""
    yield "user", [request.user]
    yield "history", [f"{each.item.label}: {each.value:g}" for each in request.history] or [NOTHING]
    yield "scale", [f"{request.scale.low:g} to {request.scale.high:g}"]
    offered = request.candidates
    yield (
        "candidates",
        [the_catalogue(len(request.seen))] if offered is None else [item.label for item in offered],
    )
    yield "k", [str(request.k)]
    yield "instruction", [request.instruction or NOTHING]
    yield "edits", [repr(edit) for edit in request.edits] or [NOTHING]
    yield (
        "attributes",
        [f"{key}: {value}" for key, value in request.attributes.items()] or [NOTHING],
    )
    yield "answer", list(answer) or [NOTHING]
