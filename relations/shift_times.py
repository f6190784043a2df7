"""Everything happens some weeks later, in the training data and in requests."""

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import later
from pytest_recsys_mt.relations.invented import Dataset
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World

WEEK = 7 * 24 * 3600


@usual(520)
def shift_times(weeks: int) -> Transformation:
    """Move every timestamp by whole `weeks`, at least one, so that hours and days of
    the week stay.

    Example:
        >>> later = shift_times(2).training(mini, np.random.default_rng(0)).interactions["timestamp"]
        >>> set((later - mini.interactions["timestamp"]).tolist()) == {14 * 24 * 3600}
        True
    """
    seconds = arguments.count("shift_times", "weeks", weeks) * WEEK

    def apply(request: Request, rng: Generator, world: World) -> Request:
        return request.replace(history=later(request.history, seconds))

    def training(dataset: Dataset, rng: Generator) -> Dataset:
        frame = dataset.interactions
        return dataset.replace(
            interactions=frame.assign(timestamp=frame["timestamp"] + seconds),
        )

    return built_in(
        ("shift_times", seconds // WEEK),
        apply=apply,
        training=training,
        promise="The ranking stays the same when everything happens the same number of weeks later.",
        changes={"history"},
        needs=(),
        may_keep=True,
    )
