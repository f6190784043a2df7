"""A real Ray cluster of two nodes, and a project whose
recommenders say what they were asked.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import need
from tests.plugin.conftest import record_of

MODELS = '''
import hashlib, os, pathlib, threading, time
from dataclasses import replace
from pytest_recsys_mt import Completion
from pytest_recsys_mt.recommenders import ItemKNN

HERE = pathlib.Path(__file__).parent
TITLES = ["Alien (1979)", "Aliens (1986)", "Fargo (1996)", "Heat (1995)"]


def note(name, line):
    with (HERE / name).open("a") as log:
        log.write(f"{line}\\n")


def node():
    """Ray's id of the machine, in an actor."""
    import ray

    context = ray.get_runtime_context() if ray.is_initialized() else None
    return context.get_node_id() if context and context.get_actor_id() else "local"


def wait_for(name):
    while not (HERE / name).exists():
        time.sleep(0.02)


class Neighbours(ItemKNN):
    """A real recommender that keeps a log."""

    fingerprint = "knn"

    def recommend(self, requests):
        for request in requests:
            note("asked.log", f"{request.user} {request.replicate} {request.scale.high} {len(request.edits)}")
        note("nodes.log", node())
        note("pids.log", os.getpid())
        note("keys.log", os.environ.get("OPENAI_API_KEY"))
        return super().recommend(requests)


class Doomed(Neighbours):
    """Answers one batch on the doomed node and sticks in the second; elsewhere it waits for that."""

    batches = 0

    def recommend(self, requests):
        if node() == (HERE / "doomed").read_text():
            self.batches += 1
            if self.batches == 2:
                super().recommend(requests)
                note("stuck", "here")
                wait_for("never")
        elif node() != "local":
            wait_for("stuck")
        return super().recommend(requests)


class Writer:
    """A text model that answers prompt by prompt, and sticks after five on the doomed node."""

    fingerprint = "writer"
    answered = 0

    def complete(self, prompts):
        return [completion for ((_, completion),) in self.complete_each(prompts)]

    def complete_each(self, prompts):
        doomed = node() == (HERE / "doomed").read_text()
        if not doomed and node() != "local":
            wait_for("stuck")
        for position, prompt in enumerate(prompts):
            note("asked.log", str(prompt.seed))
            if doomed and self.answered == 5:
                note("stuck", "here")
                wait_for("never")
            self.answered += 1
            titles = sorted(TITLES, key=lambda title: hashlib.sha256(f"{prompt.seed}{title}".encode()).digest())
            text = "\\n".join(f"{n}. {title}" for n, title in enumerate(titles, 1))
            yield [(position, Completion(text))]


class Turning(Neighbours):
    """Turns its list round where the scale is not the usual one."""

    def recommend(self, requests):
        return [
            answer if request.scale.high == 5 else replace(answer, items=answer.items[::-1])
            for request, answer in zip(requests, super().recommend(requests))
        ]


class Poisoned(Neighbours):
    """Takes its process with it for one user."""

    def recommend(self, requests):
        answers = super().recommend(requests)
        if any(request.user == (HERE / "poison").read_text() for request in requests):
            os.kill(os.getpid(), 9)
        return answers


class Sleepy(Neighbours):
    """Never answers."""

    def recommend(self, requests):
        super().recommend(requests)
        note("stuck", "here")
        wait_for("never")


class Elsewhere(Neighbours):
    """Another model in each process."""

    fingerprint = str(os.getpid())


class Unmade(Neighbours):
    """Can be made on the driver alone."""

    def __init__(self):
        super().__init__()
        if node() != "local":
            raise RuntimeError("no weights on this machine")
'''
TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history)
def test_one(source, followup):
    assert same_ranking(source, followup, margin=0.3)
"""


class TwoNodes:
    """The cluster's process, which ends with its standard input."""

    def __init__(self) -> None:
        environment = {
            name: text for name, text in os.environ.items() if name != "RAY_ADDRESS"
        }
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("two_nodes.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment | {"RAY_USAGE_STATS_ENABLED": "0"},
        )  # fmt: skip
        self._listen()

    def order(self, what: str) -> None:
        """Kill the second node, or add another."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        self._listen()

    def close(self) -> None:
        """End the cluster, and see that nothing of it is left."""
        self.process.communicate("", timeout=60)
        name = Path(self.folder).name
        assert [line for line in _command_lines() if name in line] == []

    def _listen(self) -> None:
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.address: str = told["address"]
        self.nodes: list[str] = told["nodes"]
        self.folder: str = told["folder"]


class Project:
    """A folder with recommenders and tests, and the runs in it."""

    def __init__(self, pytester: pytest.Pytester, address: str) -> None:
        pytester.makepyfile(models=MODELS, test_it=TESTS)
        self.pytester = pytester
        self.folder = pytester.path
        self.address = address
        (self.folder / "doomed").write_text("")

    def start(self, *options: str, executor: str = "ray") -> subprocess.Popen[str]:
        """Start a run."""
        for log in self.folder.glob("*.log"):
            log.unlink()
        command = [
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error",
            f"-orecsys_executor={executor}", f"--recsys-json={executor}.json",
            f"--recsys-cache=cache-{executor}", *options,
        ]  # fmt: skip
        environment = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith("PYTEST_XDIST")
        }
        return subprocess.Popen(
            command, cwd=self.folder, env=environment | {"RAY_ADDRESS": self.address}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *options: str, executor: str = "ray") -> tuple[str, dict[str, Any]]:
        """What a run printed, and its record."""
        output, _ = self.start(*options, executor=executor).communicate(timeout=180)
        record = record_of(self.folder / f"{executor}.json")
        for row in record["results"]:
            del row["reproduce"]  # names the executor
        return output, record

    def lines(self, name: str) -> list[str]:
        """What the recommenders noted."""
        log = self.folder / name
        return log.read_text().splitlines() if log.exists() else []

    def asked(self) -> Counter[str]:
        """How often each call was put."""
        return Counter(self.lines("asked.log"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[TwoNodes]:
    """Two nodes of one core each."""
    need("ray")
    nodes = TwoNodes()
    try:
        yield nodes
    finally:
        nodes.close()


@pytest.fixture
def project(pytester: pytest.Pytester, cluster: TwoNodes) -> Project:
    """A project whose runs find the cluster."""
    return Project(pytester, cluster.address)


def _command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
