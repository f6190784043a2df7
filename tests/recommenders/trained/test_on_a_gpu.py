"""What training on a GPU promises; skips where PyTorch finds none."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

from tests.recommenders import data
from tests.support.recommenders import TRAINED, Floats, resolve
from tests.support.recommenders_trained_extras import TrainedRecommender

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(),
    reason="needs a GPU that PyTorch can use",
)


def scores(spec: str, folder: Path) -> Floats:
    model = resolve(spec)
    assert isinstance(model, TrainedRecommender)
    model.folder = folder
    world = data.simulate()
    model.fit(world, 0)
    return model.score(data.requests(world))


@pytest.mark.parametrize("name", TRAINED)
def test_training_twice_gives_the_same_scores(name: str, tmp_path: Path) -> None:
    spec = f"{name}?dim=16&epochs=5&patience=0&device=cuda"
    assert np.array_equal(
        scores(spec, tmp_path / "first"),
        scores(spec, tmp_path / "second"),
    )


@pytest.mark.parametrize("name", sorted({*TRAINED} - {"nrms", "sasrec"}))
def test_the_order_is_that_of_the_processor(name: str, tmp_path: Path) -> None:
    # The other two drop values at random while they learn, and a GPU draws others.
    spec = f"{name}?dim=16&epochs=5&patience=0&device="
    here, there = (
        scores(spec + device, tmp_path / device) for device in ("cpu", "cuda")
    )
    agreement = [
        stats.kendalltau(a, b).statistic for a, b in zip(here, there, strict=True)
    ]
    assert np.mean(agreement) > 0.95
