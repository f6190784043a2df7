from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pytest_recsys_mt import RecommenderError
from tests.recommenders.trained.rings import fitted, request, ring
from tests.support.recommenders import Floats
from tests.support.recommenders_trained import PAD, Training, encode
from tests.support.recommenders_trained_extras import SASRec, sampled_cross_entropy

pytestmark = pytest.mark.usefixtures("on_the_processor")

QUICK: dict[str, Any] = {
    "dim": 16, "epochs": 60, "batch": 8, "rate": 0.005, "decay": 0.0, "patience": 0, "length": 6,
    "dropout": 0.0, "negatives": 64,
}  # fmt: skip


def normalised(values: Floats, weight: Floats, bias: Floats) -> Floats:
    centred = values - values.mean()
    return np.asarray(centred / np.sqrt((centred**2).mean() + 1e-5) * weight + bias)


def reference(
    weights: dict[str, Floats],
    history: list[int],
    layers: int,
    heads: int,
) -> Floats:
    """The scores of a history without padding, one place, one head, one sum at a time."""
    items, dim = weights["items"], weights["items"].shape[1]
    places = weights["positions"][-len(history) :]
    states = [
        items[i] * np.sqrt(dim) + place
        for i, place in zip(history, places, strict=True)
    ]
    for block in range(layers):
        own = {
            name.removeprefix(f"blocks.{block}."): value
            for name, value in weights.items()
            if name.startswith(f"blocks.{block}.")
        }
        ready = [
            normalised(s, own["before.weight"], own["before.bias"]) for s in states
        ]
        parts = [
            np.split(own["project.weight"] @ s + own["project.bias"], 3) for s in ready
        ]
        after = []
        for now, state in enumerate(states):
            heard = np.zeros(dim)
            for head in np.split(np.arange(dim), heads):
                query = parts[now][0][head]
                force = np.array(
                    [query @ parts[then][1][head] for then in range(now + 1)],
                ) / np.sqrt(len(head))
                share = np.exp(force) / np.exp(force).sum()
                heard[head] = sum(
                    share[then] * parts[then][2][head] for then in range(now + 1)
                )
            state = state + own["mix.weight"] @ heard + own["mix.bias"]
            inner = normalised(state, own["between.weight"], own["between.bias"])
            inner = np.maximum(own["inner.weight"] @ inner + own["inner.bias"], 0)
            after.append(state + own["outer.weight"] @ inner + own["outer.bias"])
        states = after
    return np.asarray(
        items @ normalised(states[-1], weights["last.weight"], weights["last.bias"]),
    )


@pytest.mark.parametrize("heads", [1, 2])
def test_scores_equal_a_plain_computation(heads: int) -> None:
    model = fitted(SASRec(**{**QUICK, "epochs": 5}, heads=heads))
    assert isinstance(model, SASRec)
    weights = {
        name: value.double().numpy()
        for name, value in model.network.state_dict().items()
    }
    for asked in (request(4), request(7, 3, 9), request(1, 2, 3, 4, 5, 6, 7, 8)):
        columns = encode([asked], model.catalogue, 6)
        history = [int(column) for column in columns[0] if column != PAD]
        expected = reference(weights, history, 2, heads)
        assert model.score([asked])[0] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("negatives", [0, 64])
def test_the_ring_is_learned_by_heart(negatives: int) -> None:
    """After i and i + 1 comes i + 2, whoever asks."""
    model = fitted(SASRec(**{**QUICK, "negatives": negatives}))
    asked = [request(start, (start + 1) % 18, k=1) for start in range(18)]
    answers = [answer.items for answer in model.recommend(asked)]
    right = [(f"i{(start + 2) % 18}",) for start in range(18)]
    assert (
        np.mean([one == other for one, other in zip(answers, right, strict=True)])
        > 0.95
    )


def test_the_order_of_a_history_decides() -> None:
    model = fitted(SASRec(**QUICK))
    there, back = model.score([request(3, 9), request(9, 3)])
    assert np.abs(there - back).max() > 0.1


def test_the_loss_contrasts_each_target_with_the_drawn_others_and_skips_padding() -> (
    None
):
    dataset = ring(steps=4)
    model = fitted(SASRec(**{**QUICK, "epochs": 1}), dataset)
    assert isinstance(model, SASRec)
    network = model.network
    training = Training.of(dataset, model.catalogue)
    batch = next(iter(network.batches(training, 3, np.random.default_rng(0))))
    history, targets, drawn = batch
    items = network.get_parameter("items")
    positive, negative = [], []
    with torch.no_grad():
        for row in range(3):
            states = network.states(history[row : row + 1])[0]  # type: ignore[operator]
            for place in range(6):
                if history[row, place] == PAD:
                    continue
                scores = items @ states[place]
                positive.append(scores[targets[row, place]])
                negative.append(
                    torch.where(
                        drawn == targets[row, place],
                        -torch.inf,
                        scores[drawn],
                    ),
                )
        expected = sampled_cross_entropy(torch.stack(positive), torch.stack(negative))
        assert float(network.loss(*batch)) == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [{"heads": 3}, {"layers": 0}, {"dropout": 1.0}, {"negatives": -1}, {"length": 0}],
    ids=str,
)
def test_sizes_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(RecommenderError, match=rf"{next(iter(wrong))}(=| must be)"):
        SASRec(**wrong)  # type: ignore[arg-type]
