"""No answer ends a test: generated ones go through the readers, the scores and the
oracles.

To read others: ``python -m tests.llm.test_generated_answers FIRST COUNT``.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from random import Random
from statistics import fmean

import pandas as pd
import pytest

from pytest_recsys_mt import Verdict
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.oracles import (
    AGGREGATES,
    at_least,
    complete_list,
    different_ranking,
    increases,
    low_churn,
    no_repeats,
    not_worse,
    only_candidates,
    same_answer,
    same_hits,
    same_ranking,
)
from pytest_recsys_mt.requests import Completion, Recommendation, Request, Scale
from pytest_recsys_mt.suites.arena import ASPECTS
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs, Sample
from tests.llm.generated import answer
from tests.llm.world import CATALOGUE, request
from tests.lrworld.test_reading import lettered, numbered
from tests.oracles.support import FakeAnswers
from tests.support.calls import plain_completion
from tests.support.llm import LLMRecommender
from tests.support.oracles_scores import (
    METRICS,
    SCORES,
    SCORES_AT,
    score_named,
    span_of,
)
from tests.support.oracles_similarities import SIMILARITIES
from tests.support.safety import without_controls
from tests.support.suites_arena import read_appraisal, read_judgement
from tests.support.suites_lrworld import llara, read

SEEDS = range(400)
USERS = 60
REPLICATES = 2

REQUESTS = (request(), request(candidates=None))
QUESTIONS = (numbered(), lettered())


def reading() -> Callable[[int], Recommendation]:
    """Returns what is read in the answer of a seed to the request of its turn."""
    recommender = LLMRecommender(None)  # type: ignore[arg-type]
    rows = pd.DataFrame(
        [("1", "heat", 5.0, 0)],
        columns=["user", "item", "rating", "timestamp"],
    )
    recommender.fit(Dataset("films", CATALOGUE, rows, Scale()), 0)

    def read_one(seed: int) -> Recommendation:
        asked = REQUESTS[seed % 2]
        ended = "length" if seed % 3 == 0 else "stop"
        return recommender.read(
            asked,
            Completion(answer(seed, asked), finish_reason=ended),
        )

    return read_one


def check(seeds: Iterable[int]) -> Counter[str]:
    """Read answers in every way, and count those of which something was read.

    Raises:
        AssertionError: With the seed of an answer that ends a reader, or from which
            control characters come back.
    """
    read_one, found = reading(), Counter[str]()
    for seed in seeds:
        text = answer(seed, REQUESTS[seed % 2])
        try:
            recommended = read_one(seed)
            said = [f"{entry.text} {entry.item}" for entry in recommended.entries]
            assert all(
                each == without_controls(each) for each in (*said, recommended.how)
            )
            plain_completion(Completion(text))
            judgement, appraisal = (
                read_judgement(text, ASPECTS),
                read_appraisal(text, ASPECTS),
            )
            choices = [
                read(text, question, think=seed % 5 == 0, cut_off=seed % 7 == 0)
                for question in QUESTIONS
            ]
            llara(text, numbered().options)
        except Exception as error:
            raise AssertionError(
                f"the answer of seed {seed} is not read: {text[:300]!r}",
            ) from error
        found["answers"] += 1
        found["recommendations"] += not recommended.unread
        found["judgements"] += judgement.overall is not None
        found["appraisals"] += appraisal.overall is not None
        found["choices"] += any(choice is not None for choice in choices)
    return found


def test_every_reader_reads_every_answer() -> None:
    found = check(SEEDS)
    assert found["answers"] == len(SEEDS)
    assert min(found["judgements"], found["appraisals"], found["choices"]) > 5
    assert 0.4 < found["recommendations"] / len(SEEDS) < 0.9, (
        "neither all broken nor all whole"
    )


@dataclass
class Generated(FakeAnswers):
    """Answers of which nothing could be read are apart, as in a run."""

    def sample(self, users: int | None = None) -> Sample:
        asked = self.asked[:users]
        return Sample(
            tuple(each for each in asked if not each.unread),
            unread=tuple(each for each in asked if each.unread),
            order=tuple(each.user for each in asked),
        )

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        assert isinstance(followup, FakeAnswers)
        both = list(zip(self.asked, followup.asked, strict=True))[:users]
        told = [pair for pair in both if not any(side.unread for side in pair)]
        return Pairs(
            tuple(source for source, _ in told),
            tuple(other for _, other in told),
            unread=tuple(pair for pair in both if any(side.unread for side in pair)),
            order=tuple(source.user for source, _ in both),
        )


CONTEXT = Context(
    error_limit=0.99,
    missed_limit=0.99,  # or too many answers are unread or empty for a number
    items=CATALOGUE,
    popularity={item: at for at, item in enumerate(CATALOGUE)},
    users=len(CATALOGUE),
)


def side(first: int, label: str = "") -> Generated:
    """The answers of users to requests with and without
    candidates, from the seed `first` on.
    """
    read_one = reading()
    seeds = iter(range(first, first + USERS * REPLICATES * 2, 2))
    asked = []
    for user in range(USERS):
        turn = user % 2
        answers = tuple(read_one(next(seeds) + turn) for _ in range(REPLICATES))
        base: Request = REQUESTS[turn]
        relevant = frozenset({Random(user).choice(sorted(CATALOGUE))})
        past = tuple(rating.item.id for rating in base.history)
        asked.append(Asked(base.replace(user=f"u{user}"), answers, relevant, past))
    return Generated(asked, CONTEXT, label, same_seed=True)


MEASURES = [
    *SCORES,
    *(name for name in SCORES_AT if not name.endswith(":")),
    *METRICS,
    *AGGREGATES,
]


def limited(answers: Generated, measure: str) -> Verdict:
    """The verdict on a number of answers and a limit that some
    answers would keep and others would break.
    """
    if measure in AGGREGATES:
        ends = AGGREGATES[measure](measure).span
    else:
        ends = span_of(score_named(measure), answers.sample(), CONTEXT)
    return at_least(answers, measure, fmean(ends) if isfinite(ends[1]) else 1.0)


OF_ONE_SIDE: Mapping[str, Callable[[Generated], Verdict]] = {
    "complete_list": complete_list,
    "no_repeats": no_repeats,
    "only_candidates": only_candidates,
    **{name: partial(limited, measure=name) for name in MEASURES},
}

OF_BOTH: Mapping[str, Callable[[Generated, Generated], Verdict]] = {
    "same_answer": same_answer,
    "same_hits": same_hits,
    "not_worse": lambda source, followup: not_worse(source, followup, "ndcg@5"),
    "low_churn": lambda source, followup: low_churn(source, followup, beyond=0.1),
    "increases": lambda source, followup: increases(source, followup, "log_popularity"),
    "invalid": lambda source, followup: increases(source, followup, "invalid"),
    "different_ranking": different_ranking,
    **{name: partial(same_ranking, similarity=name) for name in SIMILARITIES},
}


@pytest.fixture(scope="module")
def sides() -> tuple[Generated, Generated]:
    return side(0), side(10_000, "changed")


def test_every_oracle_judges_every_answer(sides: tuple[Generated, Generated]) -> None:
    source, followup = sides
    verdicts = [judge(source) for judge in OF_ONE_SIDE.values()]
    verdicts += [judge(source, followup) for judge in OF_BOTH.values()]
    assert all(verdict.status != "error" for verdict in verdicts)


if __name__ == "__main__":
    began = time.perf_counter()
    first, count = map(int, sys.argv[1:])
    print(
        check(range(first, first + count)),
        f"{time.perf_counter() - began:.0f} seconds",
    )
