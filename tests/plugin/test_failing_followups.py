"""A recommender that crashes on some requests: tried once
more, and never taken for one that keeps.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.plugin.conftest import record_of

CRASHING = '''
"""ItemKNN that crashes for the first three users it meets on a kind of request."""
from collections import Counter

from pytest_recsys_mt.recommenders import ItemKNN


class Sound:
    deterministic = True
    tries = 10**6  # so many of a request fail

    def __init__(self):
        self.users, self.tried = {}, Counter()

    def fit(self, dataset, seed):
        self.inner = ItemKNN()
        self.inner.fit(dataset, seed)

    def crashes(self, request):
        return False

    def answer(self, request, answer):
        return answer

    def recommend(self, requests):
        failed = None
        for request in requests:
            if not self.crashes(request):
                continue
            self.users.setdefault(request.user, len(self.users))
            if self.users[request.user] < 3:
                self.tried[request] += 1
                if self.tried[request] <= self.tries:
                    failed = ZeroDivisionError("no such scale")
        if failed:
            raise failed
        answers = self.inner.recommend(requests)
        return [self.answer(*both) for both in zip(requests, answers)]


class OnDoubled(Sound):
    def crashes(self, request):
        return request.scale.high == 10


class OnceOnDoubled(OnDoubled):
    tries = 2  # in the batch and alone, so that only who asks once more gets an answer


class OnSource(Sound):
    def crashes(self, request):
        return request.scale.high == 5


class Always(Sound):
    def recommend(self, requests):
        with open("asked.log", "a") as log:
            log.write(f"{len(requests)}\\n")
        raise ZeroDivisionError("no such scale")


class Reversed(OnDoubled):
    """Turns its list round where the scale is another one, too."""

    def answer(self, request, answer):
        from dataclasses import replace

        return replace(answer, items=answer.items[::-1]) if request.scale.high == 10 else answer
'''

SCALE = """
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import same_ranking
    from pytest_recsys_mt.relations import scale_ratings

    @metamorphic(scale_ratings(2))
    def test_scale(source, followup):
        assert same_ranking(source, followup)
"""


def row_of(
    project: pytest.Pytester,
    name: str,
    *arguments: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record of a run with one of these recommenders, and its only row."""
    project.makepyfile(crashing=CRASHING)
    project.makepyfile(SCALE)
    path = project.path / "record.json"
    project.runpytest_inprocess(
        f"--recsys-model=crashing:{name}", "--recsys-users=80", f"--recsys-json={path}",
        "-p", "no:cacheprovider", *arguments,
    )  # fmt: skip
    record = record_of(path)
    (only,) = record["results"]
    return record, only


def test_a_sound_recommender_holds(project: pytest.Pytester) -> None:
    record, row = row_of(project, "Sound")
    assert (row["status"], row["users"], row["errors"]) == ("holds", 66, 0)
    assert record["calls"]["failed"] == 0


def test_three_of_eighty_that_crash_on_the_changed_request_hold_nothing(
    project: pytest.Pytester,
) -> None:
    record, row = row_of(project, "OnDoubled")
    assert (row["status"], row["users"], row["errors"]) == ("inconclusive", 77, 3)
    assert (
        "3 users of 80 got no answer (ZeroDivisionError: no such scale (3))"
        in row["reason"]
    )
    assert record["calls"]["failed"] == 3
    json.dumps(record, allow_nan=False)


def test_a_crash_that_goes_away_is_none(project: pytest.Pytester) -> None:
    record, row = row_of(project, "OnceOnDoubled")
    assert (row["status"], row["users"], row["errors"], row["reason"]) == (
        "holds",
        66,
        0,
        "",
    )
    assert record["calls"]["failed"] == 0
    assert record["calls"]["made"] == 2 * 66


def test_a_source_that_fails_counts_like_a_follow_up(project: pytest.Pytester) -> None:
    _, row = row_of(project, "OnSource")
    assert (row["status"], row["users"], row["errors"]) == ("inconclusive", 77, 3)
    assert (
        "3 users of 80 got no answer (ZeroDivisionError: no such scale (3))"
        in row["reason"]
    )


def test_a_strong_violation_stands_beside_three_crashes(
    project: pytest.Pytester,
) -> None:
    _, row = row_of(project, "Reversed")
    assert (row["status"], row["users"], row["errors"]) == ("violated", 57, 3)


def test_calls_that_are_tried_once_more_count_against_the_limit(
    project: pytest.Pytester,
) -> None:
    # The first 20 of the source and 20 of the follow-up leave 1 of the 3 that failed.
    record, row = row_of(project, "OnceOnDoubled", "--recsys-max-calls=41")
    assert record["calls"]["failed"] == 2
    assert (row["status"], row["errors"]) == ("inconclusive", 2)


def test_where_every_call_fails_none_is_tried_again(project: pytest.Pytester) -> None:
    _, row = row_of(project, "Always", "--recsys-users=4", "--recsys-shrink=0")
    assert row["status"] == "error"
    asked = (project.path / "asked.log").read_text().split()
    assert asked == [
        "8",
        *["1"] * 8,
    ]  # both sides as a batch, then one by one, and never again
