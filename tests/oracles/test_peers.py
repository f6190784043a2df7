"""The metrics are those of `ranx` and LensKit where these define the same.

The numbers in `peers.json` are theirs, for the lists of `peers.py`, which says how they
were made: ``PYTHONPATH=. peers/bin/python -m tests.oracles.peers`` in an environment
with ranx 0.3.21 and LensKit 2025.8.1.
"""

import json
from pathlib import Path

import pytest

from pytest_recsys_mt.oracles import Aggregate, exposure_gini
from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.oracles.peers import DEPTHS, EXPOSURES, ITEMS, lists
from tests.support.oracles_aggregates import measure_named
from tests.support.oracles_scores import metric_named

PEERS = json.loads((Path(__file__).with_name("peers.json")).read_text("utf-8"))


def users() -> list[Asked]:
    offered = tuple(Item(item) for item in ITEMS)
    return [
        Asked(
            Request(f"u{place}", (), Scale(), offered, 10),
            (Recommendation(one.items),),
            frozenset(one.relevant),
        )
        for place, one in enumerate(lists())
    ]


@pytest.mark.parametrize("peer", ["ranx", "lenskit"])
@pytest.mark.parametrize("metric", ["hit", "ndcg", "mrr"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_accuracy_is_theirs(peer: str, metric: str, depth: int) -> None:
    named = metric_named(f"{metric}@{depth}")
    ours = [named.of(asked.answers[0], asked) for asked in users()]
    theirs = PEERS[peer][f"{metric}@{depth}"]
    assert 0 < sum(theirs) < len(theirs)
    assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("depth", DEPTHS)
def test_exposure_gini_is_lenskits(depth: int) -> None:
    aggregate = measure_named(f"exposure_gini@{depth}")
    assert isinstance(aggregate, Aggregate)
    ours = aggregate.of([(asked, asked.answers[0]) for asked in users()], Context())
    assert ours == pytest.approx(PEERS["lenskit"][f"exposure_gini@{depth}"][0])


def test_gini_of_exposures_is_lenskits() -> None:
    assert [exposure_gini(one) for one in EXPOSURES] == pytest.approx(
        PEERS["lenskit"]["gini"],
    )
