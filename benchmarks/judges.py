"""What judges of known behaviour are called, and how often an honest one is accused.

    python -m benchmarks.judges [--seeds 200] [--users 100]

Each seed draws users of the embedded data and candidates for them. itemknn and random
answer, and each judge is put through its own tests with the limits of the suite. A line
says in how many of the seeds each test was violated, and in how many the judge would
count as without fault.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.promises import recsys_of
from pytest_recsys_mt import thresholds
from pytest_recsys_mt.recommenders.registry import resolve
from pytest_recsys_mt.suites.arena import (
    CONTROLS,
    PROMISES,
    SELDOM,
    Arena,
    Comparison,
    Judge,
    JudgeRunner,
    Trust,
    judge_keeps,
    judge_sees,
    judge_seldom,
    not_less_preferred,
)
from pytest_recsys_mt.suites.arena.judging import Winner
from tests.arena import judges

SUITE = Path(__file__).parents[1] / "suites" / "arena"
TRUST = Trust(**thresholds(str(SUITE / "test_judge.py"), "judge"))
WORSE = thresholds(str(SUITE / "test_preference.py"), "preference")["worse"]


class Coin(judges.Noisy):
    """Says A or B by the toss of a coin."""

    def better(self, comparison: Comparison) -> Winner:
        """The winner."""
        return "A" if self.number(comparison, "which") % 2 else "B"


class FirstPlace(judges.Noisy):
    """Takes the list shown first in a share of the comparisons."""

    def better(self, comparison: Comparison) -> Winner:
        """The winner."""
        return (
            "A"
            if self.rarely(comparison)
            else judges.ByUtility.better(self, comparison)
        )


class LongTitles(judges.Noisy):
    """Takes the list with more characters in a share of the comparisons."""

    def better(self, comparison: Comparison) -> Winner:
        """The winner."""
        if self.rarely(comparison):
            return judges.LikesLongTitles().better(comparison)
        return judges.ByUtility.better(self, comparison)


JUDGES: Mapping[str, Callable[[int], Judge]] = {
    "honest": lambda seed: judges.Noisy(0.0, seed),
    "honest, 10 % of answers by a die": lambda seed: judges.Noisy(0.1, seed),
    "honest, refuses 4 %": lambda seed: judges.Refuses(0.04, seed),
    "refuses 30 %": lambda seed: judges.Refuses(0.3, seed),
    "always says tie": lambda seed: judges.AlwaysTies(),
    "tosses a coin": lambda seed: Coin(0.0, seed),
    "takes the first list in 50 %": lambda seed: FirstPlace(0.5, seed),
    "takes longer titles in 50 %": lambda seed: LongTitles(0.5, seed),
}


def violated(arena: Arena) -> list[str]:
    """The tests of the judge that are violated."""
    verdicts = {
        **{name: judge_keeps(arena, name, margin=TRUST.margin) for name in PROMISES},
        **{name: judge_sees(arena, name, least=TRUST.sees) for name in CONTROLS},
        **{
            name: judge_seldom(arena, name, most=getattr(TRUST, name))
            for name in SELDOM
        },
    }
    return [name for name, verdict in verdicts.items() if verdict.status == "violated"]


def main() -> None:
    """Print a line for each judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--users", type=int, default=100)
    given = parser.parse_args()
    broken = {name: Counter[str]() for name in JUDGES}
    without = Counter[str]()
    certified = Counter[str]()
    for seed in range(given.seeds):
        if seed and seed % 20 == 0:
            report(seed, broken, without, certified)
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = (
                recsys_of(resolve(name), name, seed, given.users, Path(folder)).run()
                for name in ("random", "itemknn")
            )
            for name, make in JUDGES.items():
                judge_runner = JudgeRunner(make(seed), name)
                arena = Arena(
                    ours,
                    theirs,
                    judge_runner,
                    (),
                    seed,
                    ("random", "itemknn"),
                )
                found = violated(arena)
                broken[name].update(found)
                without[name] += not found
                verdict = not_less_preferred(arena, margin=WORSE, trusted=TRUST)
                certified[name] += verdict.status == "holds"
    report(given.seeds, broken, without, certified)


def report(
    seeds: int,
    broken: Mapping[str, Counter[str]],
    without: Counter[str],
    certified: Counter[str],
) -> None:
    """Print two lines for each judge."""
    print(f"after {seeds} seeds")
    for name in JUDGES:
        told = ", ".join(
            f"{test} {count}" for test, count in broken[name].most_common()
        )
        print(
            f"{name}: no fault in {without[name]} of {seeds}; violated: {told or 'none'}",
        )
        print(
            f"    random certified as not worse than itemknn in {certified[name]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
