"""A small project whose recommender can be made worse by an environment variable."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.plugin.conftest import record_of

TOYS = '''
import os, hashlib
from pytest_recsys_mt import Recommendation

def turned(request, share):
    """Whether the answer to a changed scale is turned round, for a share of the users."""
    drawn = int(hashlib.sha256(request.user.encode()).hexdigest(), 16) % 100
    return request.scale.high != 5 and drawn < 100 * share

class Toy:
    """Turns its list round for a share of the users where the scale is not the usual one."""

    deterministic = True
    share = 0.0

    def recommend(self, requests):
        answers = []
        share = float(os.environ.get("SHARE", self.share))
        for request in requests:
            items = sorted(item.id for item in request.candidates)
            if turned(request, share):
                items.reverse()
            answers.append(Recommendation(tuple(items[: request.k])))
        return answers

class Worse(Toy):
    share = 0.6

class Noisy(Toy):
    deterministic = False
'''
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import add_spaces, reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history, add_spaces(0.1))
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.95)

def test_answers(recsys):
    assert complete_list(recsys.run(), margin=0.2)
"""

Run = Callable[..., tuple[pytest.RunResult, dict[str, Any]]]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(toys=TOYS, **{"release/test_toys": TEST})
    pytester.syspathinsert()
    return pytester


@pytest.fixture
def run(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest on the project with a share of the answers turned round."""

    def execute(
        *arguments: str,
        share: float = 0.0,
        json: str = "now.json",
        model: str = "toys:Toy",
    ) -> tuple[pytest.RunResult, dict[str, Any]]:
        monkeypatch.setenv("SHARE", str(share))
        if model:
            monkeypatch.setenv("SHARE", str(share))
            arguments = (f"--recsys-model={model}", *arguments)
        else:
            monkeypatch.delenv("SHARE")
        result = project.runpytest_inprocess(
            "-p",
            "no:cacheprovider",
            "--recsys-users=60",
            "--recsys-shrink=0",
            f"--recsys-json={json}",
            *arguments,
        )
        path = project.path / json
        return result, record_of(path) if path.exists() else {}

    return execute


_kept: list[str] = []


@pytest.fixture
def baseline(run: Run, project: pytest.Pytester) -> dict[str, Any]:
    """The record of a run in which nothing is turned round, made once a process."""
    path = project.path / "old.json"
    if not _kept:
        run(json=path.name)
        _kept.append(path.read_text(encoding="utf-8"))
    path.write_text(_kept[0], encoding="utf-8")
    return record_of(path)
