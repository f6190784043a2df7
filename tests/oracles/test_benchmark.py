"""Benchmark values: the mean of a score over users,
with its interval, against a threshold.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_recsys_mt import NotApplicable, OracleError, Verdict
from pytest_recsys_mt.oracles import (
    Score,
    at_least,
    at_most,
    not_increased,
    rate_interval,
    same_score,
    within,
)
from pytest_recsys_mt.requests import (
    Entry,
    EntryKind,
    Item,
    Rating,
    Recommendation,
    Request,
    Scale,
)
from pytest_recsys_mt.verdict.answers import Asked, Context, Sample
from tests.oracles.support import FakeAnswers, ask, sides
from tests.support.oracles_scores import score_named


@pytest.mark.parametrize("limit", [0.05, 0.1, 0.15, 0.2, 0.3, 0.35, 0.6, 0.7, 0.9])
def test_rounding_decides_no_claim(limit: float) -> None:
    exact = Score("own", lambda answer, asked, context: (limit, 0), span=(0, 1))
    whole = replace(
        answers([["a", "b"]] * 400),
        context=replace(CONTEXT, deterministic=True),
    )
    everybody = _Whole(whole.asked, whole.context)
    assert [
        at_least(everybody, exact, limit).status,
        at_most(everybody, exact, limit).status,
    ] == ["holds"] * 2
    dust = Score("own", lambda answer, asked, context: (1.1e-16, 0), span=(0, 1))
    verdict = at_most(everybody, dust, 0.0)
    assert verdict.status == "holds"
    assert verdict.value == pytest.approx(1.1e-16, rel=0.01)
    assert at_most(whole, dust, 1e-12).status != "violated"


class _Whole(FakeAnswers):
    """All users of the data."""

    def sample(self, users: int | None = None) -> Sample:
        whole = users is None or users >= len(self.asked)
        return replace(
            super().sample(users),
            drawn=frozenset() if whole else frozenset({"users"}),
        )


POPULARITY = {"a": 64, "b": 16, "c": 4, "d": 1, "new": 0}
CONTEXT = Context(
    popularity=POPULARITY,
    items={name: Item(name) for name in POPULARITY},
)


def answers(
    lists: list[list[str]],
    history: str = "c",
    relevant: str = "",
    k: int = 2,
) -> FakeAnswers:
    """One answer a user, all with one history."""
    seen = tuple(Rating(Item(name), 5, 0) for name in history)
    asked = [
        Asked(
            Request(f"u{place}", seen, Scale(), None, k),
            (Recommendation(tuple(items)),),
            frozenset(relevant),
        )
        for place, items in enumerate(lists)
    ]
    return FakeAnswers(asked, CONTEXT)


def test_a_rate_is_bet_on_as_any_mean_so_that_more_users_may_be_asked() -> None:
    verdict = at_least(
        answers(([["a"]] * 9 + [["b"]]) * 10, relevant="a"),
        "hit@2",
        0.75,
    )
    assert (verdict.status, verdict.metric, verdict.threshold) == (
        "holds",
        "hit@2",
        0.75,
    )
    assert verdict.value == pytest.approx(0.9)
    assert verdict.interval is not None
    (low, high), exact = verdict.interval, rate_interval(90, 100, 0.9, "exact")
    assert 0.75 < low < exact[0] < exact[1] < high < 1
    assert "hit@2=0.9000 against 0.75" in verdict.numbers
    assert verdict.summary.startswith("hit@2 holds: the mean hit@2 is 0.900 (")
    assert verdict.summary.endswith("; 100 users), and at least 0.75 is required.")
    assert (
        at_least(answers([["b"]] * 100, relevant="a"), "hit@2", 0.8).status
        == "violated"
    )


@pytest.mark.parametrize("hits", [0, 20, 40])
@pytest.mark.parametrize(
    ("oracle", "threshold", "fate"),
    [
        (at_most, 1, "hold"),
        (at_most, 7, "hold"),
        (at_most, -7, "be violated"),
        (at_least, 0, "hold"),
        (at_least, -7, "hold"),
        (at_least, 7, "be violated"),
    ],
)
def test_a_threshold_that_no_answer_could_meet_or_miss_is_refused(
    hits: int,
    oracle: Callable[..., Verdict],
    threshold: float,
    fate: str,
) -> None:
    given = answers([["a"]] * hits + [["b"]] * (40 - hits), relevant="a")
    with pytest.raises(OracleError, match=f"would {fate} whatever the answers are"):
        oracle(given, "hit@2", threshold)


@pytest.mark.parametrize("margin", [1, 2, 5])
def test_a_margin_that_no_change_could_exceed_is_refused(margin: float) -> None:
    source = answers([["a"]] * 40, relevant="a")
    with pytest.raises(OracleError, match="would hold whatever the answers are"):
        same_score(source, answers([["b"]] * 40, relevant="a"), "hit@2", margin)


def test_the_users_own_popularity_is_that_of_all_their_past() -> None:
    shown, past = (Rating(Item("c"), 5, 0),), ("a", "b", "c")
    for candidates in (None, (Item("a"), Item("d"))):
        # The past has ln 64, ln 16 and ln 4, on average ln 16; what is shown of it has
        # ln 4.
        request = Request("u", shown, Scale(), candidates, 2)
        answer = Recommendation(("d",))
        for asked, own in (
            (Asked(request, (answer,), past=past), [64, 16, 4]),
            (Asked(request.replace(history=()), (answer,), past=past), [64, 16, 4]),
            (Asked(request, (answer,)), [4]),
        ):
            expected = {
                "log_popularity_difference": -sum(map(math.log, own)) / len(own),
                "popularity_lift": 1 / (sum(own) / len(own)) - 1,
                "herfindahl_difference": 1 - sum((n / sum(own)) ** 2 for n in own),
                "herfindahl_ratio": 1 / sum((n / sum(own)) ** 2 for n in own),
                "herfindahl_relative_difference": 1
                / sum((n / sum(own)) ** 2 for n in own)
                - 1,
            }
            for name, value in expected.items():
                of = score_named(name).of
                assert of(answer, asked, CONTEXT)[0] == pytest.approx(value), name
        # Of an answer only what is new to the user is compared, wherever they are known
        # to have it.
        opened = Asked(
            request.replace(candidates=None, k=3, seen=("a", "b")),
            (answer,),
            past=past,
        )
        named = Recommendation(("a", "d", "c"))
        of = score_named("log_popularity_difference").of
        assert of(named, opened, CONTEXT)[0] == pytest.approx(-math.log(16))
        assert of(named, opened, CONTEXT)[1] == 2
    both = Recommendation(("a", "b"))
    of = score_named("popularity_rank_correlation").of
    assert of(both, Asked(request, (both,), past=past), CONTEXT)[0] == pytest.approx(-1)


def test_a_bias_is_best_at_zero_and_bad_on_both_sides() -> None:
    # The history has 4 interactions an item: one, two and three powers of four above or
    # below.
    users = 40
    less = answers(
        [["d", "c"][: 1 + (place % 2)] for place in range(users)],
        history="b",
    )
    more = answers(
        [["a", "b"][: 1 + (place % 2)] for place in range(users)],
        history="d",
    )
    even = answers([["b", "d"]] * users, history="c")
    for biased, sign in ((less, -1), (more, 1)):
        verdict = within(biased, "log_popularity_difference", 1.0)
        assert verdict.status == "violated"
        assert verdict.value is not None
        assert sign * verdict.value > 1
    verdict = within(even, "log_popularity_difference", 1.0)
    assert verdict.value == pytest.approx(0)
    assert verdict.status == "holds"
    # All alike: the next user may still be one of those few that differ by the whole
    # range.
    assert within(even, "log_popularity_difference", 0.1).status == "inconclusive"


def test_items_that_say_nothing_of_taste_are_left_out_and_counted() -> None:
    # In the history, of no known item, without interactions: one item is left of each
    # answer.
    odd = answers([["c", "unknown:x", "new", "b"]] * 40, history="c", k=4)
    verdict = within(odd, "log_popularity_difference", 2.0)
    assert verdict.value == pytest.approx(math.log(16 / 4))
    assert (
        "120 recommended items without log_popularity_difference left out"
        in verdict.reason
    )


def test_users_without_a_score_count_at_both_ends_and_silent_ones_are_errors() -> None:
    lists = [["a", "b"][: 1 + place % 2] for place in range(38)]
    verdict = at_most(answers([*lists, ["new"], []]), "log_popularity_difference", 4)
    account = verdict.account
    assert (account["answered"], account["undefined"], account["failed"]) == (38, 1, 1)
    assert "(the answer has no log_popularity_difference (1))" in verdict.reason
    nobody = at_most(answers([["new"]] * 40), "log_popularity_difference", 4)
    assert nobody.status == "inconclusive"
    assert "no user has a number; 40 users of 40 got no number" in nobody.reason
    rank = at_most(answers([["a", "b"]] * 40), "popularity_rank_correlation", 0.5)
    assert (
        rank.status == "not-applicable"
    )  # who repeats nothing has no such correlation


def test_invalid_recommendations_are_counted_by_class() -> None:
    kinds: tuple[EntryKind, ...] = (
        "unparsed",
        "history",
        "unknown",
        "outside",
        "catalogue",
        "candidate",
        "duplicate",
    )
    entries = tuple(Entry(kind, kind, None) for kind in kinds)
    request = Request("u", (), Scale(), None, 7)
    asked = [Asked(request, (Recommendation(("a",), entries),))] * 30
    counts = {
        name: at_most(FakeAnswers(asked, CONTEXT), name, 6).value
        for name in (
            "malformed",
            "already_seen",
            "unknown_title",
            "outside_catalogue",
            "invalid",
        )
    }
    assert list(counts.values()) == [0, 1, 1, 2, 4]
    few = [Asked(request.replace(k=2), asked[0].answers)] * 30
    assert at_most(FakeAnswers(few, CONTEXT), "invalid", 1).value == 2


PROSE = Entry("Here are films:", "unparsed")
RIGHT = tuple(Entry(name, "candidate", name) for name in "abcdefg")
INVENTED = tuple(
    Entry(f"{name} (2031)", "unknown", f"unknown:{name}") for name in "xyz"
)
COMMENTED = tuple(entry for right in RIGHT for entry in (right, PROSE))


@pytest.mark.parametrize(
    ("entries", "invalid"),
    [
        ((PROSE, *RIGHT), 0),
        ((PROSE, PROSE, PROSE, *RIGHT, PROSE), 0),
        ((PROSE, *RIGHT, *INVENTED), 3),
        ((*COMMENTED, *INVENTED), 3),
        ((*RIGHT, *INVENTED, *INVENTED), 3),
        ((*RIGHT, *RIGHT[:3], *INVENTED), 0),
        ((PROSE, *INVENTED, Entry("x (2031)", "duplicate", "unknown:x")), 3),
    ],
)
def test_prose_takes_no_place_of_a_list(
    entries: tuple[Entry, ...],
    invalid: int,
) -> None:
    items = tuple(entry.item for entry in entries if entry.item)
    request = Request("u", (), Scale(), None, 10)
    asked = [Asked(request, (Recommendation(items[:10], entries, "..."),))] * 30
    found = {
        name: at_most(FakeAnswers(asked, CONTEXT), name, 9).value
        for name in ("invalid", "malformed", "unknown_title")
    }
    assert found == {"invalid": invalid, "malformed": 0, "unknown_title": invalid}


@pytest.mark.parametrize("entries", [(), (PROSE,), (PROSE, PROSE, PROSE)])
def test_an_answer_of_which_nothing_could_be_read_counts_once(
    entries: tuple[Entry, ...],
) -> None:
    unread = Recommendation((), entries, "Here are films:")
    asked = Asked(Request("u", (), Scale(), None, 10), (unread,))
    counts = [
        score_named(name).of(unread, asked, CONTEXT)[0]
        for name in ("malformed", "invalid")
    ]
    assert counts == [1, 1]
    assert score_named("already_seen").of(unread, asked, CONTEXT)[0] == 0


def test_items_alone_show_what_is_invalid_too() -> None:
    verdict = at_most(
        answers([["c", "unknown:x", "elsewhere", "a"]] * 40, k=4),
        "invalid",
        3.9,
    )
    assert verdict.value == 3
    offered = ask([[["a", "z"]]] * 40, k=2, candidates=["a", "b"])
    found = at_most(FakeAnswers(offered, CONTEXT), "outside_catalogue", 1.9)
    assert found.value == 1


def test_a_mean_that_rises_is_found_and_one_that_falls_is_welcome() -> None:
    low, high = [[["d"]]] * 40, [[["a"]]] * 40
    assert (
        not_increased(*sides(low, high, CONTEXT), "log_popularity", 1).status
        == "violated"
    )
    assert (
        not_increased(*sides(high, low, CONTEXT), "log_popularity", 1).status == "holds"
    )


@pytest.mark.parametrize(
    ("oracle", "arguments", "said"),
    [
        (within, ("log_popularity_difference", 0), "must be above 0"),
        (within, ("log_popularity_difference", -1), "at least 0"),
        (at_most, ("invalid", math.nan), "threshold must be a number, got nan"),
        (at_least, ("hits@5", 0.5), "'hits@5'.*did you mean 'hit"),
        (at_least, ("hit@0", 0.5), "'hit@0'"),
        (at_least, ("hit@5", 0.5), "ask for more"),
    ],
)
def test_bad_arguments_are_named(
    oracle: Any,
    arguments: tuple[Any, ...],
    said: str,
) -> None:
    with pytest.raises(OracleError, match=said):
        oracle(answers([["a"]] * 40, relevant="a"), *arguments)


@pytest.mark.parametrize("found", [0.5, (0.5,), None, ("a", 0), (0.5, None)])
def test_a_score_that_gives_no_pair_is_named(found: Any) -> None:
    score = Score(
        "mine",
        lambda answer, asked, context: found,
        lambda asked, context: (0, 1),
    )
    with pytest.raises(
        OracleError,
        match=r"mine: Score\.of returned .* such as \(0\.5, 0\)",
    ):
        at_least(answers([["a"]] * 20), score, 0.5)


def test_an_answer_without_a_score_is_not_hidden_by_another_of_the_user() -> None:
    """Half of a noisy recommender's answers have none:
    the others do not stand for them.
    """

    def seldom(
        answer: Recommendation,
        asked: Asked,
        context: Context,
    ) -> tuple[float | None, int]:
        return (1.0 if answer.items == ("a",) else None), 0

    def declared(
        answer: Recommendation,
        asked: Asked,
        context: Context,
    ) -> tuple[float, int]:
        if answer.items != ("a",):
            raise NotApplicable("it is not good")
        return 1.0, 0

    users = FakeAnswers(ask([[["a"], ["b"]]] * 100), CONTEXT)
    for of in (seldom, declared):
        verdict = at_least(users, Score("own", of, span=(0, 1)), 0.65)
        assert (verdict.status, verdict.account["undefined"]) == ("inconclusive", 100)
