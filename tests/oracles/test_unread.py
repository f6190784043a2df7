"""Answers of which nothing could be read: no oracle claims what they might refute."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import pytest

from pytest_recsys_mt import Verdict, oracles
from pytest_recsys_mt.oracles import (
    Score,
    at_least,
    curve,
    paper_t_test,
    self_agreement,
)
from pytest_recsys_mt.requests import Entry, Recommendation
from pytest_recsys_mt.verdict.answers import (
    Answers,
    Asked,
    Choices,
    Context,
    Pairs,
    Sample,
)
from tests.laws import over
from tests.oracles import test_measures
from tests.oracles.support import FakeAnswers, ask
from tests.oracles.test_measures import CATALOGUE, KNOWN, OTHERS, judging
from tests.support.oracles_judging import twice

USERS = 200
REFUSAL = Recommendation(
    (),
    (Entry("I cannot help", "unparsed"),),
    "I cannot help with that.",
)
FEW, MANY = 0.06, 0.3
CLAIMS = ("holds", "violated")


@dataclass
class Partly(FakeAnswers):
    """Answers that were given beforehand, some of which cannot be read."""

    def sample(self, users: int | None = None) -> Sample:
        asked = tuple(self.asked)[:users]
        return Sample(
            tuple(each for each in asked if not each.unread),
            unread=tuple(each for each in asked if each.unread),
            order=tuple(each.user for each in asked),
        )

    again: Pairs | None = None

    def pair_anew(  # type: ignore[override]
        self,
        followup: Answers,
        /,
        users: int,
        *,
        without: Collection[str] = (),
        alone: bool = False,
    ) -> Pairs | None:
        return self.again

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        both = list(zip(self.asked, followup.sample().whole().asked, strict=True))[
            :users
        ]
        read = [(one, two) for one, two in both if not (one.unread or two.unread)]
        return Pairs(
            tuple(one for one, _ in read),
            tuple(two for _, two in read),
            unread=tuple((one, two) for one, two in both if one.unread or two.unread),
            order=tuple(one.user for one, _ in both),
        )


Say = Callable[[Sequence[str], Random], Recommendation]
COMPLETIONS: dict[str, Say] = {
    "as the others": lambda right, rng: Recommendation(tuple(right)),
    "turned round": lambda right, rng: Recommendation(tuple(reversed(right))),
    "at random": lambda right, rng: Recommendation(tuple(rng.sample(CATALOGUE, 5))),
    "made up": lambda right, rng: Recommendation(tuple(f"?{n}" for n in range(5))),
    "the least popular": lambda right, rng: Recommendation(tuple(CATALOGUE[:5])),
    "the most popular": lambda right, rng: Recommendation(tuple(CATALOGUE[:4:-1])),
}


@cache
def _answered(
    say: Say | None,
    unread: float,
    order: int,
    label: str,
    replicates: int,
) -> tuple[Asked, ...]:
    rng = Random(f"{unread} {label}")
    lists = [[CATALOGUE[::order][user % 4 :][:5]] * replicates for user in range(USERS)]
    asked = []
    for each in ask(lists, candidates=list(CATALOGUE), relevant=["c"]):
        hidden = rng.random() < unread
        answers = tuple(
            (REFUSAL if say is None else say(each.answers[0].items, rng))
            if hidden
            else answer
            for answer in each.answers
        )
        asked.append(replace(each, answers=answers))
    return tuple(asked)


def said(
    say: Say | None,
    unread: float,
    order: int,
    label: str = "",
    replicates: int = 1,
) -> Partly:
    asked = list(_answered(say, unread, order, label, replicates))
    return Partly(asked, replace(KNOWN, deterministic=replicates == 1), label)


def test_a_point_of_a_curve_counts_an_unread_answer_as_one_that_recommends_nothing() -> (
    None
):
    side = said(None, 0.05, 1)
    unread = len(side.sample().unread)
    value = at_least(side, "hit@5", 0.1).value
    ((_, mean, low, high),) = curve({1: side}, "hit@5")
    assert unread > 0
    assert mean == value
    assert low < mean < high


@pytest.mark.parametrize("silent", [0, 5, 40])
def test_a_published_mean_is_of_everybody_and_the_limit_is_of_answers(
    silent: int,
) -> None:
    """One refusal in 20 answers of a user is a small part of the
    answers: it agrees with no other answer.
    """
    rng = Random(0)

    def side(label: str, refusing: int) -> Partly:
        asked = ask([[rng.sample(CATALOGUE, 5) for _ in range(10)] for _ in range(40)])
        some = [replace(a, answers=(*a.answers[1:], REFUSAL)) for a in asked[:refusing]]
        return Partly([*some, *asked[refusing:]], KNOWN, label)

    source, changed = side("", 0), side("changed(1)", silent)
    tested = paper_t_test(source, changed)
    assert tested.details["with"]["runs"] == 9
    assert (tested.status == "inconclusive") is (silent > 0)
    own, every = (self_agreement(each, published=True) for each in (changed, source))
    assert own.value is not None
    assert every.value is not None
    # Of the pairs of ten answers, 9 of 45 have the refusal.
    assert own.value == pytest.approx(every.value * (1 - 0.2 * silent / 40), abs=0.02)
    for verdict in (tested, own):
        assert len(verdict.details.get("unreadable", {}).get("users", ())) == silent
        told = f"{silent} users of 40 got an answer of which nothing could be read"
        assert (told in verdict.reason) is (silent > 0)


def test_an_answer_that_cannot_be_read_twice_has_not_changed() -> None:
    read, refused = ask([[["a", "b"]], [[]]])
    refused = replace(refused, answers=(Recommendation(()),))
    once = Pairs((read,), (read,), unread=((refused, refused),))
    assert twice(once, once)[1] == 0
    now_read = replace(refused, answers=read.answers)
    assert twice(once, Pairs((read, now_read), (read, now_read)))[1] == 1
    assert twice(Pairs((read, now_read), (read, now_read)), once)[1] == 1


def chosen(unread: float, complete: int | None, shift: int = 0) -> Choices:
    """Choices of which some could not be read; `complete` says
    how far from the right one they then lie.
    """
    rng = Random(f"choices {unread} {shift}")
    right = tuple(number % 4 for number in range(USERS))
    places: list[int | None] = []
    for number, place in enumerate(right):
        hidden = rng.random() < unread
        places.append(
            (place + shift * (number % 3 == 0)) % 4
            if not hidden
            else None
            if complete is None
            else (place + complete) % 4,
        )
    texts = tuple(None if place is None else f"text {place}" for place in places)
    names = tuple(f"q{number}" for number in range(USERS))
    return Choices(names, right, tuple(places), texts, 4, unread=("It depends.",))


def judged(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    unread: float,
    how: str | None,
    order: int,
) -> Verdict:
    oracle: Callable[..., Verdict] = OTHERS.get(name, judging(oracles)[name])
    sides = sum(
        each.default is each.empty
        for each in inspect.signature(oracle).parameters.values()
    )
    say = None if how is None else COMPLETIONS[how]
    complete = None if how is None else list(COMPLETIONS).index(how) % 4
    monkeypatch.setattr(test_measures, "USERS", USERS)
    monkeypatch.setattr(
        test_measures,
        "choices",
        lambda shift=0: chosen(unread, complete, shift * (order < 0)),
    )
    replicates = 4 if name == "paper_t_test" else 1
    given: tuple[Any, ...] = (
        said(say, unread, 1, replicates=replicates),
        said(say, unread, order, "changed(1)", replicates),
    )
    return oracle(*given[:sides])


JUDGING_LISTS = sorted(judging(oracles).keys() - {"latency_within"})
"""Oracles that judge what answers say; the other one judges when they came."""


@over("name", JUDGING_LISTS)
def test_above_the_limit_nothing_is_said(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for order in (1, -1):
        verdict = judged(name, monkeypatch, MANY, None, order)
        assert verdict.status not in CLAIMS, verdict.summary
        assert verdict.status == "inconclusive", verdict.reason
        assert "(recsys_missed_limit)" in verdict.reason
        assert verdict.value is None
        assert verdict.estimate is None
        assert not verdict.per_user
        assert verdict.details["unreadable"]["texts"]


@over("name", JUDGING_LISTS)
def test_no_claim_is_one_that_they_might_refute(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for order in (1, -1):
        verdict = judged(name, monkeypatch, FEW, None, order)
        if verdict.status in CLAIMS:
            for how in COMPLETIONS:
                whole = judged(name, monkeypatch, FEW, how, order)
                assert {verdict.status, whole.status} != set(CLAIMS), (
                    how,
                    whole.summary,
                )
        elif verdict.per_user:
            assert "nothing could be read" in verdict.reason, verdict.reason


def test_the_form_of_an_answer_that_cannot_be_read_is_known() -> None:
    side = said(None, MANY, 1)
    verdict = oracles.at_least(side, "compliance", 0.9)
    read = len(side.sample().asked) / USERS
    assert (verdict.status, verdict.value, verdict.users) == ("violated", read, USERS)
    assert oracles.at_most(side, "short_lists", 0.1).status == "inconclusive"


def test_a_series_says_nothing_of_its_readable_steps_alone() -> None:
    long, hidden = said(None, 0, 1), said(None, 1, 1, "hidden")
    for sides in (
        [long, said(None, 0, -1, "turned"), hidden],
        [hidden, long, said(None, 0, 1, "same")],
    ):
        verdict = oracles.monotone(sides, "hit@3")
        assert (verdict.estimate, verdict.interval, verdict.per_user) == (
            None,
            None,
            {},
        )
    few = oracles.monotone(
        [long, said(None, FEW, 1, "few"), said(None, 0, -1, "turned")],
        "hit@3",
    )
    assert few.estimate is not None
    assert not few.per_user


def test_a_difference_that_cannot_be_read_again_is_none() -> None:
    source, turned = said(None, 0, 1), said(None, 0, -1, "turned")
    assert oracles.different_ranking(source, turned, margin=0.3).status == "holds"
    silent = said(None, 1, 1)
    source.again = silent.pair(silent)
    for verdict in (
        oracles.different_ranking(source, turned, margin=0.3),
        oracles.same_ranking(source, turned),
        oracles.never_differs(source, turned),
    ):
        assert verdict.status == "inconclusive", verdict.summary


def test_the_range_of_a_score_is_that_of_the_unread_users_too() -> None:
    def of(answer: Recommendation, asked: Asked, context: Context) -> tuple[float, int]:
        return 0.0, 0

    def span(asked: Asked, context: Context) -> tuple[float, float]:
        return 0.0, 100.0 if asked.unread else 1.0

    side = said(None, FEW, 1)
    assert oracles.at_most(side, Score("odd", of, span), 0.5).status == "inconclusive"
    assert (
        oracles.at_most(side, Score("even", of, lambda a, c: (0.0, 1.0)), 0.5).status
        == "holds"
    )


def test_without_them_the_same_oracles_do_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claimed = {
        name
        for name in judging(oracles)
        if any(
            judged(name, monkeypatch, 0, None, order).status in CLAIMS
            for order in (1, -1)
        )
    }
    assert len(claimed) >= 20, sorted(judging(oracles).keys() - claimed)


def test_an_empty_list_is_read_and_a_refusal_is_not() -> None:
    assert REFUSAL.unread
    assert Recommendation((), (), "").unread
    assert Recommendation((), (), "...").unread
    assert not Recommendation((), (), "[]").unread
    assert not Recommendation(()).unread
    assert not Recommendation(("a",), (), "a").unread
    refused = Asked(ask([[["a"]]])[0].request, (REFUSAL, Recommendation(("a",))))
    assert refused.unread == (REFUSAL,)
