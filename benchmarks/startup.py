"""What the plugin costs a pytest run that does not use it: `pytest --version` with and without.

Run it in an environment where the package is installed: `python benchmarks/startup.py`. Both are
started in turn in one run, `-p no:recsys_mt` being "without": pytest then does not import the entry
point. Byte code is written first, as it is in any environment.
"""

import os
import statistics
import subprocess
import sys
import time

ROUNDS = 15


def seconds(*arguments: str) -> float:
    """Wall time of one `pytest --version`."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "--version", *arguments],
        check=True, capture_output=True, env=environment, cwd="/",
    )  # fmt: skip
    return time.perf_counter() - start


def main() -> None:
    """Print both medians and the difference."""
    seconds(), seconds("-p", "no:recsys_mt")
    pairs = [(seconds(), seconds("-p", "no:recsys_mt")) for _ in range(ROUNDS)]
    with_it = statistics.median(a for a, _ in pairs)
    without = statistics.median(b for _, b in pairs)
    difference = statistics.median(a - b for a, b in pairs)
    print(
        f"pytest --version, median of {ROUNDS}: {with_it * 1e3:.0f} ms with the plugin, "
        f"{without * 1e3:.0f} ms without, {difference * 1e3:+.0f} ms (pairwise median)"
    )


if __name__ == "__main__":
    main()
