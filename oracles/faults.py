"""Faults within one answer: repeated items, items not offered, missing places."""

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from pytest_recsys_mt.answers import Answers, Asked, Context, Sample
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.difference import require_answer, scored
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.judge import judge_sample
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.scores.short_lists import short_list
from pytest_recsys_mt.oracles.scores.slots import offer_of
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict import Verdict

__all__ = ["complete_list", "no_repeats", "only_candidates"]


def no_repeats(answers: Answers, margin: float = 0.05, *, slices: Slices | None = None) -> Verdict:
    """No answer may name an item twice.

    Example:
        assert no_repeats(recsys.run(), margin=0.05)

    Args:
        answers: Answers of either side.
        margin: The largest share of users with a faulty answer, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`.

    Returns:
        ``holds`` if the share of users with the fault in any answer is below the margin, ``violated`` if it
        is above.
    """
    repeats = lambda answer, asked, offer: len(set(answer.items)) < len(answer.items)
    return _judge("no_repeats", answers, margin, slices, repeats, "an item named twice")


def only_candidates(
    answers: Answers, margin: float = 0.05, *, slices: Slices | None = None
) -> Verdict:
    """No answer may name an item that was not offered.

    The offer is the candidates of the request. Without candidates, it is the catalogue minus the items that
    the user is known to have. So items already seen and invented titles are faults.

    Arguments and verdict are as in `no_repeats`.

    Example:
        assert only_candidates(recsys.run(), margin=0.05)
    """
    strays = lambda answer, asked, offer: any(item not in offer for item in answer.items)
    fault = "an item that was not offered"
    return _judge("only_candidates", answers, margin, slices, strays, fault)


def complete_list(
    answers: Answers, margin: float = 0.05, *, slices: Slices | None = None
) -> Verdict:
    """Every answer must name k different items, or all offered items if there are fewer than k.

    Arguments and verdict are as in `no_repeats`.

    Example:
        assert complete_list(recsys.run(), margin=0.05)
    """
    short = lambda answer, asked, offer: short_list(answer.items, min(asked.request.k, len(offer)))
    fault = "too few items"
    return _judge("complete_list", answers, margin, slices, short, fault, silence_counts=True)


def _judge(
    oracle: str,
    answers: Answers,
    margin: float,
    slices: Slices | None,
    faulty: Callable[[Recommendation, Asked, Collection[str]], bool],
    fault: str,
    *,
    silence_counts: bool = False,
) -> Verdict:
    def measure(sample: Sample, context: Context) -> Effects:
        def fault_and_place(asked: Asked) -> tuple[float, int]:
            # Users without any answer can only be too short.
            if not silence_counts:
                require_answer(asked)
            offer = offer_of(asked, context)
            faults = (i for i, answer in enumerate(asked.answers) if faulty(answer, asked, offer))
            first = next(faults, None)
            return (0.0, 0) if first is None else (1.0, first)

        effects, (_, shown) = scored(fault_and_place, sample.asked, width=2)
        return replace(effects, shown=shown.astype(np.intp))

    most = share(oracle, "margin", margin)
    claim = Claim(oracle, "at most", most, measures=f"share of users with {fault}", slices=slices)
    return judge_sample(answers, claim, measure)
