"""Trained recommenders as users name them: on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extras import need

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates

@metamorphic(shuffle_candidates)
def test_the_order_of_candidates_is_not_read(source, followup):
    assert same_ranking(source, followup)

@metamorphic(shuffle_candidates)
def test_nor_does_a_second_worker_train(source, followup):
    assert same_ranking(source, followup)
"""


@pytest.mark.slow  # test_store has two processes that train once
def test_two_workers_train_once_and_a_later_run_loads_without_a_bar(
    pytester: pytest.Pytester,
    tmp_path: Path,
) -> None:
    need("xdist")
    pytester.makepyfile(TEST)
    seen = []
    for workers in (["-n2"], []):
        done = pytester.runpytest_subprocess(
            *("-p", "no:cacheprovider", "--recsys-data=mini", "--recsys-users=70"),
            *(
                f"--recsys-cache={tmp_path}/kept",
                "--recsys-model=bprmf?epochs=2&dim=8",
                *workers,
            ),
            timeout=120,
        )
        done.assert_outcomes(passed=2)
        assert "training" not in done.stderr.str()
        (description,) = Path(tmp_path, "kept", "models").rglob("model.json")
        seen.append((description.stat().st_mtime_ns, description.read_text()))
    assert seen[0] == seen[1]
