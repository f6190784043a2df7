"""What is known of each trained model by construction,
judged as a user's tests would judge it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

from benchmarks.promises import settings_of
from pytest_recsys_mt import Verdict
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import (
    Transformation,
    rename_user,
    reorder_history,
    scale_ratings,
    shift_ratings,
    shuffle_candidates,
)
from pytest_recsys_mt.requests import Item, Request, Scale, World
from tests.extras import need
from tests.support.engine import Recsys, Run, Split
from tests.support.recommenders import TRAINED, resolve
from tests.support.requests import Design

need("torch")

RING = 30
USERS = 90
ENOUGH = 66  # of them, to show that nothing moves by 0.05
SMALL = "dim=16&patience=0&epochs=12&batch=32&rate=0.01&length=12"


def ring() -> Dataset:
    """Items stand in a ring, and every user goes on from one to the next."""
    rng = np.random.default_rng(0)
    rows = [
        (f"u{user}", f"i{(start + step) % RING}", float(rng.integers(1, 6)), step)
        for user, start in enumerate(rng.integers(RING, size=USERS))
        for step in range(rng.integers(7, 12))
    ]
    genres = ("odd", "even")
    items = {
        f"i{n}": Item(f"i{n}", f"film number{n}", 2000, {"genres": (genres[n % 2],)})
        for n in range(RING)
    }
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return Dataset("ring", items, frame, Scale(1, 5))


def _rerate(request: Request, rng: Generator, world: World) -> Request:
    values = rng.uniform(request.scale.low, request.scale.high, len(request.history))
    return request.replace(
        history=tuple(
            dataclasses.replace(rating, value=float(value))
            for rating, value in zip(request.history, values, strict=True)
        ),
    )


RERATE = Transformation("rerate", _rerate)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recsys]:
    """Each model, trained once, as the tests of a suite get it."""
    folder: Path = tmp_path_factory.mktemp("truths")
    design = Design(users=USERS, candidates=20, k=20)

    @cache
    def recsys(name: str) -> Recsys:
        run = Run(settings_of(design, 0, folder), name=name)
        run.__dict__["split"] = Split(ring(), 0)
        recommender = resolve(f"{name}?{SMALL}")
        recommender.folder = folder / "models"  # type: ignore[union-attr]
        return Recsys(
            lambda design: run.runner(recommender, name, design),
            design,
            lambda found: found,
        )

    return recsys


def verdict(recsys: Recsys, change: Transformation) -> Verdict:
    return same_ranking(
        recsys.run(),
        recsys.run(change),
        similarity="kendall",
        margin=0.05,
    )


# One test a model, since each process that meets a model trains it.
@pytest.mark.parametrize("name", TRAINED)
def test_nobody_reads_ratings_the_order_of_candidates_or_names(
    asked: Callable[[str], Recsys],
    name: str,
) -> None:
    for change in (
        scale_ratings(2),
        shift_ratings(1),
        RERATE,
        shuffle_candidates,
        rename_user,
    ):
        found = verdict(asked(name), change)
        assert (found.status, found.estimate, found.users) == ("holds", 0, ENOUGH), (
            change.name
        )
    assert asked(name).runner.subject.ignores == {"ratings"}


@pytest.mark.parametrize("name", TRAINED)
def test_models_of_sequences_break_the_order_of_a_history_and_models_of_sets_cannot(
    asked: Callable[[str], Recsys],
    name: str,
) -> None:
    # Who declares that the order counts is not asked the shipped relation.
    reordered = dataclasses.replace(reorder_history, unless=())
    found = verdict(asked(name), reordered)
    if resolve(name).ordered:  # type: ignore[union-attr]
        assert found.status == "violated"
    else:
        assert (found.status, found.estimate) == ("holds", 0)


@pytest.mark.parametrize("name", TRAINED)
def test_ratings_that_no_scale_has_are_still_not_read(
    asked: Callable[[str], Recsys],
    name: str,
) -> None:
    recsys = asked(name)
    off = Transformation(
        "off_the_scale",
        lambda request, rng, world: request.replace(
            history=tuple(
                dataclasses.replace(r, value=1e6 * r.value) for r in request.history
            ),
        ),
    )
    assert verdict(recsys, off).estimate == 0
