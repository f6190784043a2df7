"""What a run and those that go on after it send together: no more than one run would, and the check of change."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from tests.durability.project import USERS, Counting, Project
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
    """An answer with a little noise, which follows every word of the question: the relations are broken."""
    text = payload["messages"][-1]["content"]
    titles = dict.fromkeys(re.findall(r"(?m)^\d+\. (.+ \(\d{4}\))", text))

    def order(title: str) -> str:
        return hashlib.sha256(f"{title} {text}".encode()).hexdigest()

    first, second, *others = sorted(titles, key=order)[:10]
    ranked = [second, first, *others] if payload["seed"] % 3 == 0 else [first, second, *others]
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
