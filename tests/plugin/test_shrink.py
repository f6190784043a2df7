"""--recsys-shrink: the smallest request of the worst user that still shows a violation."""

import itertools
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.plugin.conftest import record_of
from tests.support.engine import counterexample
from tests.support.plugin import shrinking

RECOMMENDERS = '''
import hashlib
from pytest_recsys_mt import Recommendation


class LastThree:
    """Likes what shares genres with the last three films of the history, and reads no more."""

    deterministic = True
    fingerprint = "last-three"

    def recommend(self, requests):
        return [self.answer(request, request.history[-3:]) for request in requests]

    def answer(self, request, read):
        def liking(item):
            genres = set(item.attributes["genres"])
            return sum(
                rating.value for rating in read if genres & set(rating.item.attributes["genres"])
            )

        ranked = sorted(request.candidates, key=lambda item: (-liking(item), item.id))
        return Recommendation(tuple(item.id for item in ranked[: request.k]))


class ReadsNothing(LastThree):
    """Ranks by the id alone."""

    fingerprint = "reads-nothing"

    def answer(self, request, read):
        items = sorted(item.id for item in request.candidates)
        return Recommendation(tuple(items[: request.k]))


class RepeatsTheFirst(LastThree):
    """Recommends the first film of the history."""

    fingerprint = "repeats-the-first"

    def answer(self, request, read):
        return Recommendation((request.history[0].item.id,))


class NoisyLastThree(LastThree):
    """Swaps the first two now and then."""

    deterministic = False
    fingerprint = "noisy-last-three"

    def answer(self, request, read):
        items = super().answer(request, read).items
        seed = f"{request.replicate} {[item.id for item in request.candidates]}".encode()
        if hashlib.sha256(seed).digest()[0] < 25:
            items = (*items[1::-1], *items[2:])
        return Recommendation(items)


class Dice:
    """Ranks by throws of dice, other ones for every request and replicate."""

    deterministic = False
    fingerprint = "dice"

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        told = [rating.item.id for rating in request.history]
        def thrown(item):
            return hashlib.sha256(f"{request.replicate} {told} {item.id}".encode()).digest()

        ranked = sorted(request.candidates, key=thrown)
        return Recommendation(tuple(item.id for item in ranked[: request.k]))


class DiceForOthers(LastThree):
    """As the base class for long histories; throws dice for short ones."""

    deterministic = False
    fingerprint = "dice-for-others"

    def answer(self, request, read):
        if len(request.history) == 20:
            return super().answer(request, read)
        return Dice().answer(request)


class FirstCandidate:
    """Puts the candidate that stands first on top, unless it has to choose from fewer than five."""

    deterministic = True
    fingerprint = "first-candidate"

    def recommend(self, requests):
        answers = []
        for request in requests:
            if len(request.candidates) < 5:
                raise RuntimeError("too few to choose from")
            rest = sorted(item.id for item in request.candidates[1:])
            answers.append(Recommendation((request.candidates[0].id, *rest)[: request.k]))
        return answers
'''

ORDER = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import reorder_history

@metamorphic(reorder_history)
def test_order(source, followup):
    assert complete_list(source, margin=0.2)
    assert same_ranking(source, followup, margin=0.05)
"""


@pytest.fixture
def shrink(project: pytest.Pytester, tmp_path: Path) -> Any:
    """Run a test file with --recsys-shrink; the rows of
    the record, the calls and the result.
    """

    def execute(
        test: str,
        model: str,
        limit: int | None,
        *more: str,
    ) -> tuple[list[dict[str, Any]], dict[str, int], pytest.RunResult]:
        project.makepyfile(faulty=RECOMMENDERS, test_it=test)
        out = tmp_path / "record.json"
        result = project.runpytest_inprocess(
            "-p",
            "no:cacheprovider",
            "--recsys-users=40",
            f"--recsys-model=faulty:{model}",
            f"--recsys-json={out}",
            f"--recsys-cache={tmp_path / 'cache'}",
            *([] if limit is None else [f"--recsys-shrink={limit}"]),
            *more,
        )
        record = record_of(out)
        return record["results"], record["calls"], result

    return execute


def sizes(shrunk: dict[str, Any]) -> tuple[int, int, int]:
    source = shrunk["source"]
    return len(source["history"]), len(source["candidates"]), source["k"]


def test_a_reader_of_the_last_three_is_shown_with_four_films_and_two_candidates(
    shrink: Any,
) -> None:
    rows, _, result = shrink(ORDER, "LastThree", 300)
    result.assert_outcomes(failed=1)
    complete, ranking = rows
    assert complete["shrunk"] is None
    shrunk = ranking["shrunk"]
    assert sizes(shrunk) == (4, 2, 2)
    assert shrunk["minimal"]
    assert shrunk["user"] == ranking["examples"][0]["user"]
    assert shrunk["effect"] == pytest.approx(0.1)
    assert shrunk["source"]["answer"] == shrunk["followup"]["answer"][::-1]
    # The follow-up is the transformed request, not the source with another answer.
    history = [rating["item"] for rating in shrunk["source"]["history"]]
    moved = [rating["item"] for rating in shrunk["followup"]["history"]]
    assert history != moved
    assert sorted(history) == sorted(moved)
    result.stdout.fnmatch_lines(
        [
            "smallest example: user *, 4 of 20 history items, 2 of 20 candidates",
            "(nothing more can be left out; * calls; effect 0.1000)",
            "  history     … the same 4, in another order",
            "              + *: * (moved from * to *)",
            "  candidates    *",
            "  k             2",
            "    source *follow-up",
            "  1 *",
            "  2 *",
        ],
    )


def test_replicates_of_a_stochastic_recommender_are_asked_as_in_the_test(
    shrink: Any,
) -> None:
    _, before, _ = shrink(ORDER, "NoisyLastThree", 0, "--recsys-replicates=3")
    rows, calls, _ = shrink(ORDER, "NoisyLastThree", 600, "--recsys-replicates=3")
    assert calls["cached"] == before["made"]
    shrunk = rows[1]["shrunk"]
    assert calls["made"] == 0
    assert calls["searched"] == shrunk["calls"] > 0
    history, candidates, k = sizes(shrunk)
    assert shrunk["minimal"]
    assert shrunk["effect"] > rows[1]["margin"]
    assert history <= 6
    assert candidates == k <= 3


def test_what_chance_alone_showed_is_not_shown(
    shrink: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.support.oracles_judging import claim

    monkeypatch.setattr(claim, "_status", lambda *_, **__: "violated")
    test = ORDER.replace("    assert complete_list(source, margin=0.2)\n", "")
    test = test.replace("margin=0.05", "margin=0.01")  # below the mean of these users
    (row,), calls, _ = shrink(test, "Dice", 300)
    assert row["status"] == "violated"
    assert calls["searched"] > 0, "fresh answers were asked"
    assert row["shrunk"] is None


def test_a_smaller_request_that_showed_it_by_chance_gives_way_to_the_whole_one(
    shrink: Any,
) -> None:
    rows, _, _ = shrink(ORDER, "DiceForOthers", 300)
    shrunk = rows[1]["shrunk"]
    assert sizes(shrunk)[0] == 20
    assert shrunk["ended"].endswith("seen again in 8 of 8 fresh answers")
    assert shrunk["effect"] > rows[1]["margin"]
    assert shrunk["calls"] <= 300


def test_a_smallest_request_of_a_stochastic_recommender_was_seen_again(
    shrink: Any,
) -> None:
    rows, _, result = shrink(ORDER, "NoisyLastThree", 400)
    shrunk = rows[1]["shrunk"]
    assert sizes(shrunk)[0] <= 6
    assert shrunk["ended"] in (
        "nothing more can be left out; seen again in 7 of 8 fresh answers",
        "nothing more can be left out; seen again in 8 of 8 fresh answers",
    )
    result.stdout.fnmatch_lines(["*seen again in ? of 8 fresh*"])


def test_with_too_few_calls_for_fresh_answers_chance_is_named(shrink: Any) -> None:
    rows, _, _ = shrink(ORDER, "NoisyLastThree", 9)
    shrunk = rows[1]["shrunk"]
    assert shrunk["calls"] <= 9
    assert shrunk["ended"] == f"the calls ran out; {counterexample.BY_CHANCE}"


def test_no_more_calls_are_made_than_allowed(shrink: Any) -> None:
    rows, calls, result = shrink(ORDER, "LastThree", 9)
    shrunk = rows[1]["shrunk"]
    assert shrunk["calls"] <= 9
    assert not shrunk["minimal"]
    assert sizes(shrunk)[0] < 20
    assert calls["made"] == 20 * 2
    assert calls["searched"] == shrunk["calls"]
    (row,) = (row for row in calls["by"] if row["purpose"] == "counterexample")
    assert row["attempts"] == row["searched"] == shrunk["calls"]
    result.stdout.fnmatch_lines(["(the calls ran out; * calls; effect *)"])
    result.stdout.fnmatch_lines(
        [
            "to look for the smallest example, with at most 200 more calls:",
            "*--recsys-shrink=200 *",
        ],
    )
    result.stdout.no_fnmatch_line("*--recsys-shrink=9 *--recsys-shrink=200*")


def test_replay_finds_what_the_first_run_found_and_asks_nothing(shrink: Any) -> None:
    first, _, _ = shrink(ORDER, "LastThree", 30)
    again, calls, _ = shrink(ORDER, "LastThree", 30, "--recsys-mode=replay")
    assert again == first
    assert calls["made"] == 0
    # Beyond what is recorded the search ends, with what it has found.
    further, calls, result = shrink(ORDER, "LastThree", 300, "--recsys-mode=replay")
    assert calls["made"] == 0
    assert further[1]["shrunk"]["source"] == first[1]["shrunk"]["source"]
    assert not further[1]["shrunk"]["minimal"]
    assert further[1]["shrunk"]["ended"] == "the other answers are not recorded"
    result.assert_outcomes(failed=1)


def without_search(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "shrunk": None, "reproduce": ""} for row in rows]


def test_it_is_the_default_in_this_process_and_changes_no_verdict_and_no_count(
    shrink: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shrinking, "SECONDS", math.inf)  # however slow this machine is
    rows, calls, _ = shrink(ORDER, "LastThree", None, "--recsys-mode=refresh")
    assert sizes(rows[1]["shrunk"]) == (4, 2, 2)
    none, counted, result = shrink(ORDER, "LastThree", 0, "--recsys-mode=refresh")
    assert none[1]["shrunk"] is None
    result.stdout.no_fnmatch_line("*smallest example:*")
    result.stdout.fnmatch_lines(
        ["to look for the smallest example*", "*--recsys-shrink=200*"],
    )
    result.stdout.no_fnmatch_line("*--recsys-shrink=0*--recsys-mode=auto")
    assert without_search(rows) == without_search(none)
    searched = {"searched", "attempts", "by", "usd", "usd_at_most", "unknown_cost"}
    assert {key: calls[key] for key in calls.keys() - searched} == {
        key: counted[key] for key in counted.keys() - searched
    }
    assert calls["searched"] > counted["searched"] == 0


@pytest.mark.parametrize("why", ["limit", "expected to fail", "takes no time"])
def test_nothing_is_searched_unasked_where_it_may_be_felt(
    shrink: Any,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = "@pytest.mark.xfail\n" if why == "expected to fail" else ""
    test = ORDER.replace("@metamorphic", f"import pytest\n{mark}@metamorphic")
    if why == "takes no time":
        monkeypatch.setattr(shrinking, "SECONDS_OF_A_RUN", 0.0)
    more = ["--recsys-max-calls=500"] if why == "limit" else []
    rows, calls, result = shrink(test, "LastThree", None, *more)
    assert rows[1]["status"] == "violated"
    assert rows[1]["shrunk"] is None
    assert calls["searched"] == 0
    if why in ("limit", "takes no time"):
        result.stdout.fnmatch_lines(
            ["to look for the smallest example*", "*--recsys-shrink=200*"],
        )


def test_where_time_ends_the_search_the_failure_says_so(
    shrink: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = itertools.count()  # a second passes whenever somebody looks
    monkeypatch.setattr(
        counterexample,
        "time",
        SimpleNamespace(monotonic=lambda: next(clock)),
    )
    rows, _, result = shrink(ORDER, "LastThree", None)
    assert not rows[1]["shrunk"]["minimal"]
    result.stdout.fnmatch_lines(
        ["(the time was over; * calls; *", "to look for the smallest example*"],
    )


def test_the_search_does_not_run_the_body_again(shrink: Any) -> None:
    test = ORDER.replace(
        "    assert complete",
        "    print('said in the body')\n    assert complete",
    )
    rows, _, result = shrink(test, "LastThree", None)
    assert rows[1]["shrunk"] is not None
    assert result.outlines.count("said in the body") == 1


def test_a_promise_of_change_is_not_shrunk(shrink: Any) -> None:
    """Of one candidate every recommender makes the same list."""
    test = """
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import different_ranking
    from pytest_recsys_mt.relations import drop_history

    @metamorphic(drop_history(2))
    def test_history(source, followup):
        assert different_ranking(source, followup, margin=0.1)
    """
    rows, calls, result = shrink(test, "FirstCandidate", None)
    assert rows[0]["status"] == "violated"
    assert rows[0]["shrunk"] is None
    assert calls["searched"] == 0
    result.stdout.no_fnmatch_line("*--recsys-shrink=*")


def test_an_answer_that_stays_the_same_is_shown_where_it_could_change(
    shrink: Any,
) -> None:
    """With one candidate, or with a history that the relation leaves alone, no
    recommender can keep the promise.
    """
    test = """
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import few_unchanged
    from pytest_recsys_mt.relations import reorder_history

    @metamorphic(reorder_history)
    def test_history(source, followup):
        assert few_unchanged(source, followup, margin=0.05)
    """
    (row,), _, _ = shrink(test, "ReadsNothing", None)
    assert sizes(row["shrunk"]) == (2, 2, 2)
    assert row["shrunk"]["minimal"]


def test_a_promise_about_one_side_is_shown_with_its_answer(shrink: Any) -> None:
    test = """
    from pytest_recsys_mt.oracles import only_candidates

    def test_offer(recsys):
        assert only_candidates(recsys.run(), margin=0.05)
    """
    (row,), _, result = shrink(test, "RepeatsTheFirst", None)
    assert sizes(row["shrunk"])[:2] == (1, 1)
    assert row["shrunk"]["followup"] is None
    (title,) = row["shrunk"]["source"]["answer"]
    result.stdout.fnmatch_lines(
        ["smallest example:*", "    answer", f"  1 {title} (already in *)"],
    )


def test_a_promise_without_a_margin_is_shown_with_any_change(shrink: Any) -> None:
    test = """
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import never_differs
    from pytest_recsys_mt.relations import reorder_history

    @metamorphic(reorder_history)
    def test_order(source, followup):
        assert never_differs(source, followup, users=20)
    """
    (row,), _, _ = shrink(test, "LastThree", None)
    assert sizes(row["shrunk"]) == (4, 2, 2)
    assert row["shrunk"]["minimal"]


def test_promises_behind_the_one_that_failed_end_no_search(shrink: Any) -> None:
    """The test fails at its first promise; a search goes on to
    the second, which does not hold either.
    """
    test = """
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import low_churn, same_ranking
    from pytest_recsys_mt.relations import reorder_history

    @metamorphic(reorder_history)
    def test_order(source, followup):
        assert same_ranking(source, followup, margin=0.05)
        assert low_churn(source, followup, beyond=0.001, margin=0.05)
    """
    rows, _, _ = shrink(test, "LastThree", None)
    assert [row["oracle"] for row in rows] == ["same_ranking:rbo"]
    assert sizes(rows[0]["shrunk"])[:2] == (4, 2)


def test_requests_that_fail_show_nothing(shrink: Any) -> None:
    test = """
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import same_ranking
    from pytest_recsys_mt.relations import shuffle_candidates

    @metamorphic(shuffle_candidates)
    def test_candidates(source, followup):
        assert same_ranking(source, followup, margin=0.01)
    """
    rows, _, _ = shrink(test, "FirstCandidate", 300)
    assert sizes(rows[0]["shrunk"]) == (1, 5, 5)
    assert (
        rows[0]["shrunk"]["ended"]
        == "nothing more can be left out, or the recommender fails"
    )


def test_violations_of_the_runners_own_tests_are_shrunk_and_known_ones_are_not(
    shrink: Any,
) -> None:
    test = """
    import pytest
    from pytest_recsys_mt import expect_violated, metamorphic
    from pytest_recsys_mt.oracles import decreases, same_ranking
    from pytest_recsys_mt.relations import drop_history, reorder_history

    @pytest.mark.parametrize("margin", [0.05])
    class TestChains:
        def test_chain(self, recsys, margin):
            short, turned = recsys.run(drop_history(2)), recsys.run(drop_history(2), reorder_history)
            assert same_ranking(short, turned, margin=margin)

        def test_other_design(self, recsys, margin):
            other = recsys.using(k=5)
            assert same_ranking(other.run(), other.run(reorder_history), margin=margin)

    @metamorphic(reorder_history)
    def test_known(source, followup):
        assert expect_violated(same_ranking(source, followup))
    """
    rows, _, result = shrink(test, "LastThree", 300)
    result.assert_outcomes(failed=2, passed=1)
    shrunk = {
        row["nodeid"].rpartition("::")[2].partition("[")[0]: row["shrunk"]
        for row in rows
    }
    assert shrunk["test_known"] is None
    assert shrunk["test_other_design"] is None
    # Two films are dropped before the order is changed; what is shown was asked so.
    assert sizes(shrunk["test_chain"])[0] in (3, 4)


def test_the_record_holds_plain_data(shrink: Any, tmp_path: Path) -> None:
    rows, _, _ = shrink(ORDER, "LastThree", 50)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


@pytest.mark.parametrize("value", ["-1", "many", "2.5"])
def test_the_limit_is_a_whole_number(project: pytest.Pytester, value: str) -> None:
    result = project.runpytest_inprocess(
        f"--recsys-shrink={value}",
        "-p",
        "no:cacheprovider",
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*--recsys-shrink='{value}': a whole number from 0 is needed*"],
    )


@pytest.mark.slow  # starts workers; the ini file is read as for every option
def test_workers_find_the_same_and_the_ini_file_may_ask_for_it(
    shrink: Any,
    project: pytest.Pytester,
) -> None:
    rows, calls, _ = shrink(ORDER, "LastThree", 40, "--recsys-mode=refresh")
    project.makeini("[pytest]\nrecsys_shrink = 40\n")
    on_workers, calls_on_workers, _ = shrink(
        ORDER,
        "LastThree",
        None,
        "--recsys-mode=refresh",
        "-n",
        "2",
    )
    assert on_workers == rows
    assert calls_on_workers == calls
    assert rows[1]["shrunk"] is not None


def test_each_side_is_shown_as_it_was_asked_where_both_are_transformed(
    shrink: Any,
) -> None:
    test = """
from pytest_recsys_mt.oracles import same_score
from pytest_recsys_mt.relations import place_positive

def test_places(recsys):
    first, last = recsys.run(place_positive(1)), recsys.run(place_positive(20))
    assert same_score(first, last, "hit@1", margin=0.1)
"""
    ((row,), _, _) = shrink(test, "FirstCandidate", 100)
    assert (row["status"], row["relation"]) == ("violated", "place_positive(20)")
    assert row["against"] == "place_positive(1)"
    source, followup = (
        row["shrunk"][side]["candidates"] for side in ("source", "followup")
    )
    assert source[0] == followup[-1] != followup[0], (
        "the positive stands first, then last"
    )
