"""Which stage of a recommender loses the items that its lists lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pytest_recsys_mt.parity.asking import answers_of
from pytest_recsys_mt.parity.probes import Differing

MOST_USERS = 20
"""Users whose lists differ, of whom each stage is asked."""

NO_STAGE = ""


def common_stages(both: tuple[Any, Any]) -> tuple[str, ...]:
    """The stages that both recommenders show, if they show the same."""
    ours, theirs = (each.runner.subject.stages for each in both)
    return ours if ours == theirs else ()


def lost_by_stages(
    both: tuple[Any, Any],
    recommenders: Callable[[str], Any],
    differing: Sequence[Differing],
) -> str:
    """A sentence on the stages of the second recommender that lose items which the first
    one shows; empty if they do not show the same stages.

    An item is lost by the first stage that lacks it in the second recommender and has it
    in the first one.

    Args:
        both: The fixtures of both.
        recommenders: Makes the fixture of a spec.
        differing: The users whose lists differ.
    """
    stages = common_stages(both)
    asked = differing[:MOST_USERS]
    if not stages or not asked:
        return ""
    requests = [each.request for each in asked]
    lists: list[list[list[set[str] | None]]] = [[], []]
    for side, each in zip(lists, both, strict=True):
        for stage in stages:
            staged = recommenders(_spec_of(each.model, stage))
            answers = answers_of(staged, requests, "control")
            side.append(
                [None if one.items is None else set(one.items) for one in answers],
            )
    lost: Counter[str] = Counter()
    unanswered = 0
    for place, one in enumerate(asked):
        ours, theirs = ([of_stage[place] for of_stage in side] for side in lists)
        if None in ours or None in theirs:
            unanswered += 1
            continue
        for item in set(one.lists[0]).difference(one.lists[1]):
            lost[_losing(item, stages, ours, theirs)] += 1
    return _sentence(both[1].model, lost, stages, len(asked), unanswered)


def _spec_of(model: str, stage: str) -> str:
    return f"{model}{'&' if '?' in model else '?'}stage={stage}"


def _losing(
    item: str,
    stages: Sequence[str],
    ours: Sequence[set[str] | None],
    theirs: Sequence[set[str] | None],
) -> str:
    """The first stage that loses an item on the second side alone."""
    for stage, kept, left in zip(stages, ours, theirs, strict=True):
        if item in (kept or ()) and item not in (left or ()):
            return stage
    return NO_STAGE


def _sentence(
    model: str,
    lost: Counter[str],
    stages: Sequence[str],
    users: int,
    unanswered: int,
) -> str:
    missing = (
        f" (users of whom a stage gave no answer, left out: {unanswered})"
        if unanswered
        else ""
    )
    if not lost:
        return (
            f"No stage of {model} loses an item: its lists hold the same ones{missing}."
        )
    parts = [f"{lost[stage]} by {stage!r}" for stage in stages if lost[stage]]
    if lost[NO_STAGE]:
        parts.append(f"{lost[NO_STAGE]} by none that the other side keeps them in")
    return (
        f"The lists of {model} lack {lost.total()} items of the other side for {users} users; its stages lose "
        f"{', '.join(parts)}{missing}."
    )
