"""All ratings on another scale, in the training data and in requests."""

from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.scale_ratings import scale_ratings
from pytest_recsys_mt.relations.sources import TRAINING
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)


@usual(2)
def rescale_training(factor: float) -> Transformation:
    """Multiply every rating and both ends of the scale by one `factor`, above 0 and not
    1, wherever they stand.

    `scale_ratings` changes requests alone, so it finds a recommender that reads raw
    ratings when it answers. This one finds a recommender that reads them when it is
    fitted, and knows no scale at all.

    It is not applicable to an empty history.

    Example:
        >>> larger = rescale_training(2).training(mini, np.random.default_rng(0))
        >>> larger.scale, float(larger.interactions["rating"].max())
        (Scale(low=2.0, high=10.0), 10.0)
    """
    requests = scale_ratings(factor)
    by = float(factor)

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame, scale = dataset.interactions, dataset.scale
        return dataset.replace(
            interactions=frame.assign(rating=frame["rating"] * by),
            scale=type(scale)(scale.low * by, scale.high * by),
        )

    return built_in(
        ("rescale_training", by),
        apply=requests.apply,
        training=training,
        promise="The ranking stays the same when all ratings, also those of the training data, are on a larger scale.",
        changes=requests.changes,
        promised="scale",  # a fixed regularisation is another one on another scale, and no fault
        origin=TRAINING,
    )
