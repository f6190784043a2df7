"""Claims of training: two fits a side, two more with other seeds, and their spread."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pytest

from pytest_recsys_mt import MissingAnswerError, Verdict
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.verdict.answers import Answers, Context, Pairs
from tests.oracles.support import FakeAnswers, Lists, ask
from tests.support.verdict import FITS_NEEDED

A, B = (["a", "b", "c", "d", "e"], ["v", "w", "x", "y", "z"])
USERS = 100


@dataclass
class Fitted(FakeAnswers):
    """Answers of fits, and of the fits with other seeds."""

    others: tuple[Lists, Lists] | None = field(default=None, kw_only=True)

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        return dataclasses.replace(super().pair(followup, users), refits=True)

    def pair_anew(  # type: ignore[override]
        self,
        followup: Answers,
        /,
        users: int,
        *,
        without: Collection[str] = (),
        alone: bool = False,
    ) -> Pairs | None:
        if self.others is None:
            raise MissingAnswerError("not recorded")
        ours, theirs = (tuple(ask(lists))[:users] for lists in self.others)
        return Pairs(ours, theirs, refits=True)


def judged(
    source: Lists,
    followup: Lists,
    others: tuple[Lists, Lists] | None,
) -> Verdict:
    context = Context(deterministic=False)
    return same_ranking(
        Fitted(ask(source), context, others=others),
        Fitted(ask(followup), context, "permute_rows"),
    )


def of(first: list[str], second: list[str]) -> Lists:
    return [[first, second]] * USERS


@pytest.mark.parametrize(
    ("source", "followup", "others", "status"),
    [
        (of(A, A), of(B, B), (of(A, A), of(B, B)), "violated"),
        (of(A, A), of(A, A), (of(A, A), of(A, A)), "holds"),
        (of(A, A), of(B, B), (of(B, B), of(A, A)), "inconclusive"),
        (of(A, A), of(A, A), (of(A, A), of(B, B)), "inconclusive"),
    ],
    ids=["a change", "no change", "turned by seeds", "a change in other fits"],
)
def test_other_fits_decide_too(
    source: Lists,
    followup: Lists,
    others: tuple[Lists, Lists],
    status: str,
) -> None:
    verdict = judged(source, followup, others)
    assert verdict.status == status, verdict.summary
    assert verdict.approximate
    if status == "inconclusive":
        assert "of 4 with other seeds the mean lies between" in verdict.reason
        assert (FITS_NEEDED in verdict.details) == (
            source == followup
        )  # else the fits agree to the last
    else:
        assert verdict.interval is not None
        assert verdict.estimate is not None
        assert verdict.interval[0] <= verdict.estimate <= verdict.interval[1]


def test_more_users_are_asked_where_all_fits_do_not_prove_what_the_first_did() -> None:
    assert judged(of(A, A), of(A, A), (of(A, A), of(A, A))).users < USERS
    noisy = [[A, B]] * 20 + [[A, A]] * (USERS - 20)
    verdict = judged(of(A, A), of(A, A), (noisy, noisy))
    assert verdict.status == "holds", verdict.summary
    assert verdict.users == USERS


def test_without_other_fits_nothing_is_claimed() -> None:
    verdict = judged(of(A, A), of(B, B), None)
    assert verdict.status == "inconclusive"
    assert "no answers of fits with other seeds are recorded" in verdict.reason


def fitted(rng: np.random.Generator, spread: float, shift: float) -> tuple[Lists, ...]:
    """Four times two fits that differ along one direction,
    and the change moves along it too.
    """
    utilities, direction = rng.normal(size=(2, USERS, 20))

    def lists(moved: float) -> Lists:
        place = rng.normal(size=2) * spread + moved
        scores = utilities[:, None] + place[:, None] * direction[:, None]
        order = np.argsort(-scores, axis=2)[:, :, :5]
        return [
            [[f"i{item}" for item in answer] for answer in answers] for answers in order
        ]

    return lists(0), lists(shift), lists(0), lists(shift)


@pytest.mark.parametrize(
    ("spread", "shift", "wrong"),
    [
        pytest.param(0.3, 0.0, "violated", marks=pytest.mark.slow),
        (1.0, 0.0, "violated"),
        (0.3, 0.6, "holds"),
        pytest.param(1.0, 1.0, "holds", marks=pytest.mark.slow),
    ],
)
def test_a_claim_is_rarely_wrong_where_fits_differ_along_one_direction(
    spread: float,
    shift: float,
    wrong: str,
) -> None:
    rng, runs, found = np.random.default_rng(5), 40, 0
    for _ in range(runs):
        source, followup, *others = fitted(rng, spread, shift)
        found += judged(source, followup, (others[0], others[1])).status == wrong
    assert found <= 5  # of 40 at .05: with probability .986
