"""A model is compared with a baseline question by
question, and with a declared error rate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import better_than_baseline
from pytest_recsys_mt.verdict.answers import Choices, Context

CONTEXT = Context()


def choices(hits: list[bool | None]) -> Choices:
    """None is a missed answer."""
    names = tuple(f"q{number}" for number in range(len(hits)))
    chosen = tuple(None if hit is None else int(not hit) for hit in hits)
    said = tuple(None if place is None else f"text {place}" for place in chosen)
    return Choices(
        names,
        (0,) * len(hits),
        chosen,
        said,
        4,
        unread=("?",) * hits.count(None),
    )


def baseline(values: list[float]) -> dict[str, float]:
    return {f"q{number}": value for number, value in enumerate(values)}


def test_who_is_right_where_popularity_is_wrong_is_better() -> None:
    verdict = better_than_baseline(
        choices([True] * 100),
        baseline([1.0] * 50 + [0.0] * 50),
        CONTEXT,
        "popularity",
    )
    assert (verdict.status, verdict.estimate) == ("holds", 0.5)
    assert verdict.details["figures"] == {
        "accuracy": 1.0,
        "accuracy_of_popularity": 0.5,
        "only_the_model_is_right": 50,
        "only_the_baseline_is_right": 0,
    }


def test_who_answers_as_popularity_does_is_not_better() -> None:
    rng = np.random.default_rng(0)
    hits = [bool(hit) for hit in rng.random(400) < 0.8]
    verdict = better_than_baseline(
        choices(list(hits)),
        baseline([float(hit) for hit in hits]),
        CONTEXT,
        "popularity",
    )
    assert (verdict.status, verdict.estimate) == ("inconclusive", 0.0)
    worse = better_than_baseline(
        choices([False] * 100),
        baseline([1.0] * 100),
        CONTEXT,
        "popularity",
    )
    assert worse.status == "violated"


def test_answers_that_were_not_read_accuse_nobody() -> None:
    verdict = better_than_baseline(
        choices([None] * 60 + [True] * 40),
        baseline([0.9] * 100),
        CONTEXT,
        "popularity",
    )
    assert verdict.status == "inconclusive"
    assert "no option was read in 60.0% of the answers" in verdict.reason


def test_no_better_model_passes_more_often_than_declared() -> None:
    rng = np.random.default_rng(7)
    passed = 0
    for _ in range(400):
        hits = [bool(hit) for hit in rng.random(60) < 0.7]
        theirs = [float(hit) for hit in rng.random(60) < 0.7]
        verdict = better_than_baseline(
            choices(list(hits)),
            baseline(theirs),
            CONTEXT,
            "popularity",
        )
        passed += verdict.status == "holds"
    assert passed <= 400 * 0.05


def test_wrong_arguments_are_named() -> None:
    side = choices([True] * 10)
    with pytest.raises(
        OracleError,
        match=r"'popularity' has no value for 9 questions, the first",
    ):
        better_than_baseline(side, {"q0": 1.0}, CONTEXT, "popularity")
    with pytest.raises(OracleError, match=r"must lie in \[0, 1\], got 2.0"):
        better_than_baseline(side, baseline([2.0] * 10), CONTEXT, "popularity")
    with pytest.raises(OracleError, match=r"margin must lie in \[-1, 1\), got 1"):
        better_than_baseline(
            side,
            baseline([0.5] * 10),
            CONTEXT,
            "popularity",
            margin=1,
        )
    nobody = replace(side, questions=(), right=(), chosen=(), said=())
    assert (
        better_than_baseline(nobody, {}, CONTEXT, "popularity").status
        == "not-applicable"
    )
