"""A run that is told to stop says so in its record,
counts what was made, and can be resumed.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from pytest_recsys_mt import PolicyError
from tests.durability.project import CALLS, CONCURRENCY, Counting, Project
from tests.durability.test_kills import kept
from tests.support.calls import scheduling
from tests.support.engine import unreported
from tests.support.gate import read
from tests.support.plugin import Interruptions, begin_junit, interruptions

ANSWERED = 40


def tell(process: subprocess.Popen[str], how: str) -> None:
    """Tell a run to stop, as a terminal does (all its
    processes) or as a supervisor does.
    """
    if how == "SIGTERM":
        process.terminate()
        return
    number = signal.SIGHUP if how == "SIGHUP" else signal.SIGINT
    for _ in range(5 if how == "five Ctrl-C" else 1):
        os.killpg(process.pid, number)
        time.sleep(0.1)


@pytest.mark.parametrize("worker", [False, True])
def test_a_second_signal_is_ignored_and_a_third_ends_the_process(
    monkeypatch: pytest.MonkeyPatch,
    worker: bool,
) -> None:
    taken, ended = Interruptions(worker=worker), list[int]()
    monkeypatch.setattr(signal, "raise_signal", ended.append)
    set_to = dict[int, object]()
    monkeypatch.setattr(signal, "signal", set_to.__setitem__)
    # Pressed thrice within a moment is pressed once.
    moments = [0.0, 0.5, 1.0, 10.0, 10.5, 20.0]
    clock = SimpleNamespace(monotonic=lambda: moments.pop(0))
    monkeypatch.setattr(interruptions, "time", clock)
    with pytest.raises(KeyboardInterrupt):
        taken._take(signal.SIGINT, None)
    for _ in range(4):
        taken._take(signal.SIGINT, None)
    assert ended == []
    taken._take(signal.SIGINT, None)
    assert ended == [signal.SIGINT] * (not worker)
    # Python's own handler would raise in code that catches all and goes on.
    assert set_to == ({} if worker else {signal.SIGINT: signal.SIG_DFL})


CATCHES = """
import contextlib
import signal

from pytest_recsys_mt import Recommendation


class Catches:
    deterministic = True

    def recommend(self, requests):
        with open("batches.txt", "a") as log:
            log.write("one\\n")
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return [
            Recommendation(tuple(item.id for item in each.candidates)[: each.k]) for each in requests
        ]
"""


def test_no_call_is_sent_after_a_signal_that_the_recommender_caught(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(catches=CATCHES, test_it=TWO_BATCHES)
    done = pytester.runpytest_inprocess(
        "--recsys-model=catches.py:Catches",
        "--recsys-json=record.json",
        "-p",
        "no:cacheprovider",
    )
    assert (pytester.path / "batches.txt").read_text() == "one\n"
    assert "the run was told to stop" in " ".join(str(done.stdout).split())
    assert not scheduling.interrupted.is_set()


TWO_BATCHES = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import ask_k, reorder_history

@metamorphic(reorder_history, ask_k(3))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""

DEAF = """
import signal, sys, time
heard = 0
def take(*_):
    global heard
    heard += 1
    if heard == int(sys.argv[1]):
        sys.exit()
signal.signal(signal.SIGINT, take)
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


class Node:
    """A worker as xdist's controller knows it, which stops at the signal of a number."""

    def __init__(self, stops_at: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", DEAF, str(stops_at)],
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.gateway = SimpleNamespace(
            spec=SimpleNamespace(popen=True),
            _rinfo=lambda: SimpleNamespace(pid=self.process.pid),
        )

    @property
    def _down(self) -> bool:
        return self.process.poll() is not None


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def test_a_worker_that_does_not_stop_is_killed_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interruptions, "PATIENCE", 2.0)
    nodes = [Node(1), Node(2)]
    assert interruptions.end_workers(nodes) == 1
    codes = []
    for node in nodes:
        with node.process:  # closes its pipe
            codes.append(node.process.wait(timeout=5))
    assert codes == [0, -signal.SIGKILL]
    (note,) = unreported(1)["notes"]
    assert "1 worker did not stop when told to" in note


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
@pytest.mark.parametrize(
    ("options", "how"),
    [
        ((), "five Ctrl-C"),
        pytest.param(("-n", "2"), "SIGTERM", marks=pytest.mark.slow),
        pytest.param((), "one Ctrl-C", marks=pytest.mark.slow),
        pytest.param((), "SIGTERM", marks=pytest.mark.slow),
        pytest.param((), "SIGHUP", marks=pytest.mark.slow),
        pytest.param(("-n", "2"), "SIGHUP", marks=pytest.mark.slow),
        pytest.param(("-n", "2"), "one Ctrl-C", marks=pytest.mark.slow),
        pytest.param(("-n", "2"), "five Ctrl-C", marks=pytest.mark.slow),
    ],
)
def test_a_stopped_run_leaves_a_record_and_goes_on(
    project: Project,
    counting: Counting,
    pytester: pytest.Pytester,
    options: tuple[str, ...],
    how: str,
) -> None:
    counting.answer_only(ANSWERED)
    process = project.start(*options)
    sent = ANSWERED + CONCURRENCY
    while process.poll() is None and counting.asked.total() < sent:
        time.sleep(0.05)
    while (
        process.poll() is None and len(kept(project)) < ANSWERED
    ):  # which takes time to read
        time.sleep(0.2)
    tell(process, how)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    record = project.found()
    assert record["gate"]["status"] == "failed"
    assert record["gate"]["incomplete"][0] == "it was interrupted"
    assert record["calls"]["made"] == ANSWERED, output
    assert record["calls"]["completion_tokens"] > 0
    assert record["calls"]["attempts"] == sent, "those in flight may be billed"
    assert (
        record["calls"]["failed"]
        == record["calls"]["unknown_cost"] - ANSWERED
        == CONCURRENCY
    )

    counting.answer_only(None)
    asked = counting.asked.total()
    code, output = project.run(*options) if options else project.run_here(pytester)
    assert code in (0, 1), output
    calls = project.found()["calls"]
    assert calls["cached"] == ANSWERED
    assert counting.asked.total() - asked == CALLS - ANSWERED + calls["again"]


LEAVES = """
import os

class Leaves:
    def __init__(self):
        if os.path.exists("leaves at once"):
            os._exit(0)
        if os.path.exists("exits"):
            raise SystemExit(0)

    def recommend(self, requests):
        if not os.path.exists("stays"):
            os._exit(0)
        return [request.candidates[: request.k] for request in requests]
"""


@pytest.mark.parametrize(
    ("worker", "begins"),
    [(None, True), ("gw0", True), ("gw1", False)],
)
def test_one_process_begins_the_junit_file(
    tmp_path: Path,
    worker: str | None,
    *,
    begins: bool,
) -> None:
    path = tmp_path / "new folder" / "junit.xml"
    config = SimpleNamespace(
        getoption=lambda *_: str(path),
        invocation_params=SimpleNamespace(dir=tmp_path),
        **({} if worker is None else {"workerinput": {"workerid": worker}}),
    )
    begin_junit(config)  # type: ignore[arg-type]
    assert path.is_file() == begins


def test_a_process_that_leaves_without_a_word_leaves_a_record_that_no_gate_passes(
    tmp_path: Path,
    pytester: pytest.Pytester,
) -> None:
    project = Project(tmp_path, None)
    (tmp_path / "leaves.py").write_text(LEAVES)
    (tmp_path / "stays").touch()
    project.run_here(pytester, model="leaves.py:Leaves")
    (tmp_path / "stays").unlink()
    junit = tmp_path / "junit.xml"
    junit.write_text("<testsuites />")
    assert project.run(f"--junitxml={junit}", model="leaves.py:Leaves")[0] == 0
    assert ElementTree.parse(junit).find(".//error[@message]") is not None, (
        "no earlier run's file"
    )
    assert project.found()["gate"]["status"] == "failed"
    with pytest.raises(
        PolicyError,
        match=r"a partial run.*has not ended; where none is under way",
    ):
        read(project.record)
    (tmp_path / "stays").touch()
    _, output = project.run_here(
        pytester,
        f"--junitxml={junit}",
        model="leaves.py:Leaves",
    )
    assert 'classname="recsys_mt" name="run"' not in junit.read_text()
    assert "the run before that was to write this record never ended" in output
    assert project.found()["gate"]["incomplete"] == []

    (tmp_path / "exits").touch()
    passed = project.record.read_bytes()
    code, output = project.run_here(pytester, model="leaves.py:Leaves")
    assert (code, project.record.read_bytes()) == (4, passed), (
        "of a run that was refused"
    )
    assert "'leaves.py:Leaves' cannot be built: SystemExit: 0" in output
    (tmp_path / "leaves at once").touch()
    assert project.run(model="leaves.py:Leaves")[0] == 0
    assert project.found()["gate"]["status"] == "failed"
    (tmp_path / "leaves at once").unlink()
    (tmp_path / "exits").unlink()

    project.record.unlink()
    (tmp_path / "stays").unlink()
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = --recsys-json=record.json\n",
    )
    command = [sys.executable, "-m", "pytest", "--recsys-model=leaves.py:Leaves"]
    assert (
        subprocess.run(
            command,
            cwd=tmp_path,
            env=project.environment,
            check=False,
        ).returncode
        == 0
    )
    assert project.found()["gate"]["status"] == "failed", "wherever the option stands"
