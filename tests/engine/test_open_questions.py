"""Open questions: what a user is known to have is left out
or counted, whatever the request shows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.promises import settings_of
from pytest_recsys_mt import NotApplicable, relations
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Completion, Entry, Prompt, Recommendation, Request
from pytest_recsys_mt.strategies import transformations
from tests.plugin.conftest import record_of
from tests.support.calls import Executor, Wrapped, plain_request, subject
from tests.support.engine import Run, Runner, Side, Split
from tests.support.recommenders import resolve
from tests.support.requests import Design

MINI = load("mini")
SPLIT = Split(MINI, 0)
PAST = {
    str(user): tuple(items)
    for user, items in SPLIT.training.interactions.groupby("user")["item"]
}
OPEN = Design(users=80, candidates=0)
CASES = SPLIT.cases(OPEN)
METAMORPHIC = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"


class Silent:
    """Is never asked."""

    deterministic = True
    reads_text = True

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        raise AssertionError(requests)


def runner(recommender: object, design: Design = OPEN) -> Runner:
    """A runner that makes requests, and has nothing to ask them with."""
    settings = settings_of(design, 0, Path("nowhere"))
    asked = subject(recommender, "under test", "person")
    return Runner(asked, SPLIT, design, settings, cast(Executor, None))


SILENT = runner(Silent())


class Told:
    """Answers from requests, which name all that a user has."""

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        raise AssertionError(requests)


class Prompted:
    """Answers from a prompt, which shows the history alone."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        raise AssertionError(prompts)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(("recommender", "told"), [(Told(), True), (Prompted(), False)])
def test_only_a_prompt_hides_what_the_history_does_not_show(
    recommender: object,
    told: bool,
    wrapped: bool,
) -> None:
    asked = subject(recommender, "under test", "person")
    asked = Wrapped(asked) if wrapped else asked
    assert asked.hidden(CASES[0].request) == frozenset(
        () if told else CASES[0].request.seen,
    )
    assert CASES[0].request.seen


def test_each_user_has_draws_of_their_own() -> None:
    drawn: list[float] = []

    def draw(request: Request, rng: np.random.Generator) -> Request:
        drawn.append(rng.random())
        return request.replace(k=3)

    for case in (*SILENT.cases[:3], SILENT.cases[0]):
        SILENT.transformed(case, [draw])
    assert len(set(drawn)) == 3
    assert drawn[3] == drawn[0]


@pytest.mark.parametrize(
    "name",
    ["random", "mostpop", "itemknn", "userknn", "bm25", "ease", "ials", "rp3beta"],
)
def test_nobody_is_recommended_what_they_have(name: str) -> None:
    recommender: Any = resolve(name)
    recommender.fit(SPLIT.training, 0)
    answers = recommender.recommend([case.request for case in CASES])
    for case, answer in zip(CASES, answers, strict=True):
        assert len(set(answer.items)) == 10
        assert not set(answer.items) & set(PAST[case.request.user])


@pytest.mark.parametrize("history", [0, 5, 20, 1000])
def test_an_open_question_tells_all_of_the_past(history: int) -> None:
    for case in SPLIT.cases(dataclasses.replace(OPEN, history=history)):
        shown = [rating.item.id for rating in case.request.history]
        past = PAST[case.request.user]
        assert case.past == past
        assert tuple(shown) == (past[-history:] if history else ())
        assert list(case.request.seen) == sorted(set(past) - set(shown))
        assert case.request.known == set(past)
        assert not case.held_out & case.request.known


def test_films_that_do_not_count_as_history_were_watched_all_the_same() -> None:
    low = {
        rating.item.id
        for user in PAST
        for rating in MINI.histories[user]
        if rating.value <= 3
    }
    cases = SPLIT.cases(dataclasses.replace(OPEN, rated_above=3.0, history=1000))
    assert any(set(case.request.seen) & low for case in cases)
    for case in cases:
        assert case.request.known == set(PAST[case.request.user])


def test_with_candidates_there_is_nothing_to_tell_and_no_key_changes() -> None:
    for case in SPLIT.cases(Design(users=20)):
        assert case.request.seen == ()
        assert "seen" not in plain_request(case.request)
        assert case.past == PAST[case.request.user]
        assert not {item.id for item in case.request.candidates or ()} & set(case.past)
    assert plain_request(CASES[0].request)["seen"] == list(CASES[0].request.seen)


@given(
    st.sampled_from(range(len(CASES))),
    st.lists(transformations(text=True), min_size=1, max_size=3),
)
def test_whatever_is_done_to_the_history_the_user_has_what_they_have(
    place: int,
    chosen: list[relations.Transformation],
) -> None:
    case = SILENT.cases[place]
    changed = SILENT.transformed(case, chosen)
    if isinstance(changed, NotApplicable):
        return
    shown = {rating.item.id for rating in changed.history}
    assert changed.known == set(case.past) | shown
    assert not set(changed.seen) & (shown | case.held_out)
    assert list(changed.seen) == sorted(changed.seen)


def test_it_holds_for_transformations_of_ones_own() -> None:
    def forgets(request: Request, rng: np.random.Generator) -> Request:
        return request.replace(history=(), seen=())

    def opens(request: Request, rng: np.random.Generator) -> Request:
        return request.replace(candidates=None)

    def offers(request: Request, rng: np.random.Generator) -> Request:
        return request.replace(candidates=SILENT.world.catalogue[:30])

    for asked, change in (
        (SILENT, forgets),
        (runner(Silent(), Design(users=80)), opens),
    ):
        case = asked.cases[0]
        changed = asked.transformed(case, [change])
        assert isinstance(changed, Request)
        assert changed.known == set(case.past)
    changed = SILENT.transformed(CASES[0], [offers])
    assert isinstance(changed, Request)
    assert changed.seen == ()


def test_items_that_are_no_candidates_for_a_user_are_not_dealt() -> None:
    def recall(requests: Sequence[Request]) -> list[list[tuple[str, ...]]]:
        tops = [
            tuple(MINI.items)[:60],
            ("unknown:a film of no catalogue", *list(MINI.items)[60:]),
        ]
        return [list(tops) for _ in requests]

    split = Split(MINI, 0, recall=recall)
    for case in split.cases(Design(users=20, candidates=12, recall=True)):
        offered = [item.id for item in case.request.candidates or ()]
        assert len(set(offered)) == 12
        assert not set(offered) & set(case.past)
        assert case.request.seen == ()


def test_entries_that_a_recommender_classified_itself_are_held_to_the_same_rule() -> (
    None
):
    case = CASES[0]
    watched, unseen = case.request.seen[0], next(iter(case.held_out))

    class Classifies:
        def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
            entries = tuple(
                Entry(item, "candidate", item) for item in (watched, unseen)
            )
            return [Recommendation((watched, unseen), entries) for _ in requests]

    asked = runner(Classifies()).subject
    ((_, answer),) = next(asked.ask([asked.call(case.request, repeat=False)]))
    read = asked.read(case.request, answer)
    assert read.items == (watched, unseen)
    assert [entry.kind for entry in read.entries] == ["history", "candidate"]


def test_oracles_are_given_the_whole_past(tmp_path: Path) -> None:
    for design in (OPEN, Design(users=80, history=3)):
        run = Run(settings_of(design, 0, tmp_path), name="pasts")
        asked = run.runner(run.recommenders.recommender("mostpop"), "mostpop", design)
        answers = Side(asked, asked.context(lambda verdict: verdict))
        for one in answers.sample(10).asked:
            assert one.past == PAST[one.user]
        run.close()


def test_leaving_out_other_items_is_no_other_taste(pytester: pytest.Pytester) -> None:
    found = {}
    for model in ("mostpop", "itemknn"):
        path = pytester.path / f"{model}.json"
        pytester.runpytest_inprocess(
            METAMORPHIC, f"--recsys-model={model}", f"--recsys-json={path}", "-q",
            "--recsys-candidates=0", "-p", "no:cacheprovider", "--recsys-shrink=0",
            "-k", "swap or truncate or forget or history",
        )  # fmt: skip
        record = record_of(path)
        assert record["settings"]["past"] == "whole"
        for status in ("violated", "error"):
            found[model, status] = {
                row["relation"] for row in record["results"] if row["status"] == status
            }
    assert found == {
        ("mostpop", "violated"): {
            "swap_history",
            "truncate_history(5)",
            "truncate_history(3), swap_history",
            "forget_item",
        },
        ("mostpop", "error"): set(),
        ("itemknn", "violated"): set(),
        ("itemknn", "error"): set(),
    }


OBLIVIOUS = '''
from pytest_recsys_mt import Recommendation


class Oblivious:
    """Recommends what stands first in the catalogue and is not in the history, in an order that
    depends on the length of the history, and leaves out what else the user is known to have."""

    deterministic = True

    def fit(self, dataset, seed):
        self.ids = sorted(dataset.items)

    def recommend(self, requests):
        answers = []
        for request in requests:
            free = [item for item in self.ids if item not in request.known][: request.k]
            answers.append(Recommendation(tuple(free[:: -1 if len(request.history) % 2 else 1])))
        return answers
'''


def test_a_counterexample_shows_less_and_knows_as_much(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        oblivious=OBLIVIOUS,
        test_it="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import drop_history

        @metamorphic(drop_history(1))
        def test_ranking(source, followup):
            assert same_ranking(source, followup)
        """,
    )
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess(
        "test_it.py", "--recsys-model=oblivious:Oblivious", "--recsys-candidates=0", "--recsys-json=r.json",
        "--recsys-shrink=200", "-p", "no:cacheprovider",
    )  # fmt: skip
    ((row,),) = (record_of(pytester.path / "r.json")["results"],)
    shrunk = row["shrunk"]
    for side, length in (("source", 2), ("followup", 1)):
        history = [rating["item"] for rating in shrunk[side]["history"]]
        assert len(history) == length
        assert sorted([*history, *shrunk[side]["seen"]]) == sorted(PAST[shrunk["user"]])
    assert len(set(shrunk["source"]["answer"])) == 10
    left = len(PAST[shrunk["user"]]) - 2
    result.stdout.fnmatch_lines(
        [f"*the whole catalogue but {left} more items that the user has*"],
    )
