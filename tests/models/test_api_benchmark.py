"""The benchmark of calls runs; its figures depend on
the machine and are not judged here.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_it_measures_every_contestant_and_layer() -> None:
    command = [sys.executable, "-m", "benchmarks.api", "--rounds=1", "--delays", "1"]
    done = subprocess.run(
        [*command, "--calls=64", "--replay=128"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for row in (
        "bare aiohttp 3.",
        "bare OpenAI client 3.",
        "engine |",
        "engine, each answer on the disk |",
        "execute: from the cache |",
    ):
        assert f"| {row}" in done.stdout
    assert "128 calls: " in done.stdout
