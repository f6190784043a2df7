"""The benchmark over whole catalogues splits, counts and averages as it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import full_ranking
from pytest_recsys_mt.requests import Recommendation
from tests.recommenders.data import simulate


def test_a_gain_is_ndcg() -> None:
    ideal = 1 + 1 / np.log2(3)
    assert full_ranking.gain(
        Recommendation(("a", "b", "c")),
        ["a", "b"],
    ) == pytest.approx(1)
    assert full_ranking.gain(
        Recommendation(("x", "b", "a")),
        ["a", "b"],
    ) == pytest.approx((1 / np.log2(3) + 1 / 2) / ideal)
    assert full_ranking.gain(Recommendation(("x",)), ["a"]) == 0
    many = tuple(f"i{n}" for n in range(30))
    assert full_ranking.gain(Recommendation(many), many) == pytest.approx(1)


def test_the_splits_hold_out_a_quarter_or_the_latest() -> None:
    dataset = simulate()
    latest = full_ranking.held_out(dataset, "latest", 0)
    assert all(
        latest[user] == [own[-1].item.id] for user, own in dataset.histories.items()
    )
    drawn = full_ranking.held_out(dataset, "random", 0)
    for user, own in dataset.histories.items():
        items = [rating.item.id for rating in own]
        assert len(drawn.get(user, [])) == round(len(items) / 4)
        assert set(drawn.get(user, [])) < set(items)
    assert drawn == full_ranking.held_out(dataset, "random", 0)
    assert drawn != full_ranking.held_out(dataset, "random", 1)


def test_the_table_has_a_line_a_model_and_split(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    full_ranking.main(
        ["--recsys-data=mini", "--recsys-model=mostpop", "--recsys-model=ease", "--seeds=2",
         f"--models={tmp_path}"],
    )  # fmt: skip
    lines = [line for line in capsys.readouterr().out.splitlines() if line[:1] == "|"][
        2:
    ]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:2] for row in cells] == [
        [name, split] for name in ("mostpop", "ease") for split in ("random", "latest")
    ]
    assert "±" in cells[0][2]
    assert "±" not in cells[1][2]  # nothing is drawn
    found = {(row[0], row[1]): float(row[2].split()[0]) for row in cells}
    assert found["ease", "random"] > 1.5 * found["mostpop", "random"]


def test_what_ranks_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="none of the built-in recommenders"):
        full_ranking.measured("gpt-4o", simulate(), {}, 0, tmp_path)
