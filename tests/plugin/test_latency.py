"""The time of calls: what a run records of it, and what a test may promise."""

import json
from typing import Any

import pytest

from tests.plugin.conftest import record_of

MODELS = '''
import time
from pytest_recsys_mt import Recommendation


class Shop:
    """Takes 2 ms for each call, and more for a batch."""

    deterministic = True
    fingerprint = "shop"

    def recommend(self, requests):
        time.sleep(0.002)
        found = []
        for request in requests:
            items = sorted(item.id for item in request.candidates)
            found.append(Recommendation(tuple(items[: request.k])))
        return found
'''
TEST = """
from pytest_recsys_mt.oracles import complete_list, latency_within

def test_lists(recsys):
    assert complete_list(recsys.run(), margin=0.2)

def test_quick(recsys):
    assert latency_within(recsys.run(), p95=5.0, p50=0.0001)

def test_quick_enough(recsys):
    assert latency_within(recsys.run(), p95=5.0)
"""
RUN = (
    *("-v", "--recsys-model=models:Shop", "--recsys-users=60"),
    *("--recsys-cache=cache", "--recsys-json=record.json"),
)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(models=MODELS, test_shop=TEST)
    pytester.syspathinsert()
    return pytester


def run(project: pytest.Pytester, *options: str) -> Any:
    """The result of a run, and its record."""
    result = project.runpytest(*RUN, *options)
    return result, record_of(project.path / "record.json")


def test_only_live_calls_have_a_latency(project: pytest.Pytester) -> None:
    shown, first = run(project)
    by_test = {row["nodeid"].split("::")[1]: row for row in first["results"]}
    quick = by_test["test_quick[models-Shop]"]
    assert quick["status"] == "violated"
    assert quick["value"] >= 0.002
    assert quick["per_user"] == {}
    assert quick["reproduce"].endswith("--recsys-mode=auto")
    assert by_test["test_quick_enough[models-Shop]"]["status"] == "holds"
    [row] = first["time"]["latency"]
    assert (row["model"], row["kind"]) == ("models:Shop", "recommend")
    assert (row["calls"], row["batched"]) == (60, 20)
    assert row["p50"] >= 0.002 > row["batched_p50"]
    shown.stdout.fnmatch_lines(["time of calls: models:Shop recommend: p50 * ms*"])

    shown, replayed = run(project, "--recsys-mode=replay")
    shown.assert_outcomes(passed=1, skipped=2)
    assert {row["reason"][:21] for row in replayed["results"] if row["reason"]} == {
        "--recsys-mode=replay "
    }
    [row] = replayed["time"]["latency"]
    assert (row["cached"], row["calls"], row["p50"]) == (20, 0, None)


RETRYING = """
from pytest_recsys_mt import Recommendation


class Shop:
    deterministic = True
    fingerprint = "shop"

    def recommend(self, requests):
        answers = []
        for request in requests:
            items = sorted(item.id for item in request.candidates)
            earlier = {"failed_before": 2, "refused_before": 1} if "1" in request.user else {}
            answers.append(Recommendation(tuple(items[: request.k]), took=(0.01, 1), **earlier))
        return answers
"""


def test_a_call_that_its_recommender_tried_again_is_no_quick_call(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(models=RETRYING)
    shown, record = run(project, "-k", "quick_enough")
    [row] = record["results"]
    [took] = record["time"]["latency"]
    assert took["retried"] == took["refused"] > 0
    assert took["calls"] + took["retried"] == 60
    assert row["status"] == "inconclusive"
    said = f"{took['retried']} of 60 calls were answered only after a failed attempt"
    assert row["reason"].startswith(said)
    refused = f"{took['retried']} retried ({took['refused']} of them refused first)"
    assert refused in " ".join(shown.stdout.str().split())
    assert record["calls"]["failed_at_first"] == took["retried"]
    assert record["calls"]["retries"] == 0, "no request but one may have been billed"


def test_between_two_models_a_verdict_on_times_is_no_comparison_that_failed(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(models=MODELS + "\n\nclass Other(Shop):\n    pass\n")
    shown, record = run(project, "--recsys-model=models:Other")
    [comparison] = record["gate"]["comparisons"]
    assert "ungated" not in comparison["counts"]
    assert sum(comparison["counts"].values()) == 1
    assert "ungated" not in shown.stdout.str()


def test_runs_that_differ_only_in_times_are_equal(project: pytest.Pytester) -> None:
    records: list[dict[str, Any]] = []
    for _ in range(2):
        _, record = run(project, "-k", "lists", "--recsys-mode=refresh")
        records.append(record)
        assert record.pop("time")["latency"]
    assert json.dumps(records[0]) == json.dumps(records[1])
