"""Interactions whose rating is no rating."""

import math
from typing import Final

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.sources import CORRECTNESS
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.safety.errors import NotApplicable

VALUES: Final = {"nan": math.nan, "infinite": math.inf, "zero": 0.0, "negative": -1.0}

SHARE = 0.005
"""Invalid interactions for each valid one."""


@usual("negative")
@usual("zero")
@usual("infinite")
@usual("nan")
def invalid_ratings(value: str) -> Transformation:
    """Add a few interactions with an invalid rating to the training data: one for every
    200 valid ones.

    The value is ``nan``, ``infinite``, ``zero`` or ``negative`` (-1).

    They are of users and items of the data, drawn at random. A recommender may refuse
    such data (its `fit` raises: then the relation is not applicable, and says so) or
    ignore these interactions. It must not give other answers to everybody.

    It is not applicable if the value is on the scale of the data.

    Source:
        Michiels et al. (2024), https://doi.org/10.1145/3591109, on undocumented demands
        on the data.

    Example:
        >>> more = invalid_ratings("nan").training(mini, np.random.default_rng(0)).interactions
        >>> int(more["rating"].isna().sum()) == len(more) - len(mini.interactions) > 0
        True
    """
    kind = arguments.choice("invalid_ratings", "value", value, tuple(VALUES))
    rating = VALUES[kind]

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        if dataset.scale.low <= rating <= dataset.scale.high:
            raise NotApplicable(f"{rating:g} is a valid rating of these data")
        frame = dataset.interactions
        taken = set(zip(frame["user"], frame["item"], strict=True))
        count = max(1, round(SHARE * len(frame)))
        users, items = (
            rng.choice(sorted(frame[column].unique()), 4 * count).tolist()
            for column in ("user", "item")
        )
        free = sorted(set(zip(users, items, strict=True)) - taken)[:count]
        if not free:
            raise NotApplicable("every user has every item")
        moment = int(frame["timestamp"].median())
        return dataset.adding([(*pair, rating, moment) for pair in free], as_is=True)

    return built_in(
        ("invalid_ratings", kind),
        training=training,
        promise="A few invalid ratings are refused or ignored, and never spoil the answers to everybody.",
        origin=CORRECTNESS,
        may_refuse=True,
    )
