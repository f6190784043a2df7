"""Items that the user has and a prompt does not show
count against nobody, and are reported.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_recsys_mt import Verdict
from pytest_recsys_mt.oracles import at_most, increases, only_candidates
from pytest_recsys_mt.requests import (
    Entry,
    Item,
    Rating,
    Recommendation,
    Request,
    Scale,
)
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.support import FakeAnswers
from tests.support.calls import Readings
from tests.support.oracles_judging import kinds

CONTEXT = Context(items={name: Item(name) for name in "abcdefg"})
SHOWN, HIDDEN = "a", ("b", "c")
REQUEST = Request("u", (Rating(Item(SHOWN), 5, 0),), Scale(), None, 4, seen=HIDDEN)


def answers(
    *items: str,
    hidden: bool,
    as_text: bool = False,
    label: str = "",
) -> FakeAnswers:
    """The same answer to thirty users, of a recommender that
    was told of their whole past or not.
    """
    known = {SHOWN, *HIDDEN}
    entries = [
        Entry(item, "history" if item in known else "candidate", item) for item in items
    ]
    answer = Recommendation(
        items,
        tuple(entries) if as_text else (),
        "..." if as_text else None,
    )
    asked = Asked(REQUEST, (answer,), hidden=frozenset(HIDDEN if hidden else ()))
    users = [
        replace(asked, request=REQUEST.replace(user=f"u{place}")) for place in range(30)
    ]
    return FakeAnswers(users, CONTEXT, label)


TOLD = "60 recommended items are in the part of the user's past that the prompt does not show; they are not counted"

JUDGES: dict[str, tuple[Callable[[FakeAnswers], Verdict], float, float]] = {
    "invalid": (lambda side: at_most(side, "invalid", 3.9), 2, 0),
    "already_seen": (lambda side: at_most(side, "already_seen", 3.9), 2, 0),
    "history_repeats": (lambda side: at_most(side, "history_repeats@4", 0.9), 0.5, 0),
    "out_of_candidate": (lambda side: at_most(side, "out_of_candidate@4", 0.9), 0.5, 0),
}


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("name", JUDGES)
def test_what_a_prompt_does_not_show_counts_against_nobody(
    name: str,
    as_text: bool,
) -> None:
    judge, whole, shown = JUDGES[name]
    told = judge(answers("b", "d", "c", "e", hidden=False, as_text=as_text))
    assert told.value == whole
    assert "does not show" not in told.reason
    verdict = judge(answers("b", "d", "c", "e", hidden=True, as_text=as_text))
    assert verdict.value == shown
    assert TOLD in verdict.reason
    again = judge(answers("a", "d", "f", "e", hidden=True, as_text=as_text))
    assert again.value == whole / 2, "what it shows counts"
    assert "does not show" not in again.reason


def test_an_item_that_was_not_shown_is_no_stray() -> None:
    assert only_candidates(answers("b", "d", hidden=False)).status == "violated"
    verdict = only_candidates(answers("b", "c", "d", hidden=True), margin=0.3)
    assert verdict.status == "holds"
    assert "the prompt does not show; they are not counted" in verdict.reason
    assert only_candidates(answers("a", "d", hidden=True)).status == "violated"


def test_a_difference_does_not_count_it_on_either_side() -> None:
    source = answers("d", "e", hidden=True)
    followup = answers("b", "c", hidden=True, label="changed")
    verdict = increases(source, followup, "invalid")
    assert verdict.estimate == 0
    assert TOLD in verdict.reason


def test_other_scores_say_nothing_of_it() -> None:
    verdict = at_most(answers("b", "d", "c", "e", hidden=True), "duplicates@4", 0.5)
    assert "does not show" not in verdict.reason


def test_an_example_does_not_mark_it() -> None:
    (asked, *_) = answers("a", "b", "d", hidden=True).asked
    (answer,) = asked.answers
    found = kinds(answer, asked.request, CONTEXT.items, asked.hidden)
    assert found == ("history", "candidate", "candidate")


def test_the_summary_of_a_models_answers_does_not_call_it_not_offered() -> None:
    (asked, *_) = answers("a", "b", "d", hidden=True, as_text=True).asked
    readings = Readings()
    readings.note("model", "key", asked.answers[0], asked.hidden)
    assert readings.drain()["model"]["key"]["entries"] == {"history": 1, "candidate": 2}
