"""One cell of the matrix of Pythons and packages: the lowest that this Python may have."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-release" / "bin" / "python"


@pytest.mark.slow
@pytest.mark.skipif(
    not PYTHON.exists(),
    reason="scripts/build-dist makes .venv-release",
)
def test_the_lowest_packages_of_this_python_are_enough() -> None:
    cell = f"{sys.version_info.major}.{sys.version_info.minor}-lowest"
    done = subprocess.run(
        [PYTHON, "scripts/matrix.py", "--only", cell],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert " passed" in done.stdout
