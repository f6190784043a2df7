"""Kills runs at random moments and resumes them until they end, and adds up what the
server was asked.

    python -m tests.durability.many_kills KILLS KILLS_OF_TWO_WORKERS [SEED]

Each project is killed and resumed until a run of it ends by itself. The server may be
asked what as many fresh runs ask, the check of change at the end of each, and what was
on its way at each kill: sent, and not yet on the disk.
"""

import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np

from tests.durability.forked import Forked, Forks
from tests.durability.project import CONCURRENCY, USERS, Counting, Project
from tests.durability.test_kills import kept, kill
from tests.models.faults import FaultServer

AT_ONCE = 25
"""Calls after which a run is killed, at most: a fifth of all."""
SECONDS = 3.0
"""In which every fifth run is killed, whatever it does:
it imports, collects, asks or judges.
"""
CHECK = USERS * 2
"""Calls of the check of change at the end of a run that was resumed, at most."""
OWN = {"calls": None, "time": None, "drift": None}
"""Parts of a record that a run which was resumed has otherwise."""


@dataclass
class Bill:
    """What the projects were asked, in calls at the server."""

    fresh: int
    projects: int = 0
    asked: int = 0
    again: int = 0
    lost: list[int] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)

    def told(self) -> str:
        """The figures in one line."""
        kills = max(len(self.lost), 1)
        return (
            f"{len(self.lost)} kills of {self.projects} projects: {self.asked} calls; {self.fresh} a fresh run, "
            f"{self.fresh * self.projects} in all; {self.again} of the check of change; {sum(self.lost)} more "
            f"({sum(self.lost) / kills:.2f} a kill, {max(self.lost, default=0)} at most), of which "
            f"{sum(self.unanswered)} were unanswered at the kill ({max(self.unanswered, default=0)} at most)"
        )


Start = Callable[[Project], "subprocess.Popen[str] | Forked"]


def resume_until_it_ends(
    project: Project,
    counting: Counting,
    rng: np.random.Generator,
    most: int,
    start: Start,
    bill: Bill,
) -> None:
    """Kill runs of a project until one ends by itself; after `most` kills, let it."""
    idle = threading.active_count()
    seen = Counter[str]()
    for number in count():
        before, durable = counting.asked.total(), kept(project)
        at = before + int(rng.integers(0, AT_ONCE))
        end = rng.uniform(0, SECONDS) if rng.random() < 0.2 else 300.0
        pause = rng.uniform(0, 0.05)
        process = start(project)
        begin = time.monotonic()
        while (
            number < most and process.poll() is None and time.monotonic() < begin + end
        ):
            if counting.asked.total() > at:
                time.sleep(pause)
                break
            time.sleep(0.001)
        if number == most:
            process.communicate(timeout=300)
        unanswered = counting.asked.total() - counting.answered
        if not kill(process):
            assert process.returncode in (0, 1), process.communicate()
            return
        while threading.active_count() > idle:
            time.sleep(
                0.01,
            )  # the server has a thread for each connection, with what was sent on it
        lately, seen = counting.asked - seen, Counter(counting.asked)
        now = kept(project)
        assert now.items() >= durable.items(), "what was on disk stays there as it was"
        assert not {question for question, _ in durable.values()} & set(lately), (
            "asked again"
        )
        bill.lost.append(lately.total() - (len(now) - len(durable)))
        bill.unanswered.append(unanswered)


def kill_many(
    kills: int,
    seed: int,
    folder: Path,
    counting: Counting,
    *options: str,
) -> Bill:
    """Kill so many runs in all, and compare what the server was asked with what it may
    be asked.

    Runs without options are forks of one process: they begin in a tenth of the time.
    """
    undisturbed = Project(folder / "fresh" / "project", counting.server.url)
    code, output = undisturbed.run()
    assert code in (0, 1), output
    fresh, expected = counting.asked.total(), undisturbed.found()
    counting.delay = 0.02
    bill = Bill(fresh)

    with Forks() as forks:

        def start(project: Project) -> "subprocess.Popen[str] | Forked":
            if options:
                return project.start(*options)
            arguments = project.arguments("openai:tiny", ())
            return forks.start(arguments, project.folder, project.environment)

        while (left := kills - len(bill.lost)) > 0:
            # Their names stand in the record.
            project = Project(
                folder / str(bill.projects) / "project",
                counting.server.url,
            )
            counting.asked.clear()
            counting.answered = 0
            rng = np.random.default_rng([seed, bill.projects])
            resume_until_it_ends(project, counting, rng, left, start, bill)
            record = project.found()
            bill.projects += 1
            bill.asked += counting.asked.total()
            # A run that is killed during the check has asked a part of it, and no
            # record counts that.
            bill.again += len(counting.asked) - fresh
            assert {**record, **OWN} == {**expected, **OWN}, (
                "its verdicts are those of a fresh run"
            )
            assert bill.asked <= fresh * bill.projects + bill.again + sum(bill.lost), (
                bill.told()
            )
            assert len(counting.asked) <= fresh + CHECK
    # An answer that has just arrived is lost, too, so a kill may cost one more than
    # there are connections.
    connections = CONCURRENCY * (2 if options else 1)
    assert max(bill.unanswered) <= connections, bill.told()
    assert sum(bill.lost) <= connections * len(bill.lost), bill.told()
    return bill


def main(kills: int, of_two_workers: int, seed: int = 0) -> None:
    """Print the bill of each way to run."""
    for number, options in ((kills, ()), (of_two_workers, ("-n", "2"))):
        if number == 0:
            continue
        begin = time.monotonic()
        with FaultServer() as server, tempfile.TemporaryDirectory() as folder:
            bill = kill_many(number, seed, Path(folder), Counting(server), *options)
        print(
            f"{' '.join(options) or 'one process'}: {bill.told()}; {time.monotonic() - begin:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
