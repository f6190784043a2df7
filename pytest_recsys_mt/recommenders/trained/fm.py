"""Factorisation machines over history, user, item and genres; and DeepFM, with further layers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.data import Training
from pytest_recsys_mt.recommenders.trained.machine import DeepMachine, Machine
from pytest_recsys_mt.recommenders.trained.network import Network
from pytest_recsys_mt.recommenders.trained.people import People


@dataclass(eq=False)
class FM(TrainedRecommender):
    """A factorisation machine (Rendle, ICDM 2010, equation 1) that predicts clicks.

    Features: the items of the history, each 1 / their number; the scored item; its genres or
    categories, each 1 / their number. Items of a history and the scored item have separate vectors.
    It is trained to predict whether a user chose an item. The other items are drawn uniformly from
    those that the user never chose; the history of an example is what came before it. It reads
    neither ratings nor, within the latest `length` items, the order of a history.

    With `user_attributes`, attributes of users (age, occupation) are features too, each 1 / their
    number: in training those of ``Dataset.users``, in an answer ``Request.attributes``. Missing and
    unknown ones are left out. An empty history is then answered only by them.
    """

    key: ClassVar[str] = "fm"
    ordered: ClassVar[bool] = False
    least: ClassVar[Mapping[str, int]] = {"negatives": 1}
    # Whether users are read follows from their features, which then are part of the identity.
    apart: ClassVar[frozenset[str]] = TrainedRecommender.apart | {"user_attributes"}

    negatives: int = 4  # items not chosen per chosen item
    user_attributes: bool = False  # whether attributes of users are read

    def people(self, dataset: Dataset) -> People | None:
        """The features of users, if they are read; RecommenderError if the data have none."""
        if not self.user_attributes:
            return None
        known = dataset.interactions["user"].unique()
        people = People.of(dataset.users.get(user, {}) for user in known)
        if not people.features:
            raise RecommenderError(
                f"{self.key}: user_attributes=true, but dataset {dataset.name!r} has no attributes "
                f"of users; leave it out, or use data that have them, such as ml-100k or ml-1m"
            )
        return people

    def build(self, training: Training) -> Network:
        return Machine(training, self)


@dataclass(eq=False)
class DeepFM(FM):
    """DeepFM (Guo et al., IJCAI 2017): a factorisation machine and layers over the same vectors.

    The score is the sum of both (their equation 1). The layers read the vectors of the fields side
    by side: the mean of the history, the item, the mean of its genres, and with `user_attributes`
    the mean of these. Everything else is as in `FM`.

    It has three layers as in the paper, but narrower than the paper's 400: here the whole catalogue
    is ranked, not a few advertisements. ``deepfm?width=400`` has the paper's width.
    """

    key: ClassVar[str] = "deepfm"
    least: ClassVar[Mapping[str, int]] = {**FM.least, "layers": 1, "width": 1}

    layers: int = 3  # number of hidden layers
    width: int = 64  # units per layer
    dropout: float = 0.2  # share of the units that a training step leaves out

    def build(self, training: Training) -> Network:
        return DeepMachine(training, self)
