"""Versions of a model: a change behind an endpoint must not count as an effect of a relation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_recsys_mt.answers import Asked, Pairs
from pytest_recsys_mt.oracles.judging.effect import Effects

SUSPICIOUS = 0.001
"""The two sides count as answered by different mixtures of versions if the p-value of equal mixtures is
at most this."""


def with_versions(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with an obstacle if the model changed between source and follow-up.

    Several versions (OpenAI's ``system_fingerprint``) may serve a hosted model at once. Only if similar mixtures of them
    answered both sides, the noise floor includes their difference.
    """
    sides = [_versions(side) for side in (pairs.source, pairs.followup)]
    names = sorted(set().union(*sides))
    if len(names) < 2:
        return effects
    if _alike([[side[name] for name in names] for side in sides]):
        note = f"answered by {len(names)} versions of the model: {', '.join(names)}"
        return replace(effects, note="; ".join(filter(None, (effects.note, note))))
    told = " and ".join(
        f"the {which} by {', '.join(f'{name} ({count})' for name, count in sorted(side.items()))}"
        for which, side in zip(("source", "follow-up"), sides, strict=True)
    )
    return replace(
        effects,
        obstacle=f"the model changed: {told}, so a difference may come from the model; ask all "
        f"anew with --recsys-mode=refresh",
    )


def _versions(side: Sequence[Asked]) -> Counter[str]:
    return Counter(
        answer.version for one in side for answer in one.answers if answer.version is not None
    )


def _alike(table: list[list[int]]) -> bool:
    counts = np.array(table)
    if not counts.sum(axis=1).all():
        return True
    if not counts.min(axis=0).any():
        return False
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(counts).pvalue) > SUSPICIOUS
