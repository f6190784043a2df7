"""Runs of pytest as forks of one process, which has imported what takes seconds: for
tests that start hundreds.

    python -m tests.durability.forked

It reads a line of JSON for each run, and writes the number of its process, and its exit
status once it has ended.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import pytest

NEEDED = (
    "hypothesis", "pandas", "scipy.special", "scipy.sparse", "scipy.stats", "filelock", "email.parser",
    *(
        f"pytest_recsys_mt.{name}"
        for name in (
            "datasets.dataset", "datasets.making", "datasets.summary", "engine.run", "engine.schedule", "engine.shrinking",
            "llm.api.channel", "llm.api.openai_model", "llm.recommender", "oracles", "plugin.hooks", "plugin.ahead",
            "plugin.preflight", "plugin.reproduce", "plugin.shrinking", "recommenders", "relations", "report.terminal",
        )
    ),
)  # fmt: skip
"""What a run imports."""


class Forked:
    """One run, as the part of `subprocess.Popen` that tests of killed runs use."""

    def __init__(self, pid: int, said: Any, output: Path) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._said = said
        self._output = output

    def poll(self) -> int | None:
        """The exit status of a run that has ended."""
        if self.returncode is None and select.select([self._said], [], [], 0)[0]:
            self.returncode = int(self._said.readline())
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for the end; the output."""
        if (
            self.returncode is None
            and not select.select([self._said], [], [], timeout)[0]
        ):
            raise TimeoutError(f"{self.pid} has not ended after {timeout} s")
        self.poll()
        return self._output.read_text(encoding="utf-8", errors="replace"), None


class Forks:
    """Starts runs, one at a time."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.forked"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()

    def start(
        self,
        arguments: list[str],
        folder: Path,
        environment: dict[str, str],
    ) -> Forked:
        """Start a run in a process group of its own."""
        job = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        pid = int(self._process.stdout.readline())
        return Forked(pid, self._process.stdout, folder / "output.txt")


def serve() -> None:
    """Fork a run for each line of standard input."""
    for name in NEEDED:
        importlib.import_module(name)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            run(job)
        os.setpgid(pid, pid)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run(job: dict[str, Any]) -> None:
    """Be the run."""
    status: int = pytest.ExitCode.INTERNAL_ERROR
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(job["folder"])
        os.environ.clear()
        os.environ.update(job["environment"])
        sys.path[0] = job["folder"]
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = int(pytest.main(job["arguments"]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve()
