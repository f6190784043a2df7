"""Everything happens some weeks later, in the training data and in requests."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Generator, Transformation, call_name, usual
from pytest_recsys_mt.requests import Rating, Request, World

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset

WEEK = 7 * 24 * 3600


@usual(520)
def shift_times(weeks: int) -> Transformation:
    """Move every timestamp by whole weeks, so that hours and days of the week stay.

    Source:
        This project.

    Example:
        >>> import numpy as np
        >>> from pytest_recsys_mt.datasets import load
        >>> mini = load("mini")
        >>> later = shift_times(2).training(mini, np.random.default_rng(0)).interactions["timestamp"]
        >>> set((later - mini.interactions["timestamp"]).tolist()) == {14 * 24 * 3600}
        True

    Args:
        weeks: How many weeks later, at least 1.

    Raises:
        RelationError: If `weeks` is below 1.
    """
    later = arguments.count("shift_times", "weeks", weeks) * WEEK

    def moved(rating: Rating) -> Rating:
        if rating.timestamp is None:
            return rating
        return dataclasses.replace(rating, timestamp=rating.timestamp + later)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        return request.replace(history=tuple(map(moved, request.history)))

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame = dataset.interactions
        return dataset.replace(interactions=frame.assign(timestamp=frame["timestamp"] + later))

    return Transformation(
        name=call_name("shift_times", later // WEEK),
        apply=apply,
        training=training,
        promise="The ranking stays the same when everything happens the same number of weeks later.",
        changes=frozenset({"history"}),
        origin=HOUSE,
        may_keep=True,
    )
