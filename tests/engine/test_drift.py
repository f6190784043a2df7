"""Answers that change while they are asked are no fault of a relation."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.calls import Difference
from tests.support.engine import differed
from tests.support.gate import Drift
from tests.support.report import _merged

pytest_plugins = ["pytester"]

MODELS = '''
"""Recommenders whose answers change with what they were asked before."""
import hashlib

from pytest_recsys_mt import Recommendation


def base(item):
    return int(hashlib.sha256(item.encode()).hexdigest()[:8], 16) / 16**8


class Steady:
    """One order of all items, for every request."""

    deterministic = True
    speed = 0.0
    asked = 0

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        self.asked += 1
        ids = sorted((item.id for item in request.candidates), key=self.score)
        return Recommendation(tuple(ids[: request.k]))

    def score(self, item):
        return (base(item) + self.speed * self.asked * base(item[::-1])) % 1


class Drifting(Steady):
    """Moves on a little with every request."""

    speed = 0.0004


class Noisy(Drifting):
    """Moves on, and declares nothing."""

    deterministic = False


class Swinging(Steady):
    """Comes back to where it was, again and again, within one batch."""

    def score(self, item):
        return base(item) + self.asked % 40 / 10 * base(item[::-1])


class Broken(Drifting):
    """Moves on, and turns its list round where it is offered more."""

    def answer(self, request):
        found = super().answer(request)
        return Recommendation(found.items[::-1]) if len(request.candidates) > 20 else found
'''

RELATIONS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_order, same_ranking
from pytest_recsys_mt.relations import add_irrelevant_candidates, extend_list, shuffle_candidates

@metamorphic(shuffle_candidates)
def test_shuffle(source, followup):
    assert same_ranking(source, followup)

@metamorphic(extend_list(5))
def test_extend(source, followup):
    assert same_ranking(source, followup)

@metamorphic(add_irrelevant_candidates(5))
def test_irrelevant(source, followup):
    assert same_order(source, followup)
"""


def record_of(pytester: pytest.Pytester, *options: str) -> dict[str, Any]:
    path = pytester.path / "record.json"
    result = pytester.runpytest_inprocess(f"--recsys-json={path}", *options)
    record: dict[str, Any] = json.loads(path.read_text())
    record["ret"], record["text"] = result.ret, result.stdout.str()
    return record


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(models=MODELS, test_relations=RELATIONS)
    pytester.syspathinsert()
    return pytester


@pytest.mark.parametrize(
    "order",
    [(), ("-n2",), ("-k", "extend or irrelevant")],
    ids=["", "two workers", "alone"],
)
@pytest.mark.parametrize("model", ["Drifting", "Noisy"])
def test_relations_that_are_kept_are_not_blamed_for_drift(
    project: pytest.Pytester,
    model: str,
    order: tuple[str, ...],
) -> None:
    record = record_of(project, f"--recsys-model=models.py:{model}", *order)
    assert {row["status"] for row in record["results"]} <= {"holds", "inconclusive"}
    (drift,) = record["drift"]
    assert drift["drifted"]
    assert record["gate"]["status"] == "failed"
    assert f"answers changed while we asked models.py:{model}" in " ".join(
        record["text"].split(),
    )
    assert record["ret"] == 1


def test_a_relation_that_is_broken_is_blamed_beside_the_drift(
    project: pytest.Pytester,
) -> None:
    record = record_of(project, "--recsys-model=models.py:Broken")
    status = {row["relation"]: row["status"] for row in record["results"]}
    assert status.pop("add_irrelevant_candidates(5)") == "violated"
    assert "violated" not in status.values()
    assert record["drift"][0]["drifted"]


def test_a_difference_between_answers_asked_apart_is_told_so(
    project: pytest.Pytester,
) -> None:
    record = record_of(project, "--recsys-model=models.py:Noisy")
    reasons = [
        row["reason"] for row in record["results"] if row["status"] == "inconclusive"
    ]
    assert any(
        reason.startswith("answers changed while we asked: D=") for reason in reasons
    )


def test_a_steady_recommender_is_asked_again_and_passes(
    project: pytest.Pytester,
) -> None:
    record = record_of(project, "--recsys-model=models.py:Steady")
    assert [row["status"] for row in record["results"]] == ["holds"] * 3
    (drift,) = record["drift"]
    assert (drift["users"], drift["changed"], drift["drifted"]) == (20, 0, False)
    assert record["ret"] == 0
    assert record["gate"]["status"] == "passed"


def test_one_that_is_not_deterministic_is_told_so_and_no_relation(
    project: pytest.Pytester,
) -> None:
    """Within one batch no time is between source and
    follow-up: only its own word says that it is.
    """
    record = record_of(project, "--recsys-model=models.py:Swinging", "-k", "shuffle")
    (row,) = record["results"]
    assert row["status"] == "inconclusive"
    assert "declares itself deterministic" in row["reason"]
    assert record["drift"][0]["drifted"]
    assert (record["gate"]["status"], record["ret"]) == ("failed", 1)


KEPT = '''
"""A model whose answers are kept; what it says depends on the day."""
import hashlib
from pathlib import Path

from pytest_recsys_mt import Recommendation


class Served:
    fingerprint = "served"
    deterministic = True

    def recommend(self, requests):
        day = Path("day").read_text()
        with open("asked.txt", "a") as log:
            log.write("".join(f"{day} {len(request.candidates)}\\n" for request in requests))
        return [
            Recommendation(tuple(sorted(
                (item.id for item in request.candidates),
                key=lambda item: hashlib.sha256((day + item).encode()).digest(),
            )[: request.k]))
            for request in requests
        ]
'''


@pytest.fixture
def kept(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with the source's answers of yesterday in
    its cache, and another model today.
    """
    pytester.makepyfile(models=KEPT, test_relations=RELATIONS)
    (pytester.path / "day").write_text("yesterday")
    options = ("--recsys-model=models.py:Served", "--recsys-cache=cache")
    assert record_of(pytester, *options, "-k", "shuffle")["ret"] == 0
    (pytester.path / "day").write_text("today")
    return pytester


def test_kept_answers_beside_fresh_ones_are_no_violation(kept: pytest.Pytester) -> None:
    options = ("--recsys-model=models.py:Served", "--recsys-cache=cache")
    record = record_of(kept, *options, "-k", "extend")
    (row,) = record["results"]
    assert row["status"] == "inconclusive"
    assert row["reason"].startswith("answers changed while we asked: ")
    assert "source and follow-ups were asked" in row["reason"]
    assert record["drift"][0]["drifted"]
    again = record_of(kept, *options, "-k", "extend", "--recsys-mode=refresh")
    assert (again["results"][0]["status"], again["ret"]) == ("holds", 0)


def test_replay_refuses_a_mixture_it_cannot_ask_together(kept: pytest.Pytester) -> None:
    """The follow-ups are made where the difference is not
    claimed, then replayed where it is.
    """
    lenient = RELATIONS.replace(
        "same_ranking(source, followup)",
        "same_ranking(source, followup, margin=0.99)",
    )
    kept.makepyfile(test_relations=lenient)
    options = (
        "--recsys-model=models.py:Served",
        "--recsys-cache=cache",
        "-k",
        "extend",
    )
    record_of(kept, *options)
    kept.makepyfile(test_relations=RELATIONS)
    asked = Path(kept.path / "asked.txt").read_text()
    record = record_of(kept, *options, "--recsys-mode=replay")
    (row,) = record["results"]
    assert row["status"] == "inconclusive"
    assert "no answers asked together are recorded" in row["reason"]
    assert record["drift"] == []
    assert Path(kept.path / "asked.txt").read_text() == asked


def test_source_and_followups_of_one_test_are_asked_together(
    kept: pytest.Pytester,
) -> None:
    """In blocks of users, in an order that treats both sides alike."""
    (kept.path / "asked.txt").unlink()
    options = (
        "--recsys-model=models.py:Served",
        "--recsys-cache=fresh",
        "-k",
        "irrelevant",
    )
    record = record_of(kept, *options, "--recsys-users=100", "-orecsys_controls=0")
    sizes = [
        line.split()[1] for line in (kept.path / "asked.txt").read_text().splitlines()
    ]
    assert record["drift"] == []  # nothing was asked after the source
    users = record["results"][0]["users"]
    assert len(sizes) == 2 * users
    assert 10 <= sizes[:40].index("25") + 10 <= 20
    for block in (sizes[:40], sizes[40:]):
        assert block.count("25") == len(block) / 2


def test_a_workers_drift_is_not_lost_behind_a_larger_effect_without_one() -> None:
    def found(effect: float, drifted: bool) -> Drift:
        return {
            "model": "m", "users": 20, "changed": None, "effect": effect, "seconds": 1.0,
            "drifted": drifted, "reason": "it drifted" if drifted else "",
        }  # fmt: skip

    for order in (
        [found(0.1, True), found(0.3, False)],
        [found(0.3, False), found(0.1, True)],
    ):
        (kept,) = _merged(order)
        assert (kept["drifted"], kept["effect"]) == (True, 0.1)


@pytest.mark.parametrize(
    ("users", "deterministic", "difference", "said"),
    [
        (
            {"u1", "u2"},
            True,
            Difference.UNREPORTED,
            "2 users got another answer to a request",
        ),
        ({"u1"}, True, Difference.UNREPORTED, "1 user got another answer to a request"),
        ({"u1"}, True, Difference.REPORTED, ""),  # a verdict is about it
        ({"u1"}, False, Difference.UNREPORTED, ""),
        (set(), True, Difference.NONE, ""),
    ],
)
def test_two_answers_that_no_verdict_is_about_are_told(
    users: set[str],
    *,
    deterministic: bool,
    difference: Difference,
    said: str,
) -> None:
    subject = SimpleNamespace(
        name="shop",
        differed=users,
        deterministic=deterministic,
        earlier_difference=difference,
    )
    found = differed(SimpleNamespace(subject=subject))  # type: ignore[arg-type]
    assert (found is None) == (not said)
    if found is not None:
        assert found["drifted"]
        assert said in found["reason"]
