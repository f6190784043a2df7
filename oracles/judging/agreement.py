"""Promises about the agreement of two sides' lists, from the arguments of their oracles to a verdict."""

from collections.abc import Callable, Collection
from functools import partial

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.claim import Claim, Promise
from pytest_recsys_mt.oracles.judging.effect import Effects, similarity_effects
from pytest_recsys_mt.oracles.judging.judge import judge_pair
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.similarities.similarity import SIMILARITIES, similarity_named
from pytest_recsys_mt.verdict import Verdict


def judge_agreement(
    name: str,
    source: Answers,
    followup: Answers,
    similarity: str,
    margin: float,
    *,
    promise: Promise = "at most",
    measures: str = "loss of agreement beyond noise",
    among: Collection[str] = tuple(SIMILARITIES),
    effects: Callable[..., Effects] = similarity_effects,
    slices: Slices | None = None,
    cap: float | None = None,
) -> Verdict:
    """Judge the mean loss of agreement, for the oracle `name`; `effects` is called like `similarity_effects`."""
    oracle = f"{name}:{similarity}"
    function = similarity_named(similarity, among)
    most = share(oracle, "margin", margin)
    if cap is not None:
        cap = share(oracle, "cap", cap)
        if cap <= most:
            raise OracleError(
                f"{oracle}: cap must be above the margin {most:g}, or no loss could break the promise; got {cap!r}"
            )
    claim = Claim(oracle, promise, most, measures=measures, slices=slices, cap=cap)
    return judge_pair(source, followup, claim, partial(effects, similarity=function))
