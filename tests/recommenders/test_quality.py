"""The benchmark of quality ranks, counts and compares as it says."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import quality
from pytest_recsys_mt.datasets import load
from tests.support.engine import Split

SCORER = """
import sys
from pathlib import Path
import numpy as np

question = np.load(Path(sys.argv[1]) / "question.npz")
shape = (int(question["seeds"]), *question["candidates"].shape)
popular = -np.broadcast_to(question["candidates"], shape).astype(float)
alike = np.zeros(shape)
np.savez(
    Path(sys.argv[1]) / "scores.npz",
    **{"ItemKNN": popular, "BPR": -popular, "ALS": alike},
    **{f"{name}/seconds": np.ones(2) for name in ("ItemKNN", "BPR", "ALS")},
)
"""


def test_a_rank_counts_as_the_metrics_say() -> None:
    found = quality.Found("some", np.array([[1, 5, 6, 20]]), 0.0)
    assert found.hits.tolist() == [[1, 1, 0, 0]]
    assert found.gains == pytest.approx(np.array([[1, 1 / np.log2(6), 0, 0]]))
    assert found.areas == pytest.approx(np.array([[1, 15 / 19, 14 / 19, 0]]))


def test_the_table_has_a_line_a_model_and_chance_where_chance_ranks(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    quality.main(
        ["--recsys-data=mini", "--recsys-model=random", "--recsys-model=itemknn", "--seeds=2",
         f"--models={tmp_path}"],
    )  # fmt: skip
    head, _, *lines = [
        line for line in capsys.readouterr().out.splitlines() if line[:1] == "|"
    ]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[0] for row in cells] == ["mostpop", "random", "itemknn"]
    assert len(cells[1]) == len(head.strip("|").split("|"))
    low, high = map(float, cells[1][1].partition("[")[2].rstrip("]").split(", "))
    assert low < 5 / 20 < high
    assert cells[0][4] == "–"


def test_scores_from_elsewhere_are_ranked_as_ours_are(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Popularity and constant scores give what MostPop gives,
    the contrary of popularity its mirror.
    """
    scorer = tmp_path / "scorer.py"
    scorer.write_text(SCORER)
    monkeypatch.setattr(quality, "YARDSTICK", scorer)
    split = Split(load("mini"), 0)
    cases = quality.asked(split, 50)
    own = quality.ours("mostpop", split, cases, 2, tmp_path)
    popular, contrary, alike = quality.theirs(sys.executable, split, cases, 2)
    assert own.ranks.shape == (1, 50)
    assert (popular.ranks == own.ranks).all()
    assert (alike.ranks == own.ranks).all()
    assert (contrary.ranks == 21 - own.ranks).all()
    assert popular.seconds == 1


def test_a_recommender_that_scores_nothing_is_refused(tmp_path: Path) -> None:
    split = Split(load("mini"), 0)
    with pytest.raises(SystemExit, match="none of the built-in recommenders"):
        quality.ours("gpt-4o", split, (), 1, tmp_path)
