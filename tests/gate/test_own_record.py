"""All suites against their own record, by the command
line: the same passes, the worse does not.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.extras import need

AGGREGATES = (
    "item_coverage@5",
    "oic@5",
    "exposure_gini@5",
    "popreo@5",
    "dpd@5",
    "jain@5",
)


def suites(folder: Path, *arguments: str) -> tuple[int, str, dict[str, Any]]:
    """Run all suites; gives the exit code, what was printed, and the record."""
    record = folder / "record.json"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=no", "--pyargs",
            "pytest_recsys_mt.suites", f"--recsys-json={record}", f"--recsys-cache={folder}/cache",
            *arguments,
        ],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, json.loads(record.read_text(encoding="utf-8"))


def kept(folder: Path, model: str) -> tuple[int, dict[str, Any]]:
    """Run all suites and keep their record as ``base.json``;
    gives the exit code and the record.
    """
    (folder / "recsys.toml").write_text("[gate]\nmargin = 0.02\n")
    ended, _, base = suites(folder, f"--recsys-model={model}")
    (folder / "base.json").write_text(json.dumps(base), encoding="utf-8")
    return ended, base


def changes(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What became of every verdict, by metric or by test."""
    (comparison,) = record["gate"]["comparisons"]
    assert comparison["refused"] == []
    return {each["metric"] or each["nodeid"]: each for each in comparison["results"]}


def passes_against_itself(
    folder: Path,
    model: str,
    ended: int,
    base: dict[str, Any],
) -> None:
    """A suite that fails by itself fails again, but nothing is worse than before."""
    again, printed, record = suites(
        folder,
        f"--recsys-model={model}",
        "--recsys-baseline=base.json",
    )
    found = changes(record)
    assert {each["change"] for each in found.values()} == {"unchanged", "ungated"}
    assert {found[name]["change"] for name in AGGREGATES} == {"unchanged"}
    assert (again, record["gate"]["status"]) == (ended, base["gate"]["status"])
    sentence = record["gate"]["sentence"]
    assert f"{model} against {model} of base.json: " in sentence
    assert sentence in " ".join(printed.split())


@pytest.mark.slow
def test_a_recommender_passes_against_its_own_record_and_a_worse_one_does_not(
    tmp_path: Path,
) -> None:
    ended, base = kept(tmp_path, "itemknn")
    assert (ended, base["gate"]["status"]) == (0, "passed")
    passes_against_itself(tmp_path, "itemknn", ended, base)

    ended, _, record = suites(
        tmp_path,
        "--recsys-model=mostpop",
        "--recsys-baseline=base.json",
    )
    found = changes(record)
    assert (ended, record["gate"]["status"]) == (1, "failed")
    for name in (
        "ndcg@5",
        "hit@10",
        "item_coverage@5",
        "jain@5",
        "exposure_gini@5",
        "popreo@5",
    ):
        assert found[name]["change"] == "regressed", found[name]
    old, new = (
        {
            row["metric"]: row["value"]
            for row in document["results"]
            if row.get("metric")
        }
        for document in (base, record)
    )
    for name, sign in (("item_coverage@5", -1), ("exposure_gini@5", 1), ("dpd@5", 1)):
        assert found[name]["worse"] == pytest.approx(
            sign * (new[name] - old[name]),
            abs=1e-4,
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    ["random", "mostpop", "userknn", "bm25", "bprmf?epochs=2"],
)
def test_every_recommender_passes_against_its_own_record(
    tmp_path: Path,
    model: str,
) -> None:
    if model.startswith("bprmf"):
        need("torch")
    passes_against_itself(tmp_path, model, *kept(tmp_path, model))
