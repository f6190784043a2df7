"""The recommender around a network: trains or loads it, and scores requests with it."""

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import (
    Floats,
    Ints,
    ScoringRecommender,
    settle,
)
from pytest_recsys_mt.recommenders.trained.data import PAD, People, Training, encode
from pytest_recsys_mt.recommenders.trained.network import Network, threads
from pytest_recsys_mt.recommenders.trained.store import key_of, obtain
from pytest_recsys_mt.recommenders.trained.trainer import BLOCK, Report, Settings, train
from pytest_recsys_mt.requests import Request, specs
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.files import cache_folder_for

NARROWEST = 8
"""Width of the narrowest block; each further one is twice as wide."""


@dataclass(eq=False)
class TrainedRecommender(ScoringRecommender):
    """Base of the recommenders that are trained by gradient descent.

    In addition to the rules of all scoring recommenders: a repeated item of a history
    counts at its last place. An item without training interactions is learned from the
    drawn negatives, as an item that nobody chose. A history without a known item scores
    everything 0, so its answer is the popular items, unless a known attribute of the
    user is read.

    Requests are scored in blocks of one fixed height and a few widths, so that a score
    does not depend on the rest of its batch. The parameters, the data and the seed
    determine the weights, on one machine to the last bit, and likewise the scores on a
    CPU. Trained networks are stored, see `store`. The attributes `folder` and `told`
    (see `Trained`) are no parameters.
    """

    ordered: ClassVar[bool] = True
    """Whether the order of a history is read."""
    apart: ClassVar[frozenset[str]] = frozenset({"device"})
    """Parameters that do not affect the weights."""
    least: ClassVar[Mapping[str, int]] = {}
    """The least value of each further parameter; of these, `dropout` is always a share,
    and `heads` divide `dim`.
    """

    dim: int = 64  # size of the embeddings
    epochs: int = 200  # at most
    batch: int = 1024  # examples per step
    rate: float = 1e-3  # of learning (Adam)
    decay: float = 1e-6  # of weights (L2)
    patience: int = 10  # see `trainer.Settings`; 0 never validates
    length: int = 50  # latest items of a history that are read; 0 reads all
    device: str = "auto"  # a GPU if there is one; else ``cpu``, ``cuda``, ``cuda:1``
    threads: int = 1  # of the CPU; one gives the same bits on machines with more cores

    def __post_init__(self) -> None:
        self.folder: Path | None = None
        self.told: Callable[[str], None] | None = None
        dropout, heads = getattr(self, "dropout", 0.0), getattr(self, "heads", 1)
        specs.check(
            self.key,
            *specs.at_least(1, self, "dim", "epochs", "batch", "threads"),
            ("rate", self.rate, 0 < self.rate < math.inf, "above 0"),
            *specs.at_least(0, self, "decay", "patience", "length"),
            *(
                rule
                for name in self.least
                for rule in specs.at_least(self.least[name], self, name)
            ),
            ("dropout", dropout, 0 <= dropout < 1, "a share from 0 to below 1"),
            (
                "dim",
                self.dim,
                not self.dim % (heads or 1),
                f"a multiple of heads={heads!r}",
            ),
        )

    @property
    def promises(self) -> tuple[str, ...]:
        """Its further promises: if it reads the order of a history,
        that the order counts.
        """
        return (*super().promises, "order") if self.ordered else super().promises

    @property
    def reads_latest(self) -> int | None:
        """How many of a history's latest items it reads at most: its parameter
        `length`; None if it reads all.
        """
        return self.length or None

    @abstractmethod
    def build(self, training: Training) -> Network:
        """The network with its initial weights, drawn from torch's own generator."""

    def people(self, dataset: Dataset) -> People | None:
        """The features of users that are read besides
        their histories; None if none are.
        """
        return None

    def learn(self, dataset: Dataset, seed: int) -> None:
        """Load the network, or train it and store it in `folder`.

        Raises:
            CacheError: If it cannot be stored there.
            RecommenderError: If training diverges, or there is no such device.
        """
        self._people = self.people(dataset)
        training = Training.of(dataset, self.catalogue)
        follows: dict[str, str] = {}
        if self._people is not None:
            named = dataset.interactions["user"].unique()
            # In the order of `Training.of`, which sorts users that are not sorted yet.
            users = [
                dataset.users.get(user, {})
                for user in (sorted(named) if dataset.as_is else named)
            ]
            people = self._people.table(users)
            training = replace(training, people=people)
            follows["users"] = self._people.digest(people)
        with torch.random.fork_rng([]), threads(self.threads):
            torch.manual_seed(seed % 2**64)
            network = self.build(training)
        self._network = network.to(self._device())
        identity = {
            "recommender": f"{type(self).__module__}:{type(self).__qualname__}",
            "parameters": {
                field.name: getattr(self, field.name)
                for field in dataclasses.fields(self)
                if field.name not in self.apart
            },
            "training": dataset.digest,
            **follows,
            "seed": seed,
            "torch": torch.__version__,
        }
        self.fingerprint = key_of(identity)
        settings = Settings(
            self.epochs,
            self.batch,
            self.rate,
            self.decay,
            self.patience,
            self.length,
        )

        def fit() -> Report:
            with threads(self.threads):
                return train(self._network, training, settings, seed, self.told)

        folder = self.folder or cache_folder_for("models")
        self.report = obtain(folder, identity, self._network, fit)

    def _device(self) -> torch.device:
        name = self.device
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            return torch.zeros(1, device=name).device
        except (RuntimeError, AssertionError) as error:
            raise RecommenderError(
                f"{self.key}: device={self.device!r} is none that PyTorch can use here "
                f"({str(error).splitlines()[0]}); choose 'auto', 'cpu' or 'cuda'",
            ) from error

    @property
    def network(self) -> Network:
        """The trained network."""
        _ = self.catalogue  # raises before `fit`
        return self._network

    def score(self, requests: Sequence[Request]) -> Floats:
        """Scores of shape (requests, items).

        If every request has candidates and the network scores some items more cheaply
        than all, the items that no request offers score 0.
        """
        open_ = [request.candidates is None for request in requests]
        if any(open_) and not all(open_):
            # Separately, or a request without candidates would change how the others
            # are computed.
            scores = np.zeros((len(requests), len(self.catalogue)))
            for kind in (True, False):
                alike = [row for row, is_open in enumerate(open_) if is_open is kind]
                scores[alike] = self.score([requests[row] for row in alike])
            return scores
        columns = encode(requests, self.catalogue, self.length, ordered=self.ordered)
        candidates = self._candidates(requests)
        people = None
        if self._people is not None:
            people = self._people.table([request.attributes for request in requests])
        scores = np.zeros((len(requests), len(self.catalogue)))
        sizes = (columns != PAD).sum(1)
        width = columns.shape[1]
        if self.length:
            widths = np.full(len(sizes), width)
        else:
            exponents = np.ceil(np.log2(np.maximum(sizes, NARROWEST)))
            widths = (2**exponents).astype(np.int64)
            short = max(0, int(widths.max(initial=0)) - width)
            columns = np.pad(columns, ((0, 0), (short, 0)), constant_values=PAD)
        for wide in np.unique(widths):
            equal = np.flatnonzero(widths == wide)
            for start in range(0, len(equal), BLOCK):
                rows = equal[start : start + BLOCK]
                given = columns[rows, -wide:], None if people is None else people[rows]
                if candidates is None:
                    scores[rows] = self._block(*given, None)
                else:
                    offered = candidates[rows]
                    scores[rows[:, None], offered] = self._block(*given, offered)
        unknown = sizes == 0
        if people is not None:
            unknown &= (people == PAD).all(1)
        scores[unknown] = 0.0
        return settle(scores)

    def _block(
        self,
        columns: Ints,
        people: Ints | None,
        candidates: Ints | None,
    ) -> Floats:
        lacking = BLOCK - len(columns)
        network = self.network
        network.eval()

        def whole(values: Ints, fill: int) -> torch.Tensor:
            filled = np.pad(values, ((0, lacking), (0, 0)), constant_values=fill)
            return torch.from_numpy(filled).to(network.device)

        with torch.inference_mode(), threads(self.threads):
            found = network.answer(
                whole(columns, PAD),
                None if people is None else whole(people, PAD),
                None if candidates is None else whole(candidates, 0),
            )
        return np.asarray(found[: len(columns)].cpu().numpy(), dtype=np.float64)

    def _candidates(self, requests: Sequence[Request]) -> Ints | None:
        """Columns of the known candidates, sorted, shape (requests, c); None to score
        everything. Short rows repeat their last entry. c is a power of two, for the
        same reason as the widths.
        """
        if not self.network.selects or any(
            each.candidates is None for each in requests
        ):
            return None
        column = self.catalogue.column
        known = [
            {column.get(item.id, PAD) for item in each.candidates or ()}
            for each in requests
        ]
        offered = [sorted(row - {PAD}) or [0] for row in known]
        width = max([NARROWEST, *map(len, offered)])
        width = 1 << (width - 1).bit_length()
        return np.array(
            [row + row[-1:] * (width - len(row)) for row in offered],
            dtype=np.int64,
        )
