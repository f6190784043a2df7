"""What a process of its own takes: its seconds of the processor, and its memory."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCH = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print()
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Starts a process from a small one: a process begins with the largest resident set of
the one that started it.
"""


@dataclass(frozen=True)
class Cost:
    """What a process took, with its children.

    Attributes:
        seconds: Of the processor.
        megabytes: The largest resident set of one of them.
        said: Its output.
    """

    seconds: float
    megabytes: float
    said: str


def cost_of(command: Sequence[str], folder: Path | None = None) -> Cost:
    """Run a command, on one thread for linear algebra, with byte code kept as in any
    environment.

    Args:
        command: With the path of the program.
        folder: Where it runs; here by default.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-S", "-c", LAUNCH, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=folder,
        check=False,
    )
    if done.returncode:
        told = f"{' '.join(command)} ended with {done.returncode}"
        raise SystemExit(f"{told}:\n{done.stdout[-2000:]}")
    said, _, figures = done.stdout.rstrip().rpartition("\n")
    seconds, megabytes = map(float, figures.split())
    return Cost(seconds, megabytes, said)


def require_rest() -> None:
    """End the program unless the machine is at rest:
    what is timed by the clock needs it.
    """
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        raise SystemExit(
            f"this is timed by the clock, and the machine is busy: its load is {load:.1f} with {cores} cores; "
            f"run it when the load is below {cores / 2:g}, or give --busy for figures that prove nothing",
        )
