"""A split of the data is kept by all of a run: fits, record, command and baseline."""

import json
import shlex

import pytest

from tests.plugin.conftest import Run, record_of
from tests.support.plugin import other_rows

SHOP = """
import json
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True

    def fit(self, dataset, seed):
        frame = dataset.interactions
        with open("fits.jsonl", "a") as file:
            print(json.dumps([len(frame), int(frame["timestamp"].max())]), file=file)

    def recommend(self, requests):
        return [
            Recommendation(tuple(sorted(item.id for item in each.candidates)[: each.k]))
            for each in requests
        ]
"""
ROWS = """
import os
from pytest_recsys_mt.datasets import load as load_data

def load():
    rows = load_data("mini").interactions
    return rows.sample(frac=0.9, random_state=os.getpid())
"""
TEST = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import at_least, same_ranking
from pytest_recsys_mt.relations import permute_rows, reorder_history

@metamorphic(reorder_history, permute_rows)
def test_same(source, followup):
    assert same_ranking(source, followup, margin=0.2)

def test_hits(recsys):
    assert at_least(recsys.run(), "hit@5", 0.99)

@pytest.mark.recsys_design(fold=1)
def test_fold(recsys):
    assert at_least(recsys.run(), "hit@5", 0)
"""


def test_a_run_keeps_to_the_split_of_its_data(
    project: pytest.Pytester,
    run: Run,
) -> None:
    project.makepyfile(shop=SHOP, test_split=TEST)
    path, data = project.path / "r.json", "mini?split=time:2017-07-02"
    cut = 1_498_953_600
    common = ("--recsys-model=shop.py:Shop", "--recsys-users=20")
    result = run(*common, f"--recsys-data={data}", f"--recsys-json={path}")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    lines = (project.path / "fits.jsonl").read_text(encoding="utf-8").splitlines()
    fits = [json.loads(line) for line in lines]
    assert len(fits) > 1
    assert all(latest < cut for _, latest in fits)

    record = record_of(path)
    assert (record["data"], len(record["data_digest"])) == (data, 64)
    (divided,) = [note for note in record["notes"] if " interactions = " in note]
    assert f" {fits[0][0]:,} for training + " in divided
    (failed,) = [row for row in record["results"] if row.get("reproduce")]
    assert f"--recsys-data={data}" in shlex.split(failed["reproduce"])
    assert "a fold draws it at random" in json.dumps(record)

    other = run(*common, "--recsys-data=mini", f"--recsys-baseline={path}")
    other.stdout.fnmatch_lines(["*other data: *in the baseline*"])


def test_workers_that_load_other_rows_are_an_error_that_names_them(
    project: pytest.Pytester,
    run: Run,
) -> None:
    assert not [*other_rows("a.csv", {"gw0": "1", "gw1": "1"})]
    project.makepyfile(shop=SHOP, rows=ROWS, test_split=TEST)
    path, data = project.path / "r.json", "rows.py:load"
    common = ("-n2", "-knot fold", "--recsys-model=shop.py:Shop", "--recsys-users=20")
    result = run(*common, f"--recsys-data={data}", f"--recsys-json={path}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (reason,) = record_of(path)["gate"]["incomplete"]
    assert reason.startswith(f"the workers loaded other rows of {data!r}: gw0 those of")
    result.stdout.fnmatch_lines(["*the workers loaded other rows of*"])
