"""Progress is shown on a terminal, and nowhere else."""

import io
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

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
    assert "calls to models.py:Slow" in text
    assert "/80 [" in text, "of the calls to make"
    assert "0 cached, 0 failed" in text
    assert " tokens" in text
    assert "calls to models.py:Slow" not in printed
    assert "said by the test" in printed


def test_without_a_terminal_nothing_is_written(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as file:
        printed = run(tmp_path, file.fileno())
    assert (tmp_path / "stderr").read_bytes() == b""
    assert "calls to models.py:Slow" not in printed


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


LATER = re.compile(rb"\| 0/\d+ \[(?!00:0[01])")
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
    assert b"calls to models.py:Shop" in shown
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
    assert "1 cached, 1 failed, 100 tokens, $0.25" in text


def test_a_file_is_no_terminal(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert terminal(file.fileno()) is None
    assert terminal(10_000) is None


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end of a terminal is closed
        return b""
