"""The range of a score is that of all users of the data, whoever was drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import pytest

from benchmarks.promises import settings_of
from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.oracles import (
    Score,
    at_least,
    at_most,
    decreases,
    increases,
    monotone,
)
from pytest_recsys_mt.relations import add_spaces
from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.support.calls import AnswerCache, Executor, subject
from tests.support.engine import Case, Runner, Side, Split
from tests.support.oracles_scores import SCORES, SCORES_AT, score_named
from tests.support.requests import Design

HEAVY, LIGHT, LONG, SHORT = 6, 400, 80, 4
DESIGN = Design(users=60, candidates=12, k=5, history=50)


def _data() -> Dataset:
    """A few users with many items, who are seldom drawn, and many with few."""
    rng = np.random.default_rng(0)
    items = {
        f"i{at}": Item(f"i{at}", f"Film {at}", 1990, {"genres": ["Drama"]})
        for at in range(120)
    }
    rows = [
        (f"u{user}", f"i{item}", 1.0 + int(rng.integers(5)), at)
        for user in range(HEAVY + LIGHT)
        for at, item in enumerate(
            rng.choice(120, LONG if user < HEAVY else SHORT, replace=False),
        )
    ]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return Dataset(
        "few heavy users",
        items,
        frame.sort_values(["user", "timestamp", "item"]),
        Scale(1, 5),
    )


DATA = _data()


class First:
    """Recommends the first candidates."""

    deterministic = True

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        return [
            Recommendation(tuple(item.id for item in (each.candidates or ())[: each.k]))
            for each in requests
        ]


Sides = tuple[Side, Side, Split]
Run = Callable[[int], Sides]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Both sides of a run with a seed, and its data; no heavy user was drawn."""
    path = tmp_path_factory.mktemp("spans")
    cache = AnswerCache(path)

    def made(seed: int) -> Sides:
        split = Split(DATA, seed)
        asked = subject(First(), "first", "person")
        executor = Executor(cache, "auto", "run")
        runner = Runner(asked, split, DESIGN, settings_of(DESIGN, seed, path), executor)
        context = runner.context(lambda verdict: verdict)
        return Side(runner, context), Side(runner, context, [add_spaces(1)], 1), split

    yield made
    cache.close()


@pytest.fixture(scope="module")
def unlucky(run: Run) -> Sides:
    for seed in range(100):
        sides = run(seed)
        if not {f"u{user}" for user in range(HEAVY)} & set(sides[2].users(DESIGN)):
            return sides
    raise AssertionError("every sample has a heavy user")


@pytest.fixture(scope="module")
def everyone(unlucky: Sides) -> list[Case]:
    """Every user of the data, drawn or not."""
    return list(unlucky[2].everyone(DESIGN))


NAMES = [*SCORES, *SCORES_AT, "ndcg@3", "hit@3", "mrr@3"]


def own(answer: Recommendation, asked: Asked, context: Context) -> tuple[float, int]:
    return float(len(asked.past)), 0


OWN = [
    Score("past", own, span=lambda asked, context: (0, len(asked.past))),
    Score(
        "shown",
        own,
        span=lambda asked, context: (0.0, float(len(asked.request.history)) + 200),
    ),
]


@pytest.mark.parametrize(
    "score",
    [*NAMES, *OWN],
    ids=lambda each: getattr(each, "name", each),
)
def test_it_holds_for_users_who_were_not_drawn(
    score: str | Score,
    unlucky: Sides,
    everyone: list[Case],
) -> None:
    source, followup, _ = unlucky
    named = score_named(score)
    spans = [
        named.span_for(
            Asked(case.request, (), case.held_out, case.past),
            source.context,
        )
        for case in everyone
    ]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    assert len(spans) == HEAVY + LIGHT
    one_sided = [
        at_least(source, score, (low + high) / 2),
        at_most(source, score, (low + high) / 2),
    ]
    two_sided: list[Verdict] = [
        increases(source, followup, score),
        decreases(source, followup, score),
        monotone([source, followup], score),
    ]
    for verdict in one_sided:
        assert verdict.reach is None or (
            verdict.reach[0] <= low and verdict.reach[1] >= high
        )
    for verdict in two_sided:
        assert verdict.reach is None or verdict.reach[1] - verdict.reach[0] >= 2 * (
            high - low
        )
    assert (
        any(verdict.reach for verdict in (*one_sided, *two_sided))
        or not one_sided[0].users
    )


def test_a_mean_that_few_users_carry_is_never_said_to_be_small(run: Run) -> None:
    """The mean of all users is beyond the threshold, but
    in most samples nobody shows it.
    """
    score = Score(
        "past",
        own,
        span=lambda asked, context: (0.0, float(len(asked.past))),
    )
    everyone = [len(case.past) for case in run(0)[2].everyone(DESIGN)]
    threshold = SHORT - 1 + 0.1
    assert np.mean(everyone) > threshold
    claims = [at_most(run(seed)[0], score, threshold).status for seed in range(10)]
    assert claims.count("holds") <= 1


@pytest.mark.parametrize("span", [(1, 0), (0,), None, lambda asked, context: 3, "01"])
def test_a_span_that_is_none_is_named(span: object, run: Run) -> None:
    with pytest.raises(OracleError, match=r"past: the span is .*must be the smallest"):
        at_most(run(0)[0], Score("past", own, span=span), 1.0)  # type: ignore[arg-type]


def test_a_user_who_was_not_drawn_and_cannot_be_asked_ends_no_run(
    unlucky: Sides,
) -> None:
    """Heavy users have 80 of 120 items, so no 60 candidates are left for them."""
    _, _, split = unlucky
    many = dataclasses.replace(DESIGN, candidates=60)
    assert {len(case.past) for case in split.everyone(many)} == {SHORT - 1}
    assert len(list(split.everyone(many))) == LIGHT
