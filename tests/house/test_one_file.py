"""What is added takes one file and no other edit: a script adds it to a copy of the tree, and all that is
said of its kind is true of it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras import need

ROOT = Path(__file__).resolve().parents[2]
RELATION = '''"""Ratings rounded to whole steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Transformation, call_name, usual
from pytest_recsys_mt.requests import Request, World

if TYPE_CHECKING:
    from numpy.random import Generator


@usual(1)
def lower_ratings(by: int) -> Transformation:
    """Lower every rating, as far as the scale goes.

    Source:
        A test of this project.

    Example:
        >>> import numpy as np
        >>> from pytest_recsys_mt.requests import Item, Rating, Request, Scale
        >>> request = Request("u", (Rating(Item("a"), 4),), Scale(1, 5), candidates=None, k=1)
        >>> lower_ratings(1)(request, np.random.default_rng(0)).history[0].value
        3.0

    Args:
        by: How much lower.
    """

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if not request.history:
            raise NotApplicable("the history is empty")
        low = request.scale.low
        if all(rating.value == low for rating in request.history):
            raise NotApplicable("every rating is the lowest")
        history = tuple(
            replace(rating, value=float(max(low, rating.value - by))) for rating in request.history
        )
        return request.replace(history=history)

    return Transformation(
        name=call_name("lower_ratings", by),
        apply=apply,
        promise="The ranking hardly changes when every rating is lower.",
        changes=frozenset({"history"}),
        needs=frozenset({"ratings"}),
        origin=HOUSE,
    )
'''

ORACLE = '''"""The answers must not change at all."""

from __future__ import annotations

import numpy as np

from pytest_recsys_mt.answers import Answers, Context, Pairs
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.judge import Claim, judge_pair
from pytest_recsys_mt.verdict import Verdict


def same_first(source: Answers, followup: Answers, margin: float = 0.1) -> Verdict:
    """Hardly any user gets another first item.

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed requests.
        margin: Largest share of users.
    """

    def measure(pairs: Pairs, context: Context) -> Effects:
        firsts = [[asked.answers[0].items[:1] for asked in side] for side in (pairs.source, pairs.followup)]
        moved = np.array([float(one != other) for one, other in zip(*firsts, strict=True)])
        return Effects(np.arange(len(moved)), moved, (0.0, 1.0))

    return judge_pair(source, followup, Claim("same_first", "at most", margin), measure)
'''
USED = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_first
from pytest_recsys_mt.relations import shuffle_candidates


@metamorphic(shuffle_candidates)
def test_the_first_stays(source, followup):
    assert same_first(source, followup)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and the tests of what is added, as one tree without links."""
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pytest_recsys_mt", tmp_path / "pytest_recsys_mt", ignore=left_out)
    for folder in ("relations", "strategies"):
        shutil.copytree(ROOT / "tests" / folder, tmp_path / "tests" / folder, ignore=left_out)
    for name in ("scripts/docs_pages.py", "scripts/exports", "SECURITY.md", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests" / "__init__.py").touch()
    return tmp_path


def run(copy: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_relation_is_one_file(copy: Path) -> None:
    (copy / "pytest_recsys_mt" / "relations" / "lower_ratings.py").write_text(RELATION)
    tests = run(
        copy, "-m", "pytest", "tests", "-q", "-p", "no:cacheprovider",
        "-k", "lower_ratings or transformation_is_drawn",
    )  # fmt: skip
    assert int(tests.split(" passed")[0].split()[-1]) >= 14
    need("mkdocs")
    page = run(copy, "-c", "from scripts.docs_pages import pages; print(pages()['relations.md'])")
    assert "## lower_ratings" in page
    assert "hardly changes when every rating is lower.* Needs" in page


def test_an_oracle_is_one_file(copy: Path) -> None:
    (copy / "pytest_recsys_mt" / "oracles" / "same_first.py").write_text(ORACLE)
    (copy / "test_used.py").write_text(USED)
    record = copy / "record.json"
    run(copy, "-m", "pytest", "test_used.py", f"--recsys-json={record}", "-p", "no:cacheprovider")
    (row,) = json.loads(record.read_text())["results"]
    assert (row["oracle"], row["status"]) == ("same_first", "holds")
    need("mkdocs")
    page = run(copy, "-c", "from scripts.docs_pages import pages; print(pages()['oracles.md'])")
    assert "## same_first" in page
