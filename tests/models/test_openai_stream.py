"""Further calls join those in flight: nothing waits for the slowest of a batch."""

import random
import re
import threading
import time
from typing import Any

import pytest

from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.models.faults import FaultServer, Reply, completion
from tests.plugin.conftest import record_of
from tests.support.llm_api import OpenAIModel


def prompts(*numbers: int) -> list[Prompt]:
    return [
        Prompt((Message("user", f"question {number}"),), seed=number)
        for number in numbers
    ]


def question(payload: dict[str, Any]) -> int:
    return int(payload["messages"][-1]["content"].split()[-1])


def test_prompts_join_those_in_flight_and_are_numbered_on(faulty: FaultServer) -> None:
    flying, most, lock = 0, 0, threading.Lock()

    def answer(payload: dict[str, Any]) -> Reply:
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        number = question(payload)
        with lock:
            flying -= 1
        return (
            Reply({"error": "no"}, 400)
            if number % 7 == 3
            else Reply(completion(str(number)))
        )

    faulty.answer = answer
    model = OpenAIModel("tiny", concurrency=3)
    found: dict[int, Completion | None] = {}
    added = [prompts(2, 3, 4, 5), prompts(6), [], prompts(*range(7, 30))]
    for arrived in model.complete_each(prompts(0, 1)):
        assert not found.keys() & {position for position, _ in arrived}
        found.update(arrived)
        if added:
            assert model.also(added.pop(0))
    model.close()
    assert sorted(found) == list(range(30))
    assert all(
        completed is not None and (completed.text == str(position) or position % 7 == 3)
        for position, completed in found.items()
    )
    assert most <= 3
    assert len(faulty.asked) == 30


def test_what_joined_is_given_up_with_the_rest(faulty: FaultServer) -> None:
    faulty.answer = lambda payload: Reply(completion("x"))
    model = OpenAIModel("tiny", concurrency=2)
    found = []
    for arrived in model.complete_each(prompts(0, 1)):
        found += arrived
        model.also(prompts(*range(2, 40)))
        model.wind_down()
    model.close()
    assert len(found) <= 4, "what was in flight"


TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import add_spaces, change_case, scale_ratings, shift_ratings

@metamorphic(change_case("upper"), scale_ratings(2), shift_ratings(1))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.04)
"""
FIRST = 20 * 2 * 4
"""Users of the first step, replicates, and the source with three follow-ups."""


def test_a_test_goes_on_while_another_waits_for_its_slowest_answer(
    faulty: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    asked, went_on, overtaken = 0, threading.Event(), list[bool]()
    held: list[bool] = []
    lock = threading.Lock()

    def answer(payload: dict[str, Any]) -> Reply:
        nonlocal asked
        with lock:
            asked += 1
            # A call of one test alone: for the source, all would have to wait.
            slowest = not held and payload["messages"][-1]["content"].isupper()
            held.extend([True] * slowest)
            if asked > FIRST:
                went_on.set()
        shown = re.findall(
            r"^\d+\. .*$",
            payload["messages"][-1]["content"],
            re.MULTILINE,
        )
        drawn = random.Random(payload["seed"])
        place = drawn.randrange(9)
        shown[place], shown[place + 1] = shown[place + 1], shown[place]
        if slowest:
            overtaken.append(went_on.wait(timeout=120))
        return Reply(completion("\n".join(shown[:10])))

    faulty.answer = answer
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-model=openai:tiny?concurrency=8&timeout=600",
        "--recsys-json=record.json", "--recsys-users=60",
    )  # fmt: skip
    assert overtaken == [True]
    record = record_of(pytester.path / "record.json")
    assert [row["errors"] for row in record["results"]] == [0, 0, 0]
    assert max(row["looks"] for row in record["results"]) > 1
    assert record["calls"]["made"] + record["calls"]["again"] == len(faulty.asked)
    assert done.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


ALONE = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import ask_alone

@metamorphic(ask_alone)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""


@pytest.mark.parametrize("effort", ["standard", "thorough"])
def test_an_endpoint_is_asked_one_by_one_only_where_that_is_wanted(
    faulty: FaultServer,
    pytester: pytest.Pytester,
    effort: str,
) -> None:
    flying, most, lock = 0, list[int](), threading.Lock()

    def answer(payload: dict[str, Any]) -> Reply:
        nonlocal flying
        with lock:
            flying += 1
            most.append(flying)
        time.sleep(0.02)  # others would come meanwhile
        shown = re.findall(
            r"^\d+\. .*$",
            payload["messages"][-1]["content"],
            re.MULTILINE,
        )
        with lock:
            flying -= 1
        return Reply(completion("\n".join(shown[:10])))

    faulty.answer = answer
    pytester.makepyfile(ALONE)
    pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-model=openai:tiny?concurrency=8", "--recsys-users=10",
        f"--recsys-effort={effort}", "--recsys-json=record.json",
    )  # fmt: skip
    (row,) = record_of(pytester.path / "record.json")["results"]
    if effort == "standard":
        assert row["status"] == "not-applicable"
        assert "--recsys-effort=thorough" in row["reason"]
    else:
        assert row["users"] == 10
        assert most[20:40] == [1] * 20, "after those of the source"
