"""The tool tests itself end to end: which planted faults its suites find, and what else
they say.

    python -m benchmarks.end_to_end [--seeds 5] [-n 1]

Prints Markdown: verdicts on a growing fault, and the promises of the metamorphic suite,
judged on a zoo of sound and faulty recommenders over the embedded dataset, one run a
seed. The output is the same for every number of processes.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

from benchmarks import tables
from benchmarks.promises import PROMISES, recsys_of
from benchmarks.tables import Judged
from benchmarks.zoo import DOSES, MEMBERS, Member
from pytest_recsys_mt.verdict.verdict import Status

USERS = 200  # as many as a run asks at most by default


def judged(name: str, seed: int, users: int = USERS) -> list[Judged]:
    """The verdicts of one run on one member: every promise that it is about.

    Args:
        name: Of a member of the zoo.
        seed: Of the run.
        users: Most users to ask.
    """
    (member,) = (one for one in MEMBERS if one.name == name)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        recsys = recsys_of(member.make(), member.name, seed, users, Path(folder))
        for promise in PROMISES:
            verdict = promise.verdict(recsys)
            if verdict is not None:
                planted = promise.name in member.breaks
                found.append(
                    Judged(
                        member.name,
                        promise.name,
                        planted,
                        member.sound,
                        verdict.status,
                        verdict.users,
                    ),
                )
    return found


def dosed(strength: float, seed: int) -> tuple[float, Status]:
    """Effect and verdict of shuffled candidates on a preference for early ones.

    Args:
        strength: One of `benchmarks.zoo.DOSES`.
        seed: Of the run.
    """
    (promise,) = (one for one in PROMISES if one.name == "shuffle_candidates")
    make = dict(DOSES)[strength]
    with tempfile.TemporaryDirectory() as folder:
        verdict = promise.verdict(recsys_of(make(), "dose", seed, USERS, Path(folder)))
    if verdict is None or verdict.estimate is None:
        raise ValueError(
            f"no effect was measured at strength {strength!r}: {verdict!r}",
        )
    return verdict.estimate, verdict.status


def growing(seeds: int, processes: int) -> Iterator[str]:
    """Verdicts on a fault of growing strength, as lines.

    Args:
        seeds: Runs for each strength.
        processes: That share the work.
    """
    with ProcessPoolExecutor(processes) as pool:
        jobs = [
            (strength, [pool.submit(dosed, strength, seed) for seed in range(seeds)])
            for strength, _ in DOSES
        ]
        yield from tables.dose_response(
            [(strength, [job.result() for job in of]) for strength, of in jobs],
        )


def zoo(members: Sequence[Member], seeds: int, processes: int) -> Iterator[str]:
    """Every promise on every recommender that it is about, as lines.

    Args:
        members: Of the zoo.
        seeds: Runs of the suite on each.
        processes: That share the work.
    """
    with ProcessPoolExecutor(processes) as pool:
        jobs = [
            pool.submit(judged, one.name, seed)
            for one in members
            for seed in range(seeds)
        ]
        found = [one for job in jobs for one in job.result()]
    sound = sum(member.sound for member in members)
    yield f"# {sound} sound and {len(members) - sound} faulty recommenders, {seeds} seeds, {USERS} users"
    yield ""
    yield from tables.promises(found)
    yield from tables.recommenders(found, members)
    yield from tables.matrix(found, members, seeds)
    yield from tables.unfound(found, members)


def main() -> None:
    parser = argparse.ArgumentParser(description="Which planted faults verdicts find.")
    parser.add_argument(
        "--seeds",
        type=int,
        default=5,
        help="runs on each recommender of the zoo",
    )
    parser.add_argument(
        "-n",
        "--processes",
        type=int,
        default=1,
        help="that share the work",
    )
    options = parser.parse_args()
    for part in (
        growing(4 * options.seeds, options.processes),
        zoo(MEMBERS, options.seeds, options.processes),
    ):
        for line in part:
            print(line, flush=True)


if __name__ == "__main__":
    main()
