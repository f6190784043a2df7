"""Print what one tool finds, a line a run: python ask.py TOOL SEEDS."""

import importlib
import json
import sys

from experiment import KINDS


def main() -> None:
    """The three recommenders with the seed 0, then the noisy one with the others."""
    tool, seeds = sys.argv[1], int(sys.argv[2])
    asked = [(kind, 0) for kind in KINDS] + [
        ("noisy", seed) for seed in range(1, seeds)
    ]
    ask = importlib.import_module(f"in_{tool}").ask
    for kind, seed in asked:
        print(
            json.dumps({"kind": kind, "seed": seed, "found": ask(kind, seed)}),
            flush=True,
        )


if __name__ == "__main__":
    main()
