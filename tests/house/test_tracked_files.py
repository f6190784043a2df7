"""What the repository keeps: sources and small data, no downloads."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 1_000_000
"""Bytes of a tracked file at most; the largest, facts of films, has 700,000."""


def test_no_large_file_is_tracked() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of the repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = [ROOT / name for name in listed.stdout.split("\0") if name]
    files = [path for path in tracked if path.is_file()]
    assert len(files) > 1_000
    large = [path.name for path in files if path.stat().st_size > LARGEST]
    assert large == []
