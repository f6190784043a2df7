"""A small project with recommenders whose faults are known, run by a real pytest."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import accounts

TOYS = '''
"""Recommenders that keep or break known relations."""
import hashlib
from pytest_recsys_mt import Recommendation


def by_id(request):
    return sorted(item.id for item in request.candidates)


class Faithful:
    """Reads nothing but the candidates."""

    deterministic = True

    def recommend(self, requests):
        return [Recommendation(tuple(by_id(request)[: request.k])) for request in requests]


class ScaleSensitive:
    """Turns its list round where the scale is not the usual one."""

    deterministic = True

    def recommend(self, requests):
        answers = []
        for request in requests:
            items = by_id(request)
            if request.scale.high != 5:
                items.reverse()
            answers.append(Recommendation(tuple(items[: request.k])))
        return answers


class Noisy:
    """Draws a new list for every replicate, whatever the request."""

    def recommend(self, requests):
        return [
            Recommendation(tuple(sorted(by_id(request), key=self.draw(request))[: request.k]))
            for request in requests
        ]

    def draw(self, request):
        seed = f"{request.user}/{request.replicate}/"
        return lambda item: hashlib.sha256((seed + item).encode()).digest()


class Failing:
    """Fails for some users."""

    deterministic = True
    share = 0.02

    def recommend(self, requests):
        for request in requests:
            if int(hashlib.sha256(request.user.encode()).hexdigest(), 16) % 1000 < self.share * 1000:
                raise RuntimeError("429 rate limit")
        return Faithful().recommend(requests)


class OftenFailing(Failing):
    share = 0.5


class Judge:
    """Finds no difference."""

    def judge(self, comparisons):
        from pytest_recsys_mt.suites.arena import Judgement

        return [Judgement("tie", {}) for _ in comparisons]


class Scribe:
    """Says the same of everybody."""

    def complete(self, prompts):
        from pytest_recsys_mt import Completion

        return [Completion("Somebody.") for _ in prompts]
'''

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with the toy recommenders."""
    pytester.makepyfile(toys=TOYS)
    pytester.syspathinsert()
    return pytester


ON_WORKERS_TOO = pytest.mark.parametrize(
    "run",
    ["one process", "two workers"],
    indirect=True,
)


@pytest.fixture
def run(request: pytest.FixtureRequest, project: pytest.Pytester) -> Run:
    """Run pytest on the project, in this process; tests marked
    ON_WORKERS_TOO do so on two workers as well.
    """
    on_workers = getattr(request, "param", "one process") == "two workers"
    workers = ["-n", "2"] if on_workers else []

    def execute(*arguments: object) -> pytest.RunResult:
        # What looks for smaller examples asks until seconds are over; test_shrink has
        # runs of its own.
        common = [
            "-p",
            "no:cacheprovider",
            "--recsys-users=40",
            "--recsys-shrink=0",
            *workers,
        ]
        return project.runpytest_inprocess(*common, *map(str, arguments))

    return execute


def record_of(path: Path) -> dict[str, Any]:
    """The JSON record of a run."""
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    accounts.add_up(record)
    return record
