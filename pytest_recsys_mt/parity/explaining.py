"""Adds to a violated verdict on two recommenders what would explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytest_recsys_mt.parity.asking import answers_of
from pytest_recsys_mt.parity.probes import (
    STAGES,
    Ask,
    Differing,
    explanation,
    guesses_for,
)
from pytest_recsys_mt.parity.staged import (
    MOST_USERS,
    common_stages,
    lost_by_stages,
    not_compared,
)
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import SHARED, Verdict, annotate

CAUSE = "cause"
"""The detail of a verdict that holds the explanation."""


def explained(
    verdict: Verdict,
    both: tuple[Any, Any],
    sides: tuple[Answers, Answers],
    recommenders: Callable[[str], Any],
) -> Verdict:
    """The verdict; if it is violated, and both recommenders are deterministic, with the
    changed request that would explain it, and the stages that lose items; if one is not,
    with the reason that stages are not compared.

    Args:
        verdict: On the answers of both.
        both: The fixtures `recsys` and `recsys_against`.
        sides: What they answered.
        recommenders: The fixture `recsys_recommenders`, which makes their stages.
    """
    if not all(each.deterministic for each in both):
        return _without_stages(verdict, both)
    if both[0].runner.settings.plan:
        _plan(both, sides)
        return verdict
    if verdict.status != "violated":
        return verdict
    differing = list(_differing(sides))
    thing = both[0].dataset.thing
    missing: list[Request] = []
    asks = (_ask_of(both[0], missing), _ask_of(both[1], missing))
    found = explanation(differing, asks, thing)
    shared = dict(verdict.details.get(SHARED, {}))
    lost = lost_by_stages(both, recommenders, differing)
    shared["text"] = " ".join(filter(None, (lost, shared.get("text", ""))))
    if found is None:
        guesses = len(list(guesses_for([each.request for each in differing], thing)))
        none = _no_cause(guesses, len(missing))
        shared["text"] = " ".join(filter(None, (shared.get("text", ""), none)))
        return annotate(verdict, **{SHARED: shared})
    sentence = found.sentence((both[0].model, both[1].model))
    shared["text"] = " ".join(filter(None, (sentence, shared.get("text", ""))))
    cause = {"words": found.words, "explained": found.explained, "tried": found.tried}
    return annotate(verdict, **{SHARED: shared, CAUSE: cause})


def _without_stages(verdict: Verdict, both: tuple[Any, Any]) -> Verdict:
    """The verdict; if it is violated, with the reason that stages are not compared."""
    why = not_compared(both)
    if verdict.status != "violated" or both[0].runner.settings.plan or not why:
        return verdict
    shared = dict(verdict.details.get(SHARED, {}))
    shared["text"] = " ".join(filter(None, (why, shared.get("text", ""))))
    return annotate(verdict, **{SHARED: shared})


def _no_cause(guesses: int, missing: int) -> str:
    """A sentence on a search that found nothing.

    Args:
        guesses: How many changed requests were tried.
        missing: How many answers to them are missing.
    """
    lost = f"; {missing} answers to them are missing" if missing else ""
    return (
        f"None of {guesses} changed requests explains what differs (a shorter history, other ratings, attributes, times "
        f"or candidates){lost}."
    )


def _differing(sides: tuple[Answers, Answers]) -> Iterator[Differing]:
    """The users whose lists differ, in the order of asking."""
    pairs = sides[0].pair(sides[1])
    for ours, theirs in zip(pairs.source, pairs.followup, strict=True):
        lists = (ours.answers[0].items, theirs.answers[0].items)
        if lists[0] != lists[1]:
            yield Differing(ours.request, lists)


def _ask_of(recsys: Any, missing: list[Request]) -> Ask:
    """Sends requests to a recommender, as calls that show what is read; those without
    an answer are added to `missing`.
    """

    def ask(requests: Sequence[Request]) -> list[Sequence[str] | None]:
        answers = answers_of(recsys, requests, "control")
        for request, answer in zip(requests, answers, strict=True):
            if answer.items is None:
                missing.append(request)
        return [answer.items for answer in answers]

    return ask


def _plan(both: tuple[Any, Any], sides: tuple[Answers, Answers]) -> None:
    """Count the calls that would look for an explanation."""
    requests = [each.request for each in sides[0].sample().asked]
    guesses = len(list(guesses_for(requests, both[0].dataset.thing)))
    for each in both:
        each.runner.plan_again(guesses * STAGES[0] + sum(STAGES), "an explanation")
        if stages := common_stages(both):
            each.runner.plan_again(len(stages) * MOST_USERS, "what its stages lose")
