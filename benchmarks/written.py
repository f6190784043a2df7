"""How much the file of `recsys-mt write` finds and costs beside the default suites.

    python -m benchmarks.written itemknn bm25 [--seeds 20] [--users 70] [--folder DIR]

The file is written by half of the kinds of faults. Those of the other half are then
planted under the default suites and under the file. The file also runs with later
seeds, on other users: each verdict must be the one that it was written with.

With `--users` suites and file ask so many, and an exact test 20: as the command does
where calls cost something. With `--seeds-only` the file is written in the usual time,
and nothing is planted under it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_recsys_mt.faults.adequacy.judging import adequacy
from pytest_recsys_mt.faults.adequacy.running import Run, Runs
from pytest_recsys_mt.faults.naming import Dose
from pytest_recsys_mt.faults.writing.budget import SECONDS
from pytest_recsys_mt.faults.writing.candidates import CANDIDATES
from pytest_recsys_mt.faults.writing.command import FEW_USERS
from pytest_recsys_mt.faults.writing.page import head
from pytest_recsys_mt.faults.writing.rendering import whole_file
from pytest_recsys_mt.faults.writing.settling import USERS
from pytest_recsys_mt.faults.writing.trial import doses, outcomes_of, slug
from pytest_recsys_mt.faults.writing.writer import File, Order, write

SUITES = ["--pyargs", "pytest_recsys_mt.suites"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--users", type=int)
    parser.add_argument("--seeds-only", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path(".recsys-written"))
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    for model in given.models:
        measure(model, given)
    return 0


def measure(model: str, given: argparse.Namespace) -> None:
    """Write the file of a model, and print what it finds, costs and shows later."""
    folder = given.folder / slug(model)
    few = [] if given.users is None else [f"--recsys-users={given.users}"]
    every = doses(free_only=False)
    kinds = sorted({dose.name for dose in every})
    held_out = set(kinds[::2])
    first_of_kind = {dose.name: dose for dose in reversed(every)}
    order = Order(
        arguments=[f"--recsys-model={model}", *few],
        folder=folder,
        seconds=SECONDS if given.seeds_only else 10_000,
        most=12,
        jobs=given.jobs,
        free_faults=False,
        broken="red",
        exact_users=FEW_USERS if few else USERS,
        faults=[dose for dose in every if dose.name not in held_out],
    )
    file = write(order, CANDIDATES, print)
    path = folder / f"test_{slug(model)}.py"
    path.write_text(whole_file(head(file, "", ""), file.tests), encoding="utf-8")
    if not given.seeds_only:
        planted = [first_of_kind[name] for name in sorted(held_out)]
        _compared(model, order, path, planted)
    print(f"{model}: {_as_written(order, file, path, given.seeds)}", flush=True)


def _compared(model: str, order: Order, path: Path, planted: Sequence[Dose]) -> None:
    """Print what suites and file find of some faults, and the calls of both."""
    folder = order.folder
    by_suites, suite_calls = _killed(order, SUITES, folder / "suites", planted)
    by_file, file_calls = _killed(order, [str(path)], folder / "file", planted)
    text = path.read_text(encoding="utf-8")
    both = by_suites & by_file
    print(
        f"{model}: {text.count(chr(10) + 'def test_')} tests, {len(text.splitlines())} lines; {file_calls} calls, the suites "
        f"{suite_calls} ({file_calls / suite_calls:.2f}); held-out kinds: the suites find {len(by_suites)}, the file "
        f"{len(both)} of these ({len(both) / max(1, len(by_suites)):.0%}) and {len(by_file - by_suites)} more; not: "
        f"{sorted(by_suites - by_file)}"
    )


def _killed(
    order: Order, tests: Sequence[str], folder: Path, planted: Sequence[Dose]
) -> tuple[set[str], int]:
    """The faults that tests find, and the calls of a run without one."""
    usual = [] if "--recsys-users" in str(order.arguments) else ["--recsys-users=200"]
    runs = Runs([*tests, *order.arguments, *usual], folder, first_kill=True)
    baseline = runs.baseline()
    ended: list[tuple[Dose, Run]] = list(runs.faulty(planted, order.jobs))
    document = adequacy([], baseline, ended, 0)
    killed = {
        trial["name"] for trial in document["trials"] if trial["fate"] == "killed"
    }
    assert baseline.record is not None
    return killed, baseline.record["calls"]["made"] + baseline.record["calls"]["cached"]


def _as_written(order: Order, file: File, path: Path, seeds: int) -> str:
    """On how many later seeds every verdict is the one of the file."""
    verdicts = {each.candidate.name: each.verdict for each in file.promises}
    expected = {test.function: verdicts[test.candidate.name] for test in file.tests}
    runs = Runs([str(path), *order.arguments], order.folder / "later", first_kill=False)
    runs.baseline()
    alike, others = 0, []
    for seed in range(100, 100 + seeds):
        arguments = [str(path), *order.arguments, f"--recsys-seed={seed}"]
        later = Runs(arguments, order.folder / "later", first_kill=False)
        ended = outcomes_of(later.once(f"seed-{seed}"))
        unlike = [
            name for name, verdict in expected.items() if ended[name].status != verdict
        ]
        alike += not unlike
        others += unlike
    return f"as written in {alike} of {seeds} later seeds; not: {others}"


if __name__ == "__main__":
    sys.exit(main())
