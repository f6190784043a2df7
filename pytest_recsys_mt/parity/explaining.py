"""Adds to a violated verdict on two recommenders what would explain it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_recsys_mt.parity.asking import answers_of
from pytest_recsys_mt.parity.probes import (
    STAGES,
    Ask,
    Differing,
    explanation,
    guesses_for,
)
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import SHARED, Verdict, annotate

NO_CAUSE = (
    "No changed request that was tried explains what differs (a shorter history, other ratings, attributes, times or "
    "candidates), as far as the limits of the run allowed to try them."
)

CAUSE = "cause"
"""The detail of a verdict that holds the explanation."""


def explained(
    verdict: Verdict,
    both: tuple[Any, Any],
    sides: tuple[Answers, Answers],
) -> Verdict:
    """The verdict; if it is violated, and both recommenders are deterministic, with the
    changed request that would explain it.

    Args:
        verdict: On the answers of both.
        both: The fixtures `recsys` and `recsys_against`.
        sides: What they answered.
    """
    if not all(each.deterministic for each in both):
        return verdict
    if both[0].runner.settings.plan:
        _plan(both, sides)
        return verdict
    if verdict.status != "violated":
        return verdict
    differing = list(_differing(sides))
    asks = (_ask_of(both[0]), _ask_of(both[1]))
    found = explanation(differing, asks, both[0].dataset.thing)
    shared = dict(verdict.details.get(SHARED, {}))
    if found is None:
        shared["text"] = " ".join(filter(None, (shared.get("text", ""), NO_CAUSE)))
        return annotate(verdict, **{SHARED: shared})
    sentence = found.sentence((both[0].model, both[1].model))
    shared["text"] = " ".join(filter(None, (sentence, shared.get("text", ""))))
    cause = {"words": found.words, "explained": found.explained, "tried": found.tried}
    return annotate(verdict, **{SHARED: shared, CAUSE: cause})


def _differing(sides: tuple[Answers, Answers]) -> Iterator[Differing]:
    """The users whose lists differ, in the order of asking."""
    pairs = sides[0].pair(sides[1])
    for ours, theirs in zip(pairs.source, pairs.followup, strict=True):
        lists = (ours.answers[0].items, theirs.answers[0].items)
        if lists[0] != lists[1]:
            yield Differing(ours.request, lists)


def _ask_of(recsys: Any) -> Ask:
    """Sends requests to a recommender, as calls that show what is read."""

    def ask(requests: Sequence[Request]) -> list[Sequence[str] | None]:
        return [each.items for each in answers_of(recsys, requests, "control")]

    return ask


def _plan(both: tuple[Any, Any], sides: tuple[Answers, Answers]) -> None:
    """Count the calls that would look for an explanation."""
    requests = [each.request for each in sides[0].sample().asked]
    guesses = len(list(guesses_for(requests, both[0].dataset.thing)))
    for each in both:
        each.runner.plan_again(guesses * STAGES[0] + sum(STAGES), "an explanation")
