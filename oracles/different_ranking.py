"""The ranking must change."""

import dataclasses
from functools import lru_cache, partial

import numpy as np

from pytest_recsys_mt.oracles.arguments import two_sides_that_may_differ
from pytest_recsys_mt.oracles.judging.difference import judge_agreement
from pytest_recsys_mt.oracles.judging.effect import Effects, similarity_effects
from pytest_recsys_mt.oracles.judging.encoding import open_to_both
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import Similarity
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs, offer_of
from pytest_recsys_mt.verdict.verdict import Verdict

_DRAWS = 2_000
_MANY = 400  # with more items on offer random orders agree hardly at all
_MOST = 2 / 3
"""More is not counted as agreement by chance: where all that is
offered is listed, it would leave nothing.
"""


def different_ranking(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """Source and follow-up must differ by more than the recommender's own noise and the
    margin.

    This is the promise of a change that matters, such as another user's history. A
    recommender that gives all users the same answer breaks it.

    Noise leaves less to differ by. Two answers to one request agree by B on average,
    and two random orders of the same offer by U. So a recommender with noise must
    differ by the share ``(B - U) / (1 - U)`` of the margin: the effect of a user is ``D
    + margin (1 - B) / (1 - U)``, which is D without noise.

    A request without candidates offers the catalogue minus the items that the user is
    known to have. If only one side may name an item for this reason, the item is left
    out of that side's answers. Both sides are compared to the same depth. A difference
    in the offer is not a difference in taste.

    Arguments are those of `same_ranking`, but `margin` is the smallest mean loss of
    agreement.

    Example:
        assert different_ranking(recsys.run(), recsys.run(swap_history), margin=0.05)

    Returns:
        ``holds`` if the mean loss is above the margin, ``violated`` if it is below.

    Raises:
        NotApplicable: If the recommender declares that it does not read what is
            changed.
    """
    two_sides_that_may_differ("different_ranking", source, followup)
    return judge_agreement(
        "different_ranking",
        source,
        followup,
        similarity,
        margin,
        slices=slices,
        promise="at least",
        measures="difference between the answers beyond noise",
        effects=partial(_effects, margin=margin),
    )


def _effects(
    pairs: Pairs,
    context: Context,
    similarity: Similarity,
    *,
    margin: float,
) -> Effects:
    effects = similarity_effects(open_to_both(pairs), context, similarity)
    if context.deterministic or effects.floor is None or not len(effects.rows):
        return effects
    asked = [pairs.source[row] for row in effects.rows]
    offers = [
        len(offer_of(each, context.items)) or _MANY for each in asked
    ]  # without a catalogue: many
    by_chance = np.array(
        [
            chance_agreement(similarity, min(offer, _MANY), min(offer, each.request.k))
            for offer, each in zip(offers, asked, strict=True)
        ],
    )
    hidden = margin * (1 - effects.floor) / (1 - by_chance)
    low, high = effects.reach
    # D is at most B, and a weighted mean of 1 and of this factor is no larger than the
    # larger one.
    most = margin / (1 - _MOST)
    return dataclasses.replace(
        effects,
        effect=effects.effect + hidden,
        reach=(low, max(high, most)),
        # Half of what noise leaves: no difference is expected to be twice as large as
        # it must be.
        room=max(0.0, margin - float(hidden.mean())) / 2,
    )


@lru_cache(maxsize=1024)
def chance_agreement(similarity: Similarity, offer: int, k: int) -> float:
    """How far two random orders of the same items agree on average, of which the first
    k are compared.

    Example:
        >>> round(chance_agreement(overlap, offer=20, k=10), 1)
        0.5
    """
    rng = np.random.default_rng(0)
    offers = np.tile(np.arange(1, offer + 1, dtype=np.int32), (_DRAWS, 1))
    a, b = (rng.permuted(offers, axis=1)[:, : max(1, k)] for _ in range(2))
    return min(_MOST, float(np.nanmean(similarity(a, b))))
