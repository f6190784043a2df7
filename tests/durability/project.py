"""A project that asks a chat model, run by a real pytest in a process of its own."""

import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.faults import FaultServer, Reply, completion

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""
USERS = 20
CALLS = USERS * 2 * 3
"""Two replicates of the source and of two relations."""
CONCURRENCY = 4


def listed(payload: dict[str, Any]) -> str:
    """An answer that depends on the question alone: the
    titles in it, in an order by hash.
    """
    text = payload["messages"][-1]["content"]
    # Whole titles: of others the reader asks a list of all known films, which takes a
    # second to load.
    titles = dict.fromkeys(re.findall(r"(?m)^\d+\. (.+ \(\d{4}\))", text))
    noise = payload["seed"] % 3

    def order(title: str) -> str:
        return hashlib.sha256(f"{title} {noise}".encode()).hexdigest()

    return "\n".join(
        f"{n}. {t}" for n, t in enumerate(sorted(titles, key=order)[:10], 1)
    )


def question(payload: dict[str, Any]) -> str:
    """What a request to the server asks, to tell one call from another."""
    messages = [
        [message["role"], message["content"]] for message in payload["messages"]
    ]
    return json.dumps([messages, payload["seed"]])


def question_of(call: dict[str, Any]) -> str:
    """The same, of a call as the cache keeps it."""
    return json.dumps([call["messages"], call["seed"] % 2**31])


class Counting:
    """Answers after a delay, and counts every question."""

    def __init__(
        self,
        server: FaultServer,
        delay: float = 0.0,
        listed: Callable[[dict[str, Any]], str] = listed,
    ) -> None:
        self.server = server
        self._listed = listed
        self.delay = delay
        self.asked: Counter[str] = Counter()
        self.answered = 0
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._left: int | None = None
        server.answer = self._answer

    def answer_only(self, number: int | None) -> None:
        """Answer so many questions from now on and leave the
        others waiting; None answers all.
        """
        with self._lock:
            self._left = number
        if number is None:
            self._released.set()

    def _answer(self, payload: dict[str, Any]) -> Reply:
        with self._lock:
            self.asked[question(payload)] += 1
            waits = self._left == 0
            if self._left:
                self._left -= 1
        if waits:
            self._released.wait()
        time.sleep(self.delay)
        with self._lock:
            self.answered += 1
        return Reply(completion(self._listed(payload)))


class Project:
    """A folder with one suite, and a cache of its own."""

    def __init__(self, folder: Path, url: str | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.cache = folder / "cache"
        self.record = folder / "record.json"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENAI_", "PYTEST_", "COV_", "RECSYS_"))
        }
        if url is not None:
            self.environment["OPENAI_BASE_URL"] = url
        (folder / "test_it.py").write_text(TEST)
        (folder / "pytest.ini").write_text("[pytest]\n")

    def start(self, *options: str, model: str = "openai:tiny") -> subprocess.Popen[str]:
        """Start a run, in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *self.arguments(model, options)],
            cwd=self.folder, env=self.environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def arguments(self, model: str, options: tuple[str, ...]) -> list[str]:
        """The arguments of pytest."""
        joint = "&" if "?" in model else "?"
        spec = (
            f"{model}{joint}temperature=1&concurrency={CONCURRENCY}"
            if "openai:" in model
            else model
        )
        return [
            "-p", "no:cacheprovider", "-q",
            f"--recsys-model={spec}", f"--recsys-users={USERS}",
            f"--recsys-cache={self.cache}", f"--recsys-json={self.record}", *options,
        ]  # fmt: skip

    def run(self, *options: str, **more: str) -> tuple[int, str]:
        """The exit status and the output of a whole run."""
        process = self.start(*options, **more)
        output, _ = process.communicate(timeout=300)
        return process.returncode, output

    def run_here(
        self,
        pytester: pytest.Pytester,
        *options: str,
        model: str = "openai:tiny",
    ) -> tuple[int, str]:
        """The same within this process, which has imported all that takes seconds."""
        # Pytester forgets what the run imports, and the client of OpenAI takes a second
        # each time.
        importlib.import_module("pytest_recsys_mt.llm.api.channel")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in os.environ.keys() - self.environment.keys():
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            done = pytester.runpytest_inprocess(*self.arguments(model, options))
        return int(done.ret), f"{done.stdout}\n{done.stderr}"

    def found(self) -> dict[str, Any]:
        """The record, but for where its verdicts can be seen again."""
        record: dict[str, Any] = json.loads(self.record.read_text())
        for row in record["results"]:
            del row["reproduce"]
        return record
