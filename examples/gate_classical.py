"""Gate a classical model: a release is compared, user by user, with the one before.

    python examples/gate_classical.py

The first run is kept as the baseline. The same model passes; one that recommends at
random passes the promises about its lists, and is stopped because it finds the next
film less often.

Ends with 0 if the runs end so; else with the exit status of the first that does not.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

PROMISES = Path(__file__).with_name("promises")
POLICY = """
[gate]
margin = 0.1
inconclusive = "skip"

[[gate.rules]]
test = "test_finds_the_next_film"
margin = 0.05
"""


def run(folder: Path, model: str, *more: str) -> int:
    """Run the promises on a model; gives pytest's exit status."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(PROMISES),
        "-q",
        "--no-header",
        "--tb=no",
    ]
    command += [
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        f"--recsys-cache={folder}/cache",
    ]
    command += [
        f"--recsys-policy={folder}/recsys.toml",
        f"--recsys-model={model}",
        *more,
    ]
    return subprocess.run(command, cwd=folder, check=False).returncode


def main() -> int:
    """Keep a baseline, then gate two candidates for the next release."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "recsys.toml").write_text(POLICY, encoding="utf-8")
        baseline = f"{folder}/baseline.json"
        status = run(folder, "itemknn", f"--recsys-json={baseline}")
        print(f"the release: exit status {status}\n")
        if status != 0:
            return status
        for candidate, expected in (("itemknn", 0), ("random", 1)):
            status = run(folder, candidate, f"--recsys-baseline={baseline}")
            print(f"{candidate} for the next release: exit status {status}\n")
            if status != expected:
                return status or 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
