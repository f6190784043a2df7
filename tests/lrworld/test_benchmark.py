"""The benchmark's data have the shape that it names,
and its rules are compared in full.
"""

import sys

import pytest

from benchmarks import lrworld


def test_simulated_data_have_their_shape() -> None:
    dataset = lrworld.simulate(60, 40, 700)
    assert len(dataset.interactions) == 700
    assert len(dataset.items) == 40
    assert dataset.interactions["user"].nunique() <= 60
    popularity = sorted(dataset.popularity.values())
    assert popularity[-1] > 2 * popularity[0], (
        "some items are far more popular than others"
    )


def test_rules_are_compared_with_other_miners(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(lrworld.SHAPES, "1m", (60, 40, 700))
    lrworld.compare("1m", sys.executable, limit=60)
    ours, theirs = capsys.readouterr().out.splitlines()
    assert " rules" in ours
    assert not ours.endswith(" 0 rules")
    assert "the same rules" in theirs or "No module named 'fim'" in theirs
