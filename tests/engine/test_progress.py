"""Progress is shown on a terminal, and nowhere else."""

import heapq
import io
import math
import os
import pty
import random
import re
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from pytest_recsys_mt.calls.progress import Progress, terminal

PROJECT = {
    "models.py": """
import pathlib
import time
from pytest_recsys_mt import Completion
from pytest_recsys_mt.requests import Usage

class Slow:
    fingerprint = "1"

    def complete_each(self, prompts):
        for position, prompt in enumerate(prompts):
            time.sleep(0.03)
            yield [(position, Completion("1. Alien (1979)", Usage(90, 10)))]

    def complete(self, prompts):
        return [completion for ((_, completion),) in self.complete_each(prompts)]
""",
    "test_it.py": """
import sys
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_it(source, followup, capfd):
    same_ranking(source, followup, margin=0.5)
    assert capfd.readouterr().err == ""
    print("said by the test", file=sys.stderr)
""",
}


def run(folder: Path, stderr: int) -> str:
    """What a run with standard error at `stderr` writes to standard output."""
    for name, text in PROJECT.items():
        (folder / name).write_text(text, encoding="utf-8")
    arguments = [
        "-m", "pytest", "-p", "no:cacheprovider", "-rP", "--recsys-users=20",
        "--recsys-model=models.py:Slow", f"--recsys-cache={folder / 'cache'}",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=stderr, check=False
    )
    return done.stdout.decode()


def test_a_terminal_shows_how_far_the_calls_are(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    printed = run(tmp_path, theirs)
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    os.close(ours)
    text = shown.decode()
    assert "/s, models.py:Slow, " in text
    assert "/80 [" in text, "of the calls to make"
    assert re.search(r"\[00:\d\d, about 00:\d\d left, ", text)
    assert "0 cached, 0 failed" in text
    assert " tokens" in text
    assert "models.py:Slow, " not in printed
    assert "said by the test" in printed


def test_without_a_terminal_nothing_is_written(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as file:
        printed = run(tmp_path, file.fileno())
    assert (tmp_path / "stderr").read_bytes() == b""
    assert "models.py:Slow, " not in printed


WAITING = """
import pathlib
import time
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True

    def recommend(self, requests):
        while not pathlib.Path("go").exists():
            time.sleep(0.05)
        return [Recommendation(tuple(i.id for i in r.candidates[: r.k])) for r in requests]
"""


LATER = re.compile(rb"calls 0/\d+ \[(?!00:0[01])")
"""No call is done, and more than a second has passed."""


def test_the_line_moves_while_a_recommender_is_at_all_calls_at_once(tmp_path: Path) -> None:
    for name, text in {**PROJECT, "models.py": WAITING}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    arguments = ["-m", "pytest", "-p", "no:cacheprovider", "--recsys-model=models.py:Shop"]
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs
    ) as started:
        os.close(theirs)
        shown = b""
        # The recommender waits for the line to move.
        while not LATER.search(shown) and (chunk := _read(ours)):
            shown += chunk
        (tmp_path / "go").touch()
        while _read(ours):
            pass
    os.close(ours)
    assert b"models.py:Shop, " in shown
    assert LATER.search(shown)
    assert started.returncode == 0


def test_a_line_says_what_was_found_and_what_was_paid() -> None:
    stream = io.StringIO()
    progress = Progress(stream, after=0.0, every=0.0)
    progress.found()
    with progress.batch("chat", 2):
        progress.add({"usage": [90, 10]}, 0.25)
        progress.add({"error": "gone"}, 0.0)
    text = stream.getvalue()
    assert text.startswith("\n"), "the line that pytest has begun is left as it is"
    assert "spent $0.25, " in text
    assert "chat, 1 cached, 1 failed, 100 tokens" in text


def shown(progress: Progress, stream: io.StringIO, usd: float | None = 0.25) -> str:
    """All lines so far, after one more answer."""
    with progress.batch("chat", 2):
        progress.add({"usage": [90, 10]}, usd)
    return stream.getvalue()


def test_a_line_says_how_much_of_the_smallest_bound_is_used() -> None:
    stream = io.StringIO()
    progress = Progress(stream, after=0.0, every=0.0)
    progress.at_most(None, 4.0, "allowed")
    progress.at_most(40, 1.4, "planned")
    progress.at_most(80, None, "allowed")
    assert ", spent $0.25 of at most $1.40 planned, " in shown(progress, stream)
    progress.spent(7, 0.5)  # by all workers
    assert ", spent $0.75 of at most $1.40 planned, " in shown(progress, stream)
    assert ", 9 of at most 40 calls planned, " in shown(progress, stream, usd=None)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def arrivals(calls: int, in_flight: int, typical: float, seed: int) -> list[float]:
    """When a server with log-normal delays answers, so many calls at a time."""
    draw = random.Random(seed)
    times: list[float] = []
    flying = [draw.lognormvariate(math.log(typical), 0.5) for _ in range(in_flight)]
    heapq.heapify(flying)
    for sent in range(in_flight, in_flight + calls):
        times.append(heapq.heappop(flying))
        if sent < calls:
            heapq.heappush(flying, times[-1] + draw.lognormvariate(math.log(typical), 0.5))
    return times


@pytest.mark.parametrize("typical", [0.1, 2.0, 20.0], ids="{} s".format)
@pytest.mark.parametrize(("calls", "in_flight"), [(240, 8), (1000, 8), (1000, 16)])
def test_the_time_left_in_the_middle_is_about_right(
    calls: int, in_flight: int, typical: float
) -> None:
    for seed in range(20):
        clock = Clock()
        progress = Progress(io.StringIO(), after=1e9, clock=clock)
        times = arrivals(calls, in_flight, typical, seed)
        with progress.batch("chat", calls // 4):
            progress.more(calls - calls // 4)  # not known at first
            for time in times[: calls // 2]:
                clock.now = 1000 + time
                progress.add({}, None)
            left = progress.seconds_left
        assert left is not None
        truth = times[-1] - times[calls // 2 - 1]
        assert truth / 1.5 < left < truth * 1.5


def test_the_time_left_follows_a_server_that_becomes_slower() -> None:
    clock = Clock()
    progress = Progress(io.StringIO(), after=1e9, clock=clock)
    with progress.batch("chat", 1200):
        assert progress.seconds_left is None, "nothing is known yet"
        for pause in [0.1] * 600 + [1.0] * 100:
            clock.now += pause
            progress.add({}, None)
        assert progress.seconds_left == pytest.approx(500, rel=0.05)
        clock.now += 100
        left = progress.seconds_left
        assert left is not None
        assert left > 1000, "and one that stands still"


def test_a_file_is_no_terminal(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert terminal(file.fileno()) is None
    assert terminal(10_000) is None


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end of a terminal is closed
        return b""
