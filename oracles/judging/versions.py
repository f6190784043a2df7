"""Versions of a model: a change behind an endpoint must
not count as an effect of a relation.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.verdict.answers import Asked, Pairs

SUSPICIOUS = 0.001
"""The two sides count as answered by different mixtures of versions if the p-value of
equal mixtures is at most this.
"""


def with_versions(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with an obstacle if the model changed between source and follow-up.

    Several versions (OpenAI's ``system_fingerprint``) may serve a hosted model at once.
    Only if similar mixtures of them answered both sides, the noise floor includes their
    difference.
    """
    source = _versions(pairs.source)
    followup = _versions(pairs.followup)
    names = sorted(source.keys() | followup.keys())
    if len(names) < 2:
        return effects
    counts = [[source[name] for name in names], [followup[name] for name in names]]
    if _are_alike(counts):
        return effects.with_note(
            f"answered by {len(names)} versions of the model: {', '.join(names)}",
        )
    obstacle = (
        f"the model changed: the source by {_in_words(source)} and the follow-up by {_in_words(followup)}, "
        f"so a difference may come from the model; ask all anew with --recsys-mode=refresh"
    )
    return replace(effects, obstacle=obstacle)


def _versions(side: Sequence[Asked]) -> Counter[str]:
    """How many answers of a side each version gave."""
    answers = chain.from_iterable(asked.answers for asked in side)
    return Counter(answer.version for answer in answers if answer.version is not None)


def _in_words(answers_by_version: Mapping[str, int]) -> str:
    return ", ".join(
        f"{name} ({count})" for name, count in sorted(answers_by_version.items())
    )


def _are_alike(table: list[list[int]]) -> bool:
    """Whether the rows, the answers of each version on one
    side, may come from one mixture of versions.
    """
    counts = np.array(table)
    some_side_is_unknown = not counts.sum(axis=1).all()
    if some_side_is_unknown:
        return True
    share_no_version = not counts.min(axis=0).any()
    if share_no_version:
        return False
    # An import of scipy.stats takes long, and most models report no version.
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(counts).pvalue) > SUSPICIOUS
