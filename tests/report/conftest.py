"""A record of all suites, made once."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def default_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a default run, of few users: most of it holds or is inconclusive."""
    folder = tmp_path_factory.mktemp("run")
    command = "-m pytest --pyargs pytest_recsys_mt.suites -p no:cacheprovider -q --recsys-users=20"
    subprocess.run(
        [sys.executable, *command.split(), "--recsys-json=record.json"],
        cwd=folder,
        check=False,
        capture_output=True,
    )
    return folder / "record.json"
