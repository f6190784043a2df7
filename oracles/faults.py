"""Faults within one answer: repeated items, items not offered, missing places."""

from collections.abc import Callable, Collection
from dataclasses import replace
from math import comb

import numpy as np

from pytest_recsys_mt.oracles.arguments import share, whole
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.difference import require_answer, scored
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.hidden import with_hidden
from pytest_recsys_mt.oracles.judging.judge import judge_sample
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.scores.short_lists import short_list
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Sample, offer_of
from pytest_recsys_mt.verdict.verdict import Verdict

__all__ = ["complete_list", "no_repeats", "only_candidates"]


def no_repeats(
    answers: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    k: int | None = None,
) -> Verdict:
    """No answer may name an item twice.

    Example:
        assert no_repeats(recsys.run(), margin=0.05)

    Args:
        answers: Answers of either side.
        margin: The largest share of users with a faulty answer, in (0, 1).
        slices: Groups of users to judge too; as in `same_ranking`.
        k: How many answers to one question must all be sound (pass^k,
            https://arxiv.org/abs/2406.12045), up to ``--recsys-replicates``. A user
            with c sound answers of n then counts with 1 - C(c, k) / C(n, k), which is
            unbiased, and the verdict reports pass^1 and pass^k. By default k is n.

    Returns:
        ``holds`` if the share of users with the fault in any answer is below the
        margin, ``violated`` if it is above.
    """
    repeats = lambda answer, asked, offer: len(set(answer.items)) < len(answer.items)
    return _judge(
        "no_repeats",
        answers,
        margin,
        slices,
        k,
        faulty=repeats,
        fault="an item named twice",
    )


def only_candidates(
    answers: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    k: int | None = None,
) -> Verdict:
    """No answer may name an item that was not offered.

    The offer is the candidates of the request. Without candidates, it is the catalogue
    minus the items that the user is known to have. So items already seen and invented
    titles are faults, except for items that a text model could not know, because the
    prompt does not show them.

    Arguments and verdict are as in `no_repeats`.

    Example:
        assert only_candidates(recsys.run(), margin=0.05)
    """
    strays = lambda answer, asked, offer: any(
        item not in offer and item not in asked.hidden for item in answer.items
    )
    fault = "an item that was not offered"
    return _judge(
        "only_candidates",
        answers,
        margin,
        slices,
        k,
        faulty=strays,
        fault=fault,
    )


def complete_list(
    answers: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
    k: int | None = None,
) -> Verdict:
    """Every answer must name k different items, or all offered items if there are fewer
    than k.

    Arguments and verdict are as in `no_repeats`.

    Example:
        assert complete_list(recsys.run(), margin=0.05)
    """
    short = lambda answer, asked, offer: short_list(
        answer.items,
        min(asked.request.k, len(offer)),
    )
    fault = "too few items"
    return _judge(
        "complete_list",
        answers,
        margin,
        slices,
        k,
        faulty=short,
        fault=fault,
        silence_counts=True,
    )


def _judge(
    oracle: str,
    answers: Answers,
    margin: float,
    slices: Slices | None,
    k: int | None,
    *,
    faulty: Callable[[Recommendation, Asked, Collection[str]], bool],
    fault: str,
    silence_counts: bool = False,
) -> Verdict:
    def measure(sample: Sample, context: Context) -> Effects:
        def fault_and_place(asked: Asked) -> tuple[float, int, float]:
            # Users without any answer can only be too short.
            if not silence_counts:
                require_answer(asked)
            offer = offer_of(asked, context.items)
            answers = asked.answers
            faults = [
                i for i, answer in enumerate(answers) if faulty(answer, asked, offer)
            ]
            drawn = len(answers) if k is None or context.deterministic else k
            if drawn > len(answers):
                raise OracleError(
                    f"{oracle}: k={k!r} needs {k} answers to each question, and there are {len(answers)}; ask "
                    f"with --recsys-replicates={k}",
                )
            sound = len(answers) - len(faults)
            broken = 1 - comb(sound, drawn) / comb(len(answers), drawn)
            return broken, faults[0] if faults else 0, sound / len(answers)

        effects, (broken, shown, sound) = scored(fault_and_place, sample.asked, width=3)
        passed = (
            f"pass^1 {sound.mean():.3f}, pass^{k} {1 - broken.mean():.3f}"
            if len(sound)
            else ""
        )
        note = passed if k is not None else ""
        effects = replace(effects, shown=shown.astype(np.intp), note=note)
        return with_hidden(effects, oracle, sample.asked)

    named = oracle if k is None else f"{oracle}:{whole(oracle, 'k', k, 1)}"
    what = (
        f"users with {fault}"
        if k is None
        else f"sets of {k} answers in which one has {fault}"
    )
    most = share(oracle, "margin", margin)
    claim = Claim(named, "at most", most, measures=f"share of {what}", slices=slices)
    return judge_sample(answers, claim, measure)
