"""Cosines between histories are those that one works out by hand, ties included."""

import math

import numpy as np
import pytest

from tests.lrworld.made import dataset_of
from tests.support.suites_lrworld import Histories, taste


def test_cosines_worked_out_by_hand() -> None:
    histories = Histories.of(
        dataset_of({"1": "ABC", "2": "AB", "3": "CD", "4": "E"}),
        1,
    )
    everyone = np.ones(4, dtype=np.bool_)
    ranked = next(taste.similarities(histories.by_user, np.array([0]), everyone))
    assert ranked.target == 0
    assert ranked.options.tolist() == [1, 2, 3]
    assert ranked.scores == pytest.approx([2 / math.sqrt(6), 1 / math.sqrt(6), 0.0])
    rng = np.random.default_rng(0)
    assert ranked.top(rng) == 0
    assert ranked.below(0).tolist() == [1, 2]

    items = np.ones(5, dtype=np.bool_)
    by_item = histories.by_user.T.tocsr()
    c = next(taste.similarities(by_item, np.array([2]), items))
    assert c.options.tolist() == [0, 1, 3, 4]
    assert c.scores == pytest.approx([1 / 2, 1 / 2, 1 / math.sqrt(2), 0.0])
    assert c.below(1).tolist() == [3], (
        "A is as similar as B, so it is no wrong option beside it"
    )


def test_what_is_equally_similar_is_equal_to_the_bit() -> None:
    # 2 of 4 in common and 3 of 9: both have a cosine of 1 / sqrt(own length).
    own = [f"t{number}" for number in range(7)]
    four = [*own[:2], "x0", "x1"]
    nine = [*own[2:5], *(f"y{number}" for number in range(6))]
    histories = Histories.of(dataset_of({"1": own, "2": four, "3": nine}), 1)
    ranked = next(
        taste.similarities(
            histories.by_user,
            np.array([0]),
            np.ones(3, dtype=np.bool_),
        ),
    )
    assert ranked.scores[0] == ranked.scores[1]
    assert {ranked.top(np.random.default_rng(seed)) for seed in range(20)} == {0, 1}


@pytest.mark.parametrize("cells", [1, 40, 2**24])
def test_cosines_do_not_depend_on_blocks_or_on_who_else_is_asked(
    cells: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taste, "CELLS", cells)
    rng = np.random.default_rng(1)
    dataset = dataset_of(
        {
            f"{user:02d}": [
                str(item) for item in rng.choice(20, rng.integers(1, 9), replace=False)
            ]
            for user in range(25)
        },
    )
    histories = Histories.of(dataset, 1)
    dense = histories.by_user.toarray().astype(float)
    unit = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    allowed = rng.random(25) < 0.7
    targets = rng.permutation(25)
    ranked = list(taste.similarities(histories.by_user, targets, allowed))
    assert [one.target for one in ranked] == targets.tolist()
    for one in ranked:
        others = allowed & (np.arange(25) != one.target)
        assert one.options.tolist() == np.flatnonzero(others).tolist()
        assert one.scores == pytest.approx((unit @ unit[one.target])[others])
