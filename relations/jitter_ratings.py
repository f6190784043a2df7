"""Ratings of the training data move by less than anybody could mean."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.safety.errors import RelationError


@usual(1e-9)
def jitter_ratings(size: float) -> Transformation:
    """Add to every rating of the training data a number of at most `size`, above 0,
    uniform, within the scale.

    A recommender that compares ratings exactly (``rating == 5``, ``rating >= 4``), or
    that takes each value for a class of its own, reads other data then.

    Example:
        >>> moved = jitter_ratings(1e-9).training(mini, np.random.default_rng(0)).interactions["rating"]
        >>> bool((moved != mini.interactions["rating"]).any())
        True
        >>> bool((abs(moved - mini.interactions["rating"]) <= 1e-9).all())
        True
    """
    most = arguments.number("jitter_ratings", "size", size)
    if most <= 0:
        raise RelationError(f"jitter_ratings: size must be above 0, got {size!r}")

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame, scale = dataset.interactions, dataset.scale
        moved = frame["rating"] + rng.uniform(-most, most, len(frame))
        return dataset.replace(
            interactions=frame.assign(rating=moved.clip(scale.low, scale.high)),
        )

    return built_in(
        ("jitter_ratings", most),
        training=training,
        promise="Ratings that differ by less than rounding say the same.",
    )
