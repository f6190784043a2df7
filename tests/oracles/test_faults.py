from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import complete_list, no_repeats, only_candidates
from pytest_recsys_mt.requests import Rating
from pytest_recsys_mt.verdict.answers import Context
from tests.oracles.support import FakeAnswers, Lists, ask, items

GOOD = [["a", "b", "c"], ["c", "b", "a"]]
OFFER = list("abcdef")


def side(
    lists: Lists,
    label: str = "",
    candidates: list[str] | None = OFFER,
    context: Context | None = None,
) -> FakeAnswers:
    return FakeAnswers(ask(lists, 3, candidates), context or Context(), label)


@pytest.mark.parametrize(
    ("oracle", "faulty"),
    [
        (no_repeats, ["a", "a", "b"]),
        (only_candidates, ["a", "b", "z"]),
        (only_candidates, ["a", "unknown:nosferatu"]),
        (complete_list, ["a", "b"]),
        (complete_list, ["a", "b", "b"]),
    ],
)
def test_the_share_of_users_with_a_fault_in_any_answer(
    oracle: Callable[..., Verdict],
    faulty: list[str],
) -> None:
    assert oracle(side([GOOD] * 62))
    assert oracle(side([GOOD] * 58)).status == "inconclusive"
    verdict = oracle(side([GOOD, GOOD, [GOOD[0], faulty]] * 33))
    assert verdict.status == "violated"
    assert verdict.estimate == pytest.approx(1 / 3, abs=0.04)
    assert verdict.interval is not None
    assert 0.05 < verdict.interval[0] < 1 / 3 < verdict.interval[1]
    shown = tuple(item.removeprefix("unknown:") for item in faulty)
    assert verdict.examples[0].source == shown  # the answer at fault, not the first one
    assert verdict.users == 20


def test_of_k_answers_all_must_be_sound() -> None:
    bad = ["a", "a", "b"]
    answers = side([[GOOD[0], GOOD[1], GOOD[0], bad]] * 100)
    for k, passes in ((1, 3 / 4), (2, 1 / 2), (3, 1 / 4), (4, 0)):
        verdict = no_repeats(answers, margin=0.9, k=k)
        assert verdict.estimate == pytest.approx(1 - passes)
        assert f"pass^1 0.750, pass^{k} {passes:.3f}" in verdict.reason
        assert verdict.examples[0].source == tuple(bad)
        assert verdict.oracle == f"no_repeats:{k}", (
            "a record of another k is no baseline"
        )
    assert no_repeats(answers, margin=0.9).estimate == 1
    with pytest.raises(
        OracleError,
        match=r"k=5 needs 5 answers .* there are 4; ask with --recsys-replicates=5",
    ):
        no_repeats(answers, k=5)
    with pytest.raises(
        OracleError,
        match="no_repeats: k must be a whole number from 1, got 0",
    ):
        no_repeats(answers, k=0)
    steady = side([[GOOD[0]]] * 100, context=Context(deterministic=True))
    assert no_repeats(steady, margin=0.1, k=5), "every further answer is the same"


def test_pass_k_is_unbiased() -> None:
    # The mean over many users who answer soundly with chance p is p ** k; that of (c /
    # n) ** k would be more.
    rng = np.random.default_rng(0)
    lists = [
        [["a", "b"] if sound else ["a", "a"] for sound in row]
        for row in rng.random((5000, 4)) < 0.8
    ]
    verdict = no_repeats(
        side(lists, context=Context(ask_everybody=True)),
        margin=0.9,
        k=3,
    )
    assert verdict.estimate == pytest.approx(1 - 0.8**3, abs=0.02)


def test_faults_of_a_transformed_request_are_shown_as_its_followup() -> None:
    verdict = no_repeats(side([[["a", "a"]]] * 20, label="typos(0.1)"))
    assert verdict.relation == "typos(0.1)"
    assert verdict.examples[0].followup == ("a", "a")
    assert verdict.examples[0].source == ()


def test_a_list_is_complete_with_everything_that_was_offered() -> None:
    assert complete_list(side([[["a", "b"]]] * 70, candidates=["a", "b"]))


def test_without_candidates_the_catalogue_less_the_history_is_offered() -> None:
    context = Context(items={item.id: item for item in items(*OFFER)})
    answers = side([[["a", "b", "c"]]] * 70, candidates=None, context=context)
    assert only_candidates(answers)
    seen = (Rating(items("a")[0], 5.0),)
    answers.asked = [
        type(one)(one.request.replace(history=seen), one.answers)
        for one in answers.asked
    ]
    assert only_candidates(answers).status == "violated"


def test_answers_from_outside_the_catalogue_are_strays() -> None:
    context = Context(items={item.id: item for item in items(*OFFER)})
    assert (
        only_candidates(side([[["z"]]] * 20, candidates=None, context=context)).estimate
        == 1
    )


def test_silence_is_an_incomplete_list_and_otherwise_no_answer() -> None:
    silent = side([[[]]] * 20)
    assert complete_list(silent).status == "violated"
    for oracle in (no_repeats, only_candidates):
        verdict = oracle(silent)
        assert verdict.status == "error"
        assert "no recommendation in any answer (20)" in verdict.reason


def test_bad_arguments_are_named() -> None:
    with pytest.raises(OracleError, match=r"no_repeats: margin.*got 1\.5"):
        no_repeats(side([GOOD]), margin=1.5)
    with pytest.raises(
        OracleError,
        match=r"complete_list: answers must be answers.*'itemknn'",
    ):
        complete_list(cast(Any, "itemknn"))
