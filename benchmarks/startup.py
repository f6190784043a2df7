"""What the plugin costs a pytest run that does not use it: one test without our
fixtures.

    python -m benchmarks.startup [--rounds 15]

Run it where the package is installed. With the plugin and without (``-p no:recsys_mt``:
pytest then does not import the entry point) take turns. Seconds are of the processor,
of a process of its own each; the difference is the median of those of the rounds.
`pytest --version` is no measure: it loads no plugin.
"""

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median

from benchmarks import tables
from benchmarks.processes import cost_of

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
RUNS = {"a test is collected": ("--collect-only",), "a test is run": ()}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_nothing.py").write_text(
            "def test_nothing():\n    pass\n",
            encoding="utf-8",
        )

        def milliseconds(*options: str) -> float:
            return 1e3 * cost_of([*PYTEST, *options], folder).seconds

        for what, options in RUNS.items():
            without = (*options, "-p", "no:recsys_mt")
            (
                milliseconds(*options),
                milliseconds(*without),
            )  # the first ones write byte code
            pairs = [
                (milliseconds(*options), milliseconds(*without)) for _ in range(rounds)
            ]
            ours, plain = (median(side) for side in zip(*pairs, strict=True))
            more = median(one - other for one, other in pairs)
            lines.append((what, f"{ours:.0f}", f"{plain:.0f}", f"{more:+.0f}"))
    head = (
        f"pytest {version('pytest')}, ms",
        "with the plugin",
        "without",
        "difference",
    )
    print("\n".join(tables.table(head, lines)))


if __name__ == "__main__":
    main()
