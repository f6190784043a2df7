"""The examples run as they stand, and end as they say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SAY = {
    "gate_classical": [
        "the release: exit status 0",
        "5 unchanged",
        "itemknn for the next release: exit status 0",
        "finds_the_next_film REGRESSED",
        "random for the next release: exit status 1",
    ],
    "http_recommender": ["290 made, 0 failed", "5 passed"],
    "record_replay": [
        "shuffle_candidates is violated: ",
        "240 made, 0 failed",
        "answers added",
        "240 cached, 0 made",
        "replayed without the server: exit status 1",
    ],
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("gate_classical", marks=pytest.mark.slow),
        "http_recommender",
        pytest.param("record_replay", marks=pytest.mark.slow),
    ],
)
def test_an_example_runs_and_says_what_it_shows(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": "1"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    left = done.stdout
    for said in SAY[name]:
        _, found, left = left.partition(said)
        assert found, f"{said!r} does not follow:\n{done.stdout}\n{done.stderr}"
    assert list(tmp_path.iterdir()) == []


def test_every_example_is_run() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    assert scripts == {*SAY, "http_server"}
