"""The benchmark of training runs; its figures depend on
the machine and are not judged here.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow  # a process of its own, with torch
def test_a_model_is_measured() -> None:
    command = [sys.executable, "-m", "benchmarks.training", "--users=30", "--items=40"]
    command += ["--ratings=300", "--epochs=1", "--models", "bprmf"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    header, row = done.stdout.splitlines()
    assert "30 x 20" in header
    name, _epoch, scoring = row.split()
    assert name == "bprmf"
    assert float(scoring) >= 0
