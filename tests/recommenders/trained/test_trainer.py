from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pytest_recsys_mt import RecommenderError
from tests.recommenders.data import table
from tests.recommenders.trained.rings import fitted, request, ring
from tests.support.recommenders import Catalogue
from tests.support.recommenders_trained import Training
from tests.support.recommenders_trained_extras import (
    BPRMF,
    Network,
    Settings,
    train,
    trainer,
    validate,
)


class Fixed(Network):
    """Scores that training moves by one a step, towards the last item or away from it."""

    def __init__(self, items: int, step: float = 1.0) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.arange(items, dtype=torch.float32).flip(0))
        self.step = step

    def batches(
        self,
        training: Training,
        size: int,
        rng: np.random.Generator,
    ) -> Iterator[tuple[Tensor, ...]]:
        yield (torch.tensor(self.step),)

    def loss(self, *batch: Tensor) -> Tensor:
        return -(self.scores[-1] * batch[0])

    def score(self, columns: Tensor) -> Tensor:
        return self.scores.expand(len(columns), -1)


def training() -> Training:
    rows = [(user, item, 1.0) for user in "uvw" for item in "abcd"]
    dataset = table(*rows, items="abcdef")
    return Training.of(dataset, Catalogue.of(dataset))


def settings(**changes: Any) -> Settings:
    usual = {
        "epochs": 9,
        "batch": 4,
        "rate": 1.0,
        "decay": 0.0,
        "patience": 3,
        "length": 0,
    }
    return Settings(**{**usual, **changes})


def test_the_latest_item_is_ranked_among_all_that_came_not_before() -> None:
    """Users have a, b, c and then d; without those d is first, or third behind e and f."""
    network, rows = Fixed(6), np.array([3, 7, 11])
    first, third = (1.0, 1.0), (3.0, 1 / math.log2(1 + 3))
    assert validate(network, training(), rows, 0) == pytest.approx(first)
    assert validate(network, training(), rows, 1) == pytest.approx(third)
    network.scores.data = torch.tensor([0.0, 0, 0, 1, 2, 3])
    assert validate(network, training(), rows, 0) == pytest.approx(third)
    network.scores.data = torch.zeros(
        6,
    )  # all alike predicts nothing: as if last of the three
    assert validate(network, training(), rows, 0) == pytest.approx(third)


def test_a_rank_below_the_top_ten_still_counts_in_the_mean_rank() -> None:
    """Ranks 1 and 16 have the geometric mean 4, and the NDCG of the first alone."""
    dataset = table(
        ("u", "a", 1),
        ("u", "b", 1),
        ("v", "a", 1),
        ("v", "q", 1),
        items="abcdefghijklmnopq",
    )
    both = Training.of(dataset, Catalogue.of(dataset))
    network = Fixed(17)
    network.scores.data[2] = -1.0  # that of q
    assert validate(network, both, np.array([1, 3]), 0) == pytest.approx((4.0, 0.5))


def test_training_stops_when_it_gets_no_better_and_keeps_the_best() -> None:
    network = Fixed(6, step=1.0)  # item f rises, and passes d in the fourth epoch
    report = train(network, training(), settings(), 0)
    assert report.best == 1
    assert report.epochs == 4
    assert (report.rank[0], report.ndcg[0]) == (1.0, 1.0)
    assert len(report.rank) == len(report.ndcg) == 4
    assert network.scores.tolist() == pytest.approx([5, 4, 3, 2, 1, 1])
    assert not network.training


def test_what_rose_slowly_is_given_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best epoch is the twentieth: half as many more
    are waited for, though patience is 3.
    """
    ranks = iter([*range(50, 30, -1), *[40] * 90])
    monkeypatch.setattr(
        trainer,
        "validate",
        lambda *_: trainer.Validation(next(ranks), 0.0),
    )
    monkeypatch.setattr(trainer, "popularity", lambda *_: 90.0)
    report = train(Fixed(6), training(), settings(epochs=90), 0)
    assert (report.best, report.epochs) == (20, 30)


def test_chance_among_the_first_ten_does_not_stop_a_training(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """NDCG is at its best in the first epoch, as on a plateau,
    while the items come nearer to the top.
    """
    found = iter([(100.0 - epoch, 0.5 if not epoch else 0.1) for epoch in range(9)])
    monkeypatch.setattr(
        trainer,
        "validate",
        lambda *_: trainer.Validation(*next(found)),
    )
    report = train(Fixed(6), training(), settings(), 0)
    assert (report.best, report.epochs) == (9, 9)


def test_a_plateau_at_popularity_is_given_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ranks stand still for twelve epochs, at popularity's or far below; patience is 3."""
    for popular, expected in ((40.0, (14, 17)), (90.0, (1, 4))):
        ranks = iter([40.0, *[41.0] * 12, 20.0, *[21.0] * 9])
        monkeypatch.setattr(
            trainer,
            "validate",
            lambda *_, ranks=ranks: trainer.Validation(next(ranks), 0.0),
        )
        monkeypatch.setattr(trainer, "popularity", lambda *_, popular=popular: popular)
        report = train(Fixed(6), training(), settings(epochs=17), 0)
        assert (report.best, report.epochs) == expected


def test_popularity_is_ranked_as_networks_are() -> None:
    """Columns are in the order of popularity, so scores
    that fall with the column rank alike.
    """
    dataset = ring(users=30)
    catalogue = Catalogue.of(dataset)
    some = Training.of(dataset, catalogue)
    _, rows = some.split_validation()
    for length in (0, 1, 2):
        expected = validate(Fixed(len(catalogue)), some, rows, length).rank
        assert trainer.popularity(some, rows, length) == pytest.approx(expected)


def test_no_patience_trains_on_everything_to_the_end() -> None:
    network = Fixed(6)
    report = train(network, training(), settings(patience=0), 0)
    assert (report.epochs, report.best, report.rank, report.ndcg) == (9, 9, (), ())
    assert float(network.scores[-1].detach()) == pytest.approx(9, abs=0.01)


def test_users_too_short_to_validate_are_trained_to_the_end() -> None:
    dataset = table(("u", "a", 1), ("v", "b", 1))
    few = Training.of(dataset, Catalogue.of(dataset))
    assert train(Fixed(6), few, settings(epochs=4), 0).epochs == 4


def test_a_loss_that_is_no_number_is_said_with_a_way_out() -> None:
    with pytest.raises(
        RecommenderError,
        match=r"diverged.*lower the learning rate.*rate=0\.1",
    ):
        train(Fixed(6, step=math.inf), training(), settings(), 0)


def test_other_people_s_random_numbers_are_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    before = torch.get_num_threads()
    fitted(BPRMF(dim=4, epochs=1))
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(trainer, "SHOWN_AFTER", 0)
    fitted(BPRMF(dim=4, epochs=2))
    assert ("training" in stream.getvalue()) is terminal
    assert ("NDCG@10" in stream.getvalue()) is terminal


def test_who_is_told_of_the_progress_shows_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trainer, "SHOWN_AFTER", 0)
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    model = BPRMF(dim=4, epochs=2)
    told: list[str] = []
    model.told = told.append
    fitted(model)
    assert told[0] == "epoch 1 of 2"
    assert told[1].startswith("epoch 2 of 2, loss ")
    assert "mean rank" in told[1]
    assert "NDCG@10" in told[1]
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dim": 0}, "dim must be at least 1"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"rate": 0.0}, "rate must be above 0"),
        ({"decay": -1.0}, "decay must be at least 0 and finite, got -1.0"),
        ({"patience": -1}, "patience must be at least 0, got -1"),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    wrong: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(RecommenderError, match=f"bprmf: {message}"):
        BPRMF(**wrong)


def test_a_device_that_is_not_there_is_said() -> None:
    with pytest.raises(
        RecommenderError,
        match=r"device='abacus'.*choose 'auto', 'cpu' or 'cuda'",
    ):
        fitted(BPRMF(dim=4, epochs=1, device="abacus"))


def test_what_is_not_fitted_says_so() -> None:
    with pytest.raises(RecommenderError, match="before it is fitted"):
        BPRMF().score([request(1)])


def test_a_ring_without_validation_users_is_no_special_case() -> None:
    assert np.isfinite(
        fitted(BPRMF(dim=4, epochs=2), ring(steps=2)).score([request(1)]),
    ).all()
