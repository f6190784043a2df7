"""The trainer: Adam, early stopping on the ranks of
held-out interactions, seeds, a progress bar.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np
import torch
from tqdm import tqdm

from pytest_recsys_mt.recommenders.scoring import Ints
from pytest_recsys_mt.recommenders.trained.data import PAD, Training
from pytest_recsys_mt.recommenders.trained.network import Network
from pytest_recsys_mt.safety.errors import RecommenderError

VALIDATED = 1000
"""Most users whose latest interaction is predicted after each epoch."""

DEPTH = 10
"""Largest rank at which a prediction counts in the NDCG that is shown."""

BLOCK = 64
"""Histories scored at once."""

SHOWN_AFTER = 1.0
"""Seconds before the progress bar appears; a shorter training shows none."""

LONGEST = 500
"""Latest items of a history that validation reads, if the network reads all."""


SLOWNESS = 0.5
"""Epochs without a better validation, as a share of those that the best one took, that
are waited for in any case: what rises slowly stands still for longer, too.
"""

PLATEAU = 5
"""How many times as long is waited for while a network ranks hardly better than
popularity. Popularity is what most of them learn first, and what they leave only when
users' tastes have grown large enough to be seen: with one or two steps an epoch, after
dozens of epochs.
"""

HARDLY = 0.9
"""Share of popularity's mean rank, counted from the
first place, down to which that is so.
"""


class Validation(NamedTuple):
    """How well the held-out interactions are predicted: the geometric mean of their
    ranks, by which training stops, and the mean NDCG@10.

    Every user moves the mean rank, even where the item is far from the top, so it
    distinguishes epochs that `ndcg` of a thousand users cannot: there, the few that are
    found or lost by chance decide.
    """

    rank: float
    ndcg: float


@dataclass(frozen=True)
class Settings:
    """The settings of a training, as those of `TrainedRecommender`; a `length` of 0
    shows `LONGEST`.

    Training stops after `patience` epochs without a better validation, or `SLOWNESS` of
    those until the best one, if that is more; `PLATEAU` times as many while the best is
    hardly better than popularity. 0 holds nothing out and trains for all `epochs`.
    """

    epochs: int
    batch: int
    rate: float
    decay: float
    patience: int
    length: int


@dataclass(frozen=True)
class Report:
    """The course of a training; without validation, `best` is the
    last epoch, and ranks and NDCG are empty.
    """

    epochs: int
    best: int  # the epoch whose weights were kept, from 1
    rank: tuple[float, ...]
    ndcg: tuple[float, ...]
    loss: tuple[float, ...]
    seconds: float


def train(
    network: Network,
    training: Training,
    settings: Settings,
    seed: int,
    report: Callable[[str], None] | None = None,
) -> Report:
    """Train `network` in place, from its initial weights; it ends with the best ones,
    frozen, in evaluation mode.

    The validation predicts each user's latest interaction, of `VALIDATED` users at
    most, among the whole catalogue without their history. These interactions are not
    learned from. The seed is that of everything random; torch's own generators keep
    their state. `report` is `Trained.told`.

    Raises:
        RecommenderError: If the loss is not a finite number.
    """
    began = time.perf_counter()
    rng = np.random.default_rng([seed % 2**64, 1])
    learned, held_out = _split(training, settings, rng)
    optimiser = _optimiser(network, settings)
    popular = popularity(training, held_out, settings.length)
    best, kept = 0, network.state_dict()
    curve: list[Validation] = []
    losses: list[float] = []
    cuda = [network.device] if network.device.type == "cuda" else []
    with (
        torch.random.fork_rng(cuda),
        _progress_bar(network, settings.epochs, hidden=report is not None) as bar,
    ):
        torch.manual_seed(seed % 2**64)
        for epoch in range(1, settings.epochs + 1):
            if report is not None:
                report(f"epoch {epoch} of {settings.epochs}{_latest(losses, curve)}")
            losses.append(_epoch(network, learned, settings, optimiser, rng))
            bar.update()
            if not len(held_out):
                continue
            network.freeze(learned)
            curve.append(validate(network, training, held_out, settings.length))
            bar.set_postfix_str(_latest(losses, curve).removeprefix(", "))
            if curve[-1].rank < min((one.rank for one in curve[:-1]), default=math.inf):
                best = epoch
                kept = {
                    name: value.clone() for name, value in network.state_dict().items()
                }
                continue
            if epoch - best >= _patience(settings, best, curve[best - 1].rank, popular):
                break
    if best:
        network.load_state_dict(kept)
    network.freeze(learned)
    network.eval()
    return _report_of(losses, curve, best, time.perf_counter() - began)


def _split(
    training: Training,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[Training, Ints]:
    """The training data, and the interactions by which training stops."""
    if not settings.patience:
        return training, np.empty(0, dtype=np.int64)
    learned, held_out = training.split_validation()
    return learned, np.sort(rng.permutation(held_out)[:VALIDATED])


def _optimiser(network: Network, settings: Settings) -> torch.optim.Adam:
    return torch.optim.Adam(
        network.parameters(),
        lr=settings.rate,
        weight_decay=settings.decay,
        fused=True,
    )


def _report_of(
    losses: Sequence[float],
    curve: Sequence[Validation],
    best: int,
    seconds: float,
) -> Report:
    """The course of a training, from the loss and the validation of each epoch."""
    return Report(
        epochs=len(losses),
        best=best or len(losses),
        rank=tuple(validation.rank for validation in curve),
        ndcg=tuple(validation.ndcg for validation in curve),
        loss=tuple(losses),
        seconds=seconds,
    )


def _progress_bar(network: Network, epochs: int, *, hidden: bool) -> "tqdm[NoReturn]":
    """The bar of the epochs; it is hidden too where nobody sees it."""
    return tqdm(
        total=epochs,
        desc=f"training {type(network).__name__}",
        unit="epoch",
        disable=hidden or sys.stderr is None or not sys.stderr.isatty(),
        delay=SHOWN_AFTER,
        leave=False,
        dynamic_ncols=True,
    )


def _patience(settings: Settings, best: int, rank: float, popular: float) -> float:
    """How many epochs after the `best` one are waited for,
    from its mean rank and that of popularity.
    """
    wait = max(settings.patience, SLOWNESS * best)
    if rank - 1 > HARDLY * (popular - 1):
        wait *= PLATEAU
    return wait


def _latest(losses: Sequence[float], curve: Sequence[Validation]) -> str:
    loss = f", loss {losses[-1]:.4f}" if losses else ""
    if not curve:
        return loss
    return f"{loss}, mean rank {curve[-1].rank:.1f}, NDCG@{DEPTH} {curve[-1].ndcg:.4f}"


def _epoch(
    network: Network,
    training: Training,
    settings: Settings,
    optimiser: torch.optim.Adam,
    rng: np.random.Generator,
) -> float:
    network.train()
    device = network.device
    total = torch.zeros((), device=device)
    count = 0
    for batch in network.batches(training, settings.batch, rng):
        optimiser.zero_grad(set_to_none=True)
        loss = network.loss(*(part.to(device) for part in batch))
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        total += loss.detach()
        count += 1
    mean = float(total) / max(1, count)
    if not math.isfinite(mean):
        raise RecommenderError(
            f"training {type(network).__name__} diverged: its mean loss is {mean!r}; lower the "
            f"learning rate, as in '?rate={settings.rate / 10:g}'",
        )
    return mean


def popularity(training: Training, rows: Ints, length: int) -> float:
    """The geometric mean of the ranks that popularity gives
    the items in `rows`, as in `validate`.
    """
    before = training.items_at(training.preceding(rows, length or LONGEST))
    items = training.columns[rows]
    known = ((before != PAD) & (before < items[:, None])).sum(1)
    ranks = np.maximum(1, items + 1 - known)
    return math.exp(float(np.log(ranks).sum()) / max(1, len(rows)))


@torch.inference_mode()
def validate(
    network: Network,
    training: Training,
    rows: Ints,
    length: int,
) -> Validation:
    """How well the items in `rows` are predicted from what precedes them, among all
    that does not.

    One item is relevant, so a user's NDCG is 1 / log2(1 + rank), and 0 beyond `DEPTH`.
    Equal scores count as better: a network that scores everything alike predicts
    nothing.
    """
    network.eval()
    gains, logs = 0.0, 0.0
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        before = training.preceding(part, length or LONGEST)
        columns = torch.from_numpy(training.items_at(before)).to(network.device)
        target = torch.from_numpy(training.columns[part]).to(network.device)[:, None]
        people = None
        if training.people is not None:
            people = torch.from_numpy(training.people[training.owners[part]]).to(
                network.device,
            )
        scores = network.preview(columns, people)
        own = scores.gather(1, target)
        padded = torch.cat([scores, torch.zeros_like(own)], 1)
        padded.scatter_(1, columns.where(columns != PAD, scores.shape[1]), -torch.inf)
        ranks = (padded[:, :-1] >= own).sum(1).double()
        gains += float(((ranks <= DEPTH) / torch.log2(1 + ranks)).sum())
        logs += float(torch.log(ranks).sum())
    count = max(1, len(rows))
    return Validation(math.exp(logs / count), gains / count)
