"""What the plugin costs a pytest run that does not use it: `pytest --version` and an empty run.

Run it in an environment where the package is installed: `python benchmarks/startup.py`. With and
without are started in turn in one run, `-p no:recsys_mt` being "without": pytest then does not import
the entry point. Byte code is written first, as it is in any environment. `pytest --version` may not
import plugins at all, so a run that collects nothing is measured too.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15


def seconds(folder: str, *arguments: str) -> float:
    """Wall time of one `pytest` with these arguments."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        check=False,
        capture_output=True,
        env=environment,
        cwd=folder,
    )
    return time.perf_counter() - start


def compare(what: str, folder: str, *arguments: str) -> None:
    """Print the medians with and without the plugin, and the median of the differences."""
    without = (*arguments, "-p", "no:recsys_mt")
    seconds(folder, *arguments)
    seconds(folder, *without)
    pairs = [(seconds(folder, *arguments), seconds(folder, *without)) for _ in range(ROUNDS)]
    print(
        f"{what}, median of {ROUNDS}: {statistics.median(a for a, _ in pairs) * 1e3:.0f} ms with "
        f"the plugin, {statistics.median(b for _, b in pairs) * 1e3:.0f} ms without, "
        f"{statistics.median(a - b for a, b in pairs) * 1e3:+.0f} ms (pairwise median)"
    )


def main() -> None:
    """Measure both."""
    with tempfile.TemporaryDirectory() as folder:
        compare("pytest --version", folder, "--version")
        compare("an empty run", folder, "--collect-only", "-q")


if __name__ == "__main__":
    main()
