"""A run that is killed has lost nothing that was answered, and asks none of it again."""

import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.durability.forked import Forked
from tests.durability.project import CALLS, CONCURRENCY, Counting, Project, question_of
from tests.support.calls import AnswerCache

ANSWER = dict[str, Any]


def kept(project: Project) -> dict[str, tuple[str, ANSWER]]:
    """The answers that are on disk, with the question of each, by key."""
    if not project.cache.exists():
        return {}
    cache = AnswerCache(project.cache)
    found = {}
    for _, row in cache.rows():
        assert row is not None, "a kill leaves no damaged row"
        found[row.key] = question_of(dict(row.call)), dict(row.answer)
    cache.close()
    return found


def kill(process: subprocess.Popen[str] | Forked) -> bool:
    """Kill a run with its workers; whether there was anything left to kill."""
    running = process.poll() is None
    if running:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(0.1)  # what was sent already is counted by the server
    return running


def survive(
    project: Project,
    counting: Counting,
    kills: int,
    *options: str,
) -> list[int]:
    """Kill runs at random points and let the last one finish.

    Returns:
        For each kill, how many calls were on their way.
    """
    rng = np.random.default_rng(kills)
    durable: dict[str, tuple[str, ANSWER]] = {}
    costs = []
    for number in range(kills):
        before = Counter(counting.asked)
        process = project.start(*options)
        # From before the first call to the judging after the last one.
        left = CALLS - len(durable)
        asked = min(left, int(rng.integers(0, 2 * left // (kills - number) + 2)))
        while (
            process.poll() is None and counting.asked.total() < before.total() + asked
        ):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        killed = kill(process)
        lately = counting.asked - before
        assert not {question for question, _ in durable.values()} & set(lately), (
            "what is on disk is not asked again"
        )
        now = kept(project)
        assert now.items() >= durable.items(), "what was on disk stays there as it was"
        if killed:
            costs.append(lately.total() - (len(now) - len(durable)))
        durable = now
    code, output = project.run(*options)
    assert code in (0, 1), output
    again = project.found()["calls"]["again"]
    assert counting.asked.total() == CALLS + again + sum(costs)
    assert len(counting.asked) == CALLS + again
    return costs


def assert_killed_runs_end_as_one(
    project: Project,
    counting: Counting,
    tmp_path: Path,
    pytester: pytest.Pytester,
    kills: int,
    *options: str,
) -> None:
    undisturbed = Project(
        tmp_path / "undisturbed" / project.folder.name,
        counting.server.url,
    )
    undisturbed.run_here(pytester)
    assert set(counting.asked.values()) == {1}
    counting.asked.clear()
    counting.delay = 0.03
    costs = survive(project, counting, kills, *options)
    print(
        f"{len(costs)} kills; calls on the way at each: {costs}; {CALLS} calls in all",
    )
    assert costs
    one, other = project.found(), undisturbed.found()
    assert one["calls"]["planned"] == other["calls"]["planned"] == CALLS
    own = {"calls": None, "time": None, "drift": None}
    assert {**one, **own} == {**other, **own}


def test_a_run_that_was_killed_ends_as_if_nothing_had_been(
    project: Project,
    counting: Counting,
    tmp_path: Path,
    pytester: pytest.Pytester,
) -> None:
    assert_killed_runs_end_as_one(project, counting, tmp_path, pytester, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [(), ("-n", "2")],
    ids=["one process", "two workers"],
)
def test_so_does_one_killed_twenty_times(
    project: Project,
    counting: Counting,
    tmp_path: Path,
    pytester: pytest.Pytester,
    options: tuple[str, ...],
) -> None:
    assert_killed_runs_end_as_one(project, counting, tmp_path, pytester, 20, *options)


@pytest.mark.slow  # a killed run that goes on counts its calls, too
def test_only_what_is_on_its_way_at_the_kill_is_asked_again(
    project: Project,
    counting: Counting,
) -> None:
    answered = 7
    counting.answer_only(answered)
    process = project.start()
    while process.poll() is None and len(kept(project)) < answered:
        time.sleep(0.05)
    assert kill(process)
    on_the_way = counting.asked.total() - answered
    assert 1 <= on_the_way <= CONCURRENCY
    counting.answer_only(None)
    project.run()
    record = project.found()
    asked = CALLS + record["calls"]["again"]
    assert counting.asked.total() == asked + on_the_way
    assert len(counting.asked) == asked
    project.run()
    assert counting.asked.total() == asked + on_the_way
    assert project.found()["drift"] == record["drift"] != []


@pytest.mark.slow  # engine/test_ahead shows on two that no call is put twice
def test_four_workers_on_one_cache_ask_each_call_once(
    project: Project,
    counting: Counting,
) -> None:
    code, output = project.run("-n", "4")
    assert code in (0, 1), output
    assert counting.asked.total() == len(counting.asked) == CALLS


@pytest.mark.slow
def test_four_runs_on_one_cache_ask_each_call_once(
    project: Project,
    counting: Counting,
) -> None:
    processes = [project.start() for _ in range(4)]
    for process in processes:
        output, _ = process.communicate()
        assert process.returncode in (0, 1), output
    assert counting.asked.total() == len(counting.asked) == CALLS
