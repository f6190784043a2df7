"""A capped loss and one user of each unit mean the same on workers, in a replay, and
after a limit stopped the run.
"""

from typing import Any

import pytest

from tests.plugin.conftest import record_of

TEST = """
import hashlib

from pytest_recsys_mt import Recommendation, metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings


class Swayed:
    deterministic = True
    fingerprint = "1"

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        items = sorted(item.id for item in request.candidates)
        if request.scale.high != 5 and hashlib.sha256(request.user.encode()).digest()[0] < 8:
            items.reverse()
        return Recommendation(tuple(items[: request.k]))


@metamorphic(scale_ratings(2))
def test_capped(source, followup):
    assert same_ranking(source, followup, margin=0.1, cap=0.3)


@metamorphic(scale_ratings(2))
def test_whole(source, followup):
    assert same_ranking(source, followup, margin=0.1)
"""


@pytest.fixture
def runs(pytester: pytest.Pytester) -> dict[str, dict[str, Any]]:
    pytester.makepyfile(test_it=TEST)
    cache, found = pytester.path / "cache", {}
    for name, given in {
        "alone": (),
        "replayed": ("--recsys-mode=replay",),
        "on workers": ("-n", "2", f"--recsys-cache={pytester.path / 'other'}"),
        "stopped": (
            "--recsys-max-calls=30",
            f"--recsys-cache={pytester.path / 'third'}",
        ),
        "resumed": (f"--recsys-cache={pytester.path / 'third'}",),
    }.items():
        pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "--recsys-model=test_it.py:Swayed", "--recsys-users=50", "-orecsys_unit=age",
            "--recsys-shrink=0", "--recsys-json=r.json", f"--recsys-cache={cache}", *given,
        )  # fmt: skip
        found[name] = record_of(pytester.path / "r.json")
        (pytester.path / "r.json").unlink()
    return found


@pytest.mark.slow  # each way has a test of its own; here they meet the cap and the unit
def test_every_way_to_the_answers_gives_the_same_verdicts(
    runs: dict[str, dict[str, Any]],
) -> None:
    def verdicts(name: str) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in row.items() if key != "reproduce"}
            for row in runs[name]["results"]
        ]

    capped, whole = verdicts("alone")
    assert (capped["status"], whole["status"]) == ("holds", "inconclusive")
    assert capped["users"] < whole["users"] == 50, "the cap needs fewer users"
    assert whole["estimate"] > 0, "some users lose all"
    assert (
        verdicts("replayed")
        == verdicts("on workers")
        == verdicts("resumed")
        == [capped, whole]
    )
    assert runs["replayed"]["calls"]["made"] == 0
    assert runs["stopped"]["gate"]["status"] == "failed"
    paid = runs["stopped"]["calls"]["made"]
    assert 0 < paid <= 30
    assert runs["resumed"]["calls"]["made"] == runs["alone"]["calls"]["made"] - paid
