"""Runs in MLflow and Weights & Biases, read back by the libraries themselves."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.extras import need
from tests.plugin.conftest import record_of

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import scale_ratings
from pytest_recsys_mt.verdict.verdict import annotate

@metamorphic(scale_ratings(2))
def test_rank(source, followup):
    assert same_ranking(source, followup, margin=0.2)

def test_lists(recsys):
    verdict = complete_list(recsys.run(), margin=0.2)
    points = [[1, 0.5, 0.4, 0.6], [5, 0.7, 0.6, 0.8]]
    assert annotate(verdict, curve={"x": "k", "y": "v", "points": points})
"""
RUN = ("--recsys-model=toys:ScaleSensitive", "--recsys-cache=cache")
PASSWORD = "hunter2-and-more"
BROKEN = f"http://joe:{PASSWORD}@127.0.0.1:9"


@pytest.fixture
def project(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> pytest.Pytester:
    for path in project.path.glob("test_*.py"):
        path.unlink()
    project.makepyfile(test_shop=TEST)
    for name in [name for name in os.environ if name.startswith(("MLFLOW_", "WANDB_"))]:
        monkeypatch.delenv(name)
    return project


READ_BACK = """
import json, sys, mlflow
client = mlflow.MlflowClient(sys.argv[1])
place = client.get_experiment_by_name("shop nightly").experiment_id
runs = [
    {
        "id": run.info.run_id, "status": run.info.status, "tags": run.data.tags, "params": run.data.params,
        "metrics": {
            name: [each.value for each in client.get_metric_history(run.info.run_id, name)]
            for name in run.data.metrics
        },
        "files": sorted(each.path for each in client.list_artifacts(run.info.run_id)),
    }
    for run in client.search_runs([place])
]
print(json.dumps(sorted(runs, key=lambda run: "mlflow.parentRunId" in run["tags"])))
"""


def python(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Runs Python in a process of its own: mlflow cannot be imported twice in one."""
    return project.run(sys.executable, *arguments)


def runs_of(project: pytest.Pytester, store: str) -> list[dict[str, Any]]:
    """The runs in an MLflow store, as MLflow reads it: the whole one first."""
    said = python(project, "-c", READ_BACK, store).stdout.lines
    runs: list[dict[str, Any]] = json.loads(said[-1])
    return runs


@pytest.mark.parametrize("workers", ["0", "2"])
def test_mlflow_has_the_verdicts_the_curve_and_the_files_once(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    workers: str,
) -> None:
    need("mlflow", "sqlalchemy")
    store = f"sqlite:///{project.path / 'store.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "shop nightly")
    result = project.runpytest_subprocess(
        *RUN,
        *("--recsys-log=mlflow", "--recsys-json=run.json", "--junit-xml=junit.xml"),
        *("-n", workers),
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["logged: mlflow run * of experiment 'shop nightly'"])
    whole, model = runs_of(project, store)
    assert whole["status"] == "FAILED"
    assert whole["tags"]["recsys_mt.gate"] == "failed"
    assert whole["params"]["seed"] == "0"
    assert whole["files"] == ["junit.xml", "run.json"]
    assert model["tags"]["mlflow.parentRunId"] == whole["id"]
    rank = "test_rank scale_ratings_2_ same_ranking_rbo"
    assert model["tags"][f"{rank}/status"] == "violated"
    rows = record_of(project.path / "run.json")["results"]
    [estimate] = [row["estimate"] for row in rows if "test_rank" in row["nodeid"]]
    assert model["metrics"][f"{rank}/estimate"] == [estimate]
    assert model["metrics"]["test_lists complete_list/curve"] == [0.5, 0.7]


def test_a_broken_server_loses_nothing_and_the_kept_run_is_logged_later(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need("mlflow", "sqlalchemy")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", BROKEN)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    result = project.runpytest_subprocess(*RUN, "-k", "lists", "--recsys-log=mlflow")
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "ERROR: *--recsys-log=mlflow: this run is not logged: *recsys-mt log 1 --to=mlflow"
        ]
    )
    assert PASSWORD not in result.stdout.str() + result.stderr.str()

    store = f"sqlite:///{project.path / 'store.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "shop nightly")
    command = "from pytest_recsys_mt.cli import main; main()"
    python(project, "-c", command, "log", "1", "--to=mlflow")
    _, model = runs_of(project, store)
    assert model["tags"]["test_lists complete_list/status"] == "holds"


def test_wandb_keeps_the_run_offline(project: pytest.Pytester) -> None:
    need("wandb")
    result = project.runpytest_subprocess(*RUN, "-k", "lists", "--recsys-log=wandb")
    result.stdout.fnmatch_lines(
        ["logged: wandb project 'pytest-recsys-mt', 1 runs (offline)*wandb sync *"]
    )
    [kept] = (project.path / "wandb").glob("offline-run-*/*.wandb")
    assert b"test_lists complete_list/status" in kept.read_bytes()


def test_a_library_that_is_missing_is_said_before_the_run(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A folder as wandb leaves it is no library.
    Path(project.path / "wandb").mkdir()
    monkeypatch.setitem(sys.modules, "mlflow", None)
    result = project.runpytest_inprocess(*RUN, "--recsys-log=mlflow")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*mlflow is not installed*pip install 'pytest-recsys-mt*mlflow*'*"]
    )
