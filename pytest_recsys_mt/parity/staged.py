"""Which stage of a recommender loses the items that its lists lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pytest_recsys_mt.parity.asking import Answered, answers_of
from pytest_recsys_mt.parity.probes import Differing

MOST_USERS = 20
"""Users whose lists differ, of whom each stage is asked."""

AFTER = "after the last stage"
NEITHER = "in no last stage"
"""What loses an item, if no stage does: the second side after its last stage, or neither
side shows it in its last stage.
"""

Lists = Sequence[Sequence[Answered]]
"""The answers of each stage, one for each user."""


def common_stages(both: tuple[Any, Any]) -> tuple[str, ...]:
    """The stages that both recommenders show, if they show the same."""
    ours, theirs = _stages(both)
    return ours if ours == theirs else ()


def _stages(both: tuple[Any, Any]) -> tuple[tuple[str, ...], ...]:
    return tuple(each.runner.subject.stages for each in both)


def not_compared(both: tuple[Any, Any]) -> str:
    """A sentence on why stages that a recommender shows are not compared; empty if they
    are, or if neither shows any.

    Args:
        both: The fixtures of both.
    """
    stages = _stages(both)
    noisy = [each.model for each in both if not each.deterministic]
    if not any(stages) or (common_stages(both) and not noisy):
        return ""
    if noisy:
        one = "does not declare that it always answers alike"
        two = "do not declare that they always answer alike"
        why = f"{' and '.join(noisy)} {one if len(noisy) == 1 else two}"
    else:
        why = ", and ".join(
            f"{each.model} shows {', '.join(map(repr, own)) or 'none'}"
            for each, own in zip(both, stages, strict=True)
        )
    return f"Stages are not compared: {why}."


def lost_by_stages(
    both: tuple[Any, Any],
    recommenders: Callable[[str], Any],
    differing: Sequence[Differing],
) -> str:
    """Sentences on the stages of the second recommender that lose items which the first
    one shows, on stages that gave no answer, and on why stages are not compared.

    An item that the last stage of the second recommender lacks is lost by the first stage
    that lacks it there and has it in the first recommender.

    Args:
        both: The fixtures of both.
        recommenders: Makes the fixture of a spec.
        differing: The users whose lists differ.
    """
    asked = differing[:MOST_USERS]
    if not asked:
        return ""
    if why := not_compared(both):
        return why
    stages = common_stages(both)
    if not stages:
        return ""
    requests = [each.request for each in asked]
    sides: list[Lists] = [
        [
            answers_of(recommenders(_spec_of(each.model, stage)), requests, "control")
            for stage in stages
        ]
        for each in both
    ]
    lost: Counter[str] = Counter()
    answered = 0
    for place, one in enumerate(asked):
        ours, theirs = ([of_stage[place].items for of_stage in side] for side in sides)
        if None in ours or None in theirs:
            continue
        answered += 1
        for item in set(one.lists[0]).difference(one.lists[1]):
            lost[_losing(item, stages, ours, theirs)] += 1
    models = (both[0].model, both[1].model)
    sentences = [_sentence(models, lost, stages, answered)] if answered else []
    for model, side in zip(models, sides, strict=True):
        sentences.append(_unanswered(model, stages, side))
    return " ".join(filter(None, sentences))


def _spec_of(model: str, stage: str) -> str:
    return f"{model}{'&' if '?' in model else '?'}stage={stage}"


def _losing(
    item: str,
    stages: Sequence[str],
    ours: Sequence[Sequence[str] | None],
    theirs: Sequence[Sequence[str] | None],
) -> str:
    """The first stage that loses an item on the second side alone, or `AFTER`, or
    `NEITHER`.
    """
    if item in (theirs[-1] or ()):
        return AFTER
    for stage, kept, left in zip(stages, ours, theirs, strict=True):
        if item in (kept or ()) and item not in (left or ()):
            return stage
    return NEITHER


def _sentence(
    models: tuple[str, str],
    lost: Counter[str],
    stages: Sequence[str],
    users: int,
) -> str:
    """What the stages of the second model lose, of users whose stages all answer."""
    first, second = models
    if not lost:
        return f"No stage of {second} loses an item for {users} users: its lists hold the same ones."
    parts = [f"{lost[stage]} by {stage!r}" for stage in stages if lost[stage]]
    if lost[AFTER]:
        parts.append(f"{lost[AFTER]} after its last stage {stages[-1]!r}")
    if lost[NEITHER]:
        parts.append(f"{lost[NEITHER]} that the last stage of {first} lacks too")
    return (
        f"The lists of {second} lack {lost.total()} items of the other side for {users} users; it loses "
        f"{', '.join(parts)}."
    )


def _unanswered(model: str, stages: Sequence[str], answers: Lists) -> str:
    """Which stages of a model gave no answer for how many users, and the first reason;
    empty if all answered.
    """
    missing = []
    reasons = []
    for stage, of_stage in zip(stages, answers, strict=True):
        failed = [each.reason for each in of_stage if each.items is None]
        if failed:
            missing.append(f"{stage!r} for {len(failed)} of {len(of_stage)} users")
            reasons.append(failed[0])
    if not missing:
        return ""
    return f"Stages of {model} gave no answer: {', '.join(missing)}; the first reason: {reasons[0].rstrip('.')}."
