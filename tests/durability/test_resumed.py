"""What a run and those that go on after it send together: no more than one run would,
and the check of change.
"""

import hashlib
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.durability.project import CALLS as CALLS_OF_THREE
from tests.durability.project import USERS, Counting, Project
from tests.durability.test_kills import kept, kill
from tests.models.faults import Reply, completion

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, typos

@metamorphic(reorder_history)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.05)

@metamorphic(typos(0.1))
def test_another(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""
CALLS = USERS * 2 * 3
"""Two replicates of the source and of two relations."""
CHECK = USERS * 2
"""Calls that show at the end whether answers changed with time."""


def moved(payload: dict[str, Any]) -> dict[str, Any]:
    """An answer with a little noise, which follows every word of
    the question: the relations are broken.
    """
    text = payload["messages"][-1]["content"]
    titles = dict.fromkeys(re.findall(r"(?m)^\d+\. (.+ \(\d{4}\))", text))

    def order(title: str) -> str:
        return hashlib.sha256(f"{title} {text}".encode()).hexdigest()

    first, second, *others = sorted(titles, key=order)[:10]
    ranked = (
        [second, first, *others]
        if payload["seed"] % 3 == 0
        else [first, second, *others]
    )
    return completion("\n".join(f"{n}. {title}" for n, title in enumerate(ranked, 1)))


@pytest.mark.parametrize("fingerprint", ["fp", None])
@pytest.mark.parametrize(
    "parts",
    [
        (9,),
        pytest.param((85,), marks=pytest.mark.slow),
        pytest.param((30, 30), marks=pytest.mark.slow),
        pytest.param((2, 3, 5, 7, 11, 13, 17, 19), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_they_cost_what_one_run_costs_and_the_check(
    counting: Counting,
    project: Project,
    pytester: pytest.Pytester,
    parts: tuple[int, ...],
    fingerprint: str | None,
) -> None:
    asked = []

    def answer(payload: dict[str, Any]) -> Reply:
        asked.append(payload)
        return Reply({**moved(payload), "system_fingerprint": fingerprint})

    counting.server.answer = answer
    (Path(project.folder) / "test_it.py").write_text(TEST)
    for most in parts:
        project.run_here(pytester, f"--recsys-max-calls={most}")
    project.run_here(pytester)
    record = project.found()
    assert [row["status"] for row in record["results"]] == ["violated", "violated"]
    assert len(asked) == CALLS + record["calls"]["again"]
    assert record["calls"]["again"] <= CHECK


ASKED_BEFORE = 61
"""Calls of a first run: the answers of the second have
another time, so the check is due.
"""
OF_THE_CHECK = 7
"""Calls of the check that are answered before the kill: an odd
number, so one user has half of the answers.
"""


def killed_in_its_check(
    project: Project,
    counting: Counting,
    pytester: pytest.Pytester,
) -> int:
    """Kill a run within its check of change; returns how many calls were on their way."""
    project.run_here(pytester, f"--recsys-max-calls={ASKED_BEFORE}")
    answered = CALLS_OF_THREE + OF_THE_CHECK
    counting.answer_only(answered - counting.asked.total())
    process = project.start()
    end = time.monotonic() + 60
    while (
        len(kept(project)) < answered
        and process.poll() is None
        and time.monotonic() < end
    ):
        time.sleep(0.05)
    assert kill(process)
    assert len(kept(project)) == answered
    counting.answer_only(None)
    return counting.asked.total() - answered


def test_a_check_of_change_that_was_killed_is_finished(
    counting: Counting,
    project: Project,
    pytester: pytest.Pytester,
) -> None:
    on_the_way = killed_in_its_check(project, counting, pytester)
    project.run_here(pytester)
    resumed = project.found()
    asked = counting.asked.total()
    assert len(counting.asked) == asked - on_the_way <= CALLS_OF_THREE + CHECK
    (drift,) = resumed["drift"]
    assert drift["users"] == (len(counting.asked) - CALLS_OF_THREE) / 2 > OF_THE_CHECK
    assert resumed["notes"] == []

    project.run_here(pytester)
    assert counting.asked.total() == asked, "the check is finished"
    assert project.found()["drift"] == [drift]


def test_a_check_that_a_limit_ends_is_told_so(
    project: Project,
    pytester: pytest.Pytester,
) -> None:
    project.run_here(pytester, f"--recsys-max-calls={ASKED_BEFORE}")
    left = CALLS_OF_THREE - ASKED_BEFORE + OF_THE_CHECK
    _, output = project.run_here(pytester, f"--recsys-max-calls={left}")
    (note,) = project.found()["notes"]
    # The terminal breaks lines, also behind hyphens.
    assert "".join(note.split()) in "".join(output.split())
    assert "the check whether answers changed was not finished" in note


def test_a_plan_counts_the_check_of_kept_answers(
    project: Project,
    pytester: pytest.Pytester,
) -> None:
    def more() -> str:
        _, plan = project.run_here(pytester, "--recsys-plan")
        (told,) = re.findall(r"(\d+) more if every relation is violated", plan)
        return str(told)

    before = more()
    project.run_here(pytester, f"--recsys-max-calls={ASKED_BEFORE}")
    project.run_here(pytester)
    assert more() == before


def test_a_verdict_that_some_users_prove_says_how_many(
    counting: Counting,
    project: Project,
    pytester: pytest.Pytester,
) -> None:
    version = "before"
    counting.server.answer = lambda payload: Reply(
        {**moved(payload), "system_fingerprint": version},
    )
    (Path(project.folder) / "test_it.py").write_text(TEST)
    project.run_here(pytester, f"--recsys-max-calls={ASKED_BEFORE}")
    version = "after"
    page = project.folder / "page.html"
    _, output = project.run_here(pytester, f"--recsys-html={page}")
    parts = [row["details"].get("at_one_time") for row in project.found()["results"]]
    # All calls of a user follow each other: one user was asked a part of them before.
    assert {"users": USERS - 1, "of": USERS} in parts
    said = (
        f"proved by {USERS - 1} of {USERS} users whose two sides were asked at one time"
    )
    assert said in page.read_text()
    assert "".join(said.split()) in "".join(output.split())
