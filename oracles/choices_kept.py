"""A change to multiple-choice questions must not change the answers."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np

from pytest_recsys_mt.oracles.arguments import finite, not_negative
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.multiple_choice import (
    begun,
    judged,
    paired,
    unknown,
)
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.verdict.answers import Choices, Context
from pytest_recsys_mt.verdict.verdict import Example, Verdict

__all__ = ["accuracy_kept", "relative_change", "same_choices"]


def accuracy_kept(
    source: Choices,
    followup: Choices,
    context: Context,
    margin: float,
    *,
    details: Mapping[str, object] | None = None,
) -> Verdict:
    """The change may lower the accuracy by at most the margin, question by question.

    Arguments are those of `better_than_chance` for both sides, whose questions have the
    same names, but `margin` is the largest allowed loss of accuracy; a negative margin
    demands a gain.

    Example:
        assert accuracy_kept(replies.choices, changed.choices, recsys.context, margin=0.05)

    Returns:
        A verdict whose `estimate` is the mean loss (source minus follow-up, a right
        answer counts 1): ``holds`` if its upper bound is within the margin,
        ``violated`` if its lower one is not. The ``figures`` give both accuracies, the
        share of questions answered differently, and the change relative to the accuracy
        of the source.
    """
    finite("accuracy_kept", "margin", margin)
    pairs = paired("accuracy_kept", source, followup)
    found, done = begun(
        "accuracy_kept",
        context,
        source,
        followup,
        details=details,
        column=False,
    )
    if done:
        return found
    hits = _hits(source, followup, pairs)
    before, after = hits.mean(axis=0).tolist()
    places, unknown_reason = unknown(source, followup)
    known = [one not in places for one, _ in pairs]
    loss = (hits[:, 0] - hits[:, 1])[known]
    read = list(compress(pairs, known))
    order = [one for one, _ in read]
    names = [source.questions[one] for one in order]
    return judged(
        found,
        Bets(loss, -1.0, 1.0, [bisect(order, place) for place in places]),
        "at most",
        margin,
        context,
        details={"figures": _figures(source, followup, pairs, before, after)},
        estimate=before - after,
        measures="loss of accuracy",
        users=len(read),
        reason=unknown_reason,
        examples=_examples(source, followup, read),
        per_user=dict(zip(names, loss.tolist(), strict=True)),
        reach=(-1.0, 1.0),
    )


def _hits(
    source: Choices,
    followup: Choices,
    pairs: Sequence[tuple[int, int]],
) -> Floats:
    """Whether the answers to each question are right, ``(n, 2)``."""
    hits = [(source.hits[one], followup.hits[other]) for one, other in pairs]
    return np.array(hits, np.float64)


def _figures(
    source: Choices,
    followup: Choices,
    pairs: Sequence[tuple[int, int]],
    before: float,
    after: float,
) -> dict[str, float | None]:
    """Both accuracies, their change, and how many questions were answered otherwise or
    missed.
    """
    otherwise = [source.said[one] != followup.said[other] for one, other in pairs]
    return {
        "source_accuracy": before,
        "followup_accuracy": after,
        "relative_change": relative_change(before, after),
        "answered_otherwise": float(np.mean(otherwise)),
        "followup_missed": followup.missed,
    }


def same_choices(
    source: Choices,
    followups: Sequence[Choices],
    context: Context,
    limit: float,
    *,
    details: Mapping[str, object] | None = None,
) -> Verdict:
    """The text of the chosen option must stay the same in all forms of a question.

    Arguments are those of `accuracy_kept`, but `followups` are one or more other forms,
    and `limit` is the largest allowed share of questions whose choice differs between
    forms, in [0, 1).

    Example:
        assert same_choices(replies.choices, [changed.choices], recsys.context, limit=0.1)

    Returns:
        A verdict whose `value` is that share among the questions of which all choices
        were read, with exact bounds. The ``figures`` give the accuracies in percent,
        their mean and their variance (over the forms without the source, divisor n - 1;
        table 6 of the paper has both, the variance of the shares times 100). The
        examples show questions whose answer changed.
    """
    not_negative("same_choices", "limit", limit)
    sides = (source, *followups)
    found, done = begun("same_choices", context, *sides, details=details, column=False)
    if done:
        return found
    places = [dict(paired("same_choices", source, each)) for each in followups]
    unclear, unknown_reason = unknown(source, *followups)
    common = sorted(set.intersection(*map(set, places)).difference(unclear))

    changed = [
        place for place in common if _is_changed(place, source, followups, places)
    ]
    figures = {**_accuracies(followups), "questions_changed": len(changed)}
    first = places[0]
    mean = Rate(len(changed), len(common), len(unclear))
    return judged(
        found,
        mean,
        "at most",
        limit,
        context,
        details={"figures": figures},
        relation=followups[0].label,
        metric="changed",
        value=mean.estimate if common else None,
        measures="share of questions answered differently",
        users=len(common),
        reason=unknown_reason,
        examples=_examples(
            source,
            followups[0],
            [(place, first[place]) for place in changed],
        ),
        per_user={source.questions[place]: float(place in changed) for place in common},
        reach=(0.0, 1.0),
    )


def _is_changed(
    place: int,
    source: Choices,
    followups: Sequence[Choices],
    places: Sequence[Mapping[int, int]],
) -> bool:
    """Whether any form of the question at that place of the source was answered
    otherwise; `places` has where each form has it, by the place in the source.
    """
    of_forms = zip(followups, places, strict=True)
    return any(form.said[at[place]] != source.said[place] for form, at in of_forms)


def _accuracies(forms: Sequence[Choices]) -> dict[str, float | str | None]:
    """The accuracies of some forms in percent, their mean and
    their variance with the divisor n - 1.
    """
    accuracies = [100 * each.accuracy for each in forms]
    return {
        "mean_accuracy_percent": float(np.mean(accuracies)),
        "variance_percent": float(np.var(accuracies, ddof=1))
        if len(accuracies) > 1
        else None,
        "accuracies_percent": ", ".join(f"{each:.2f}" for each in accuracies),
    }


def relative_change(source: float, followup: float) -> float | None:
    """The change of a value relative to the source.

    Both are finite, and in one unit, for example accuracies.

    Example:
        >>> round(relative_change(source=0.5, followup=0.45), 2)
        -0.1

    Returns:
        ``(followup - source) / source``, -0.1 for a tenth less; None if the source is
        0. The percentages in the text of the LRWorld paper divide by the follow-up
        instead.
    """
    finite("relative_change", "source", source)
    finite("relative_change", "followup", followup)
    return None if source == 0 else (followup - source) / source


def _examples(
    source: Choices,
    followup: Choices,
    pairs: Sequence[tuple[int, int]],
) -> tuple[Example, ...]:
    found = [
        (followup.hits[other] - source.hits[one], one, other)
        for one, other in pairs
        if source.said[one] != followup.said[other]
    ]
    return tuple(
        Example(
            source.questions[one],
            (source.said[one] or "missed",),
            (followup.said[other] or "missed",),
            0.0,
        )
        for _, one, other in sorted(found)[:5]
    )
