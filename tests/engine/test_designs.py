"""What a recommender is fitted to, where candidates come
from, and whose requests are asked.
"""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmarks.promises import settings_of
from pytest_recsys_mt import DataError, NotApplicable
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from tests.plugin.conftest import record_of
from tests.support.datasets import COLUMNS
from tests.support.engine import Fit, Run, Side, Split, in_turn
from tests.support.recommenders import ItemKNN
from tests.support.requests import Design

MINI = load("mini")


def run_with(tmp_path: Path, **changes: Any) -> Run:
    design = changes.pop("design", Design(users=30))
    settings = dataclasses.replace(settings_of(design, 0, tmp_path), **changes)
    return Run(settings, name="designs")


def fitted_to(opened: Run, spec: str, fit: Fit = Fit()) -> Any:  # noqa: B008 - frozen
    return vars(
        opened.recommenders.subject(
            opened.recommenders.recommender(spec),
            spec,
            fit=fit,
        ),
    )["_recommender"]


def test_a_relation_draws_if_other_numbers_would_change_a_request(
    tmp_path: Path,
) -> None:
    """However it takes them from its generator."""

    def shuffled(request: Request, rng: Any) -> Request:
        order = copy.deepcopy(rng).permutation(len(request.history))
        return request.replace(history=tuple(request.history[place] for place in order))

    def newest_first(request: Request, rng: Any) -> Request:
        return request.replace(history=request.history[::-1])

    def one_in_a_hundred(request: Request, rng: Any) -> Request:
        if request.user != last:
            return newest_first(request, rng)
        order = rng.permutation(len(request.history))
        return request.replace(history=tuple(request.history[place] for place in order))

    opened = run_with(tmp_path, design=Design(users=400, candidates=0))
    runner = opened.runner(
        opened.recommenders.recommender("itemknn"),
        "itemknn",
        opened.settings.design,
    )
    last = runner.cases[-1].request.user
    drawn = {
        each.__name__: Side(runner, runner.context(), (each,)).drawn
        for each in (shuffled, newest_first, one_in_a_hundred)
    }
    assert drawn == {
        "shuffled": {"changes"},
        "newest_first": set(),
        "one_in_a_hundred": {"changes"},
    }


def test_a_shorter_training_history_is_the_latest_interactions_of_everybody() -> None:
    latest = MINI.latest(3)
    assert set(latest.interactions["user"]) == set(MINI.interactions["user"])
    for user, history in latest.histories.items():
        assert history == MINI.histories[user][-3:]


def test_every_fit_is_of_a_recommender_of_its_own(tmp_path: Path) -> None:
    opened = run_with(tmp_path)
    usual = fitted_to(opened, "itemknn")
    short = fitted_to(opened, "itemknn", Fit(history=2))
    assert usual is not short
    assert usual is fitted_to(opened, "itemknn")
    assert short is fitted_to(opened, "itemknn", Fit(history=2))
    request = opened.split.cases(Design(users=2))[0].request
    calls = {
        fit: opened.recommenders.subject(
            opened.recommenders.recommender("itemknn"),
            "itemknn",
            fit=fit,
        ).call(request, False)
        for fit in (Fit(), Fit(history=2), Fit(initialisation=1))
    }
    assert len({call.key for call in calls.values()}) == 3, (
        "answers of fits must not mix"
    )


def test_two_fits_that_are_compared_answer_for_themselves(tmp_path: Path) -> None:
    opened = run_with(tmp_path)
    sides = []
    for length in (1, 5):
        design = dataclasses.replace(opened.settings.design, training_history=length)
        runner = opened.runner(
            opened.recommenders.recommender("mostpop"),
            "mostpop",
            design,
        )
        sides.append(Side(runner, runner.context(lambda verdict: verdict)))
    pairs = sides[0].pair(sides[1], users=10)
    for length, side in zip((1, 5), (pairs.source, pairs.followup), strict=True):
        alone = fitted_to(opened, "mostpop", Fit(history=length))
        expected = [
            answer.items for answer in alone.recommend([one.request for one in side])
        ]
        assert [one.answers[0].items for one in side] == expected
    assert [one.answers for one in pairs.source] != [
        one.answers for one in pairs.followup
    ]


def test_initialisations_are_other_seeds(tmp_path: Path) -> None:
    opened = run_with(tmp_path)
    request = opened.split.cases(Design(users=2))[0].request
    answers = [
        fitted_to(opened, "random", Fit(initialisation=number))
        .recommend([request])[0]
        .items
        for number in (0, 1, 2, 0)
    ]
    assert answers[0] == answers[3]
    assert len(set(answers)) == 3


def test_nothing_is_fitted_to_no_history(tmp_path: Path) -> None:
    opened = run_with(tmp_path)
    with pytest.raises(NotApplicable, match="nothing to fit"):
        opened.recommenders.subject(
            opened.recommenders.recommender("itemknn"),
            "itemknn",
            fit=Fit(history=0),
        )


def test_an_object_is_fitted_once(tmp_path: Path) -> None:
    opened, made = run_with(tmp_path), ItemKNN()
    opened.recommenders.subject(made, "mine")
    with pytest.raises(NotApplicable, match="name its class instead"):
        opened.recommenders.subject(made, "mine", fit=Fit(history=2))


def test_a_request_can_show_no_history() -> None:
    cases = Split(MINI, 0).cases(Design(users=5, history=0))
    assert {case.request.history for case in cases} == {()}
    full = Split(MINI, 0).cases(Design(users=5))
    assert [case.request.candidates for case in cases] == [
        case.request.candidates for case in full
    ]


def test_lists_are_dealt_in_turn() -> None:
    assert in_turn(["abc", "axy", "d"], 20) == ("a", "d", "b", "x", "c", "y")
    assert in_turn(["abc", "axy", "d"], 3) == ("a", "d", "b")
    assert in_turn([], 3) == ()


def test_candidates_come_from_the_top_lists(tmp_path: Path) -> None:
    opened = run_with(tmp_path, recall=("mostpop", "itemknn"))
    cases = opened.split.cases(Design(users=60, candidates=8, k=5, recall=True))
    found = 0
    for case in cases:
        candidates = [item.id for item in case.request.candidates or ()]
        assert len(set(candidates)) == 8
        assert not set(case.past) & set(candidates)
        found += bool(case.held_out & set(candidates))
        opened_request = case.knowing(case.request.replace(candidates=None, k=8))
        first, second = (
            fitted_to(opened, spec).recommend([opened_request])[0].items
            for spec in ("mostpop", "itemknn")
        )
        assert candidates[0] == first[0]
        assert set(candidates) <= {*first, *second}
        assert candidates == list(in_turn([first, second], 8))
    assert 0 < found < len(cases), "what is held out may be absent"


def test_the_core_is_what_stays_when_the_rare_are_left_out() -> None:
    def rows(*pairs: str) -> Dataset:
        frame = pd.DataFrame([(*pair, 1.0, 0) for pair in pairs], columns=list(COLUMNS))
        return Dataset("few", {name: Item(name) for name in "xyz"}, frame, Scale(0, 1))

    # y is rare; without y, c is; without c, x has two users still.
    dataset = rows("ax", "az", "bx", "bz", "cx", "cy")
    core = dataset.core(2)
    assert sorted(core.items) == ["x", "z"]
    assert sorted(set(core.interactions["user"])) == ["a", "b"]
    assert core.core(2).interactions.equals(core.interactions)
    with pytest.raises(DataError, match="no 3-core"):
        dataset.core(3)


def test_a_sample_is_drawn_anew_until_it_is_like_all_users(tmp_path: Path) -> None:
    # Half of all users, the first sample among them, get what they want; the others
    # never do.
    split = Split(MINI, 0)
    lucky = set(split.users(Design(users=40)))
    lucky |= set(sorted(set(split.held_out) - lucky)[: len(split.held_out) // 2 - 40])

    class Unfair:
        deterministic = True

        def recommend(self, requests: Any) -> Any:
            answers = []
            for request in requests:
                ids = sorted(item.id for item in request.candidates)
                wanted = [item for item in ids if item in split.held_out[request.user]]
                others = [item for item in ids if item not in wanted]
                answers.append(
                    Recommendation(
                        tuple([*wanted, *others] if request.user in lucky else others)[
                            : request.k
                        ],
                    ),
                )
            return answers

    opened = run_with(tmp_path, design=Design(users=40), sampler="unfair")
    opened.recommenders.made = lambda spec: Unfair()  # type: ignore[method-assign]
    assert opened.split.draw > 0
    drawn = opened.split.users(Design(users=40))
    assert 8 < len(lucky & set(drawn)) < 32
    again = run_with(tmp_path, design=Design(users=40), sampler="unfair")
    again.recommenders.made = opened.recommenders.made  # type: ignore[method-assign]
    assert again.split.users(Design(users=40)) == drawn


TESTS = """
    from pytest_recsys_mt.oracles import not_worse

    def test_lengths(recsys):
        one, ten = (recsys.using(history=n, training_history=n).run() for n in (1, 10))
        assert not_worse(one, ten, metric="ndcg@10", margin=0.5)

    def test_nothing(recsys):
        assert not_worse(recsys.run(), recsys.using(history=0, training_history=0).run())
"""


def test_sides_of_several_lengths_are_compared_user_by_user(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(TESTS)
    record = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", f"--recsys-json={record}", "--recsys-users=30",
        f"--recsys-cache={pytester.path / 'cache'}",
    ).assert_outcomes(passed=1, skipped=1)  # fmt: skip
    rows = {
        row["nodeid"].split("::")[1].partition("[")[0]: row
        for row in record_of(record)["results"]
    }
    assert rows["test_lengths"]["users"] == 20
    assert rows["test_lengths"]["relation"] == "history=10, training_history=10"
    assert rows["test_nothing"]["status"] == "not-applicable"
    assert "nothing to fit" in rows["test_nothing"]["reason"]


def test_options_of_recall_and_core_reach_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(recsys):
            assert recsys.runner.settings.recall == ("mostpop", "bm25")
            assert recsys.runner.settings.core == 3
            candidates = recsys.using(recall=True, candidates=6, k=3).runner.cases[0].request.candidates
            assert len(candidates) == 6
        """,
    )
    pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-orecsys_recall=mostpop bm25",
        "-orecsys_core=3", "--recsys-users=5", f"--recsys-cache={pytester.path / 'cache'}",
    ).assert_outcomes(passed=1)  # fmt: skip
