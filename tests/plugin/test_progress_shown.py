"""Somebody who waits sees that something happens: on a
terminal, on workers, and in a log.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.plugin.screen import Screen, pytest_on_a_terminal
from tests.support.plugin import Below, Logged, Shown, Ticker, status_line, terminal

WAITING = """
import pathlib
import time
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True
    go = "go"

    def recommend(self, requests):
        while not pathlib.Path(self.go).exists():
            time.sleep(0.05)
        return [Recommendation(tuple(sorted(i.id for i in r.candidates))[: r.k]) for r in requests]

class Trained(Shop):
    def fit(self, dataset, seed):
        self.go = "fitted"
        while not pathlib.Path("go").exists():
            time.sleep(0.05)
        pathlib.Path("fitted").touch()
"""
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings

@metamorphic(scale_ratings(2), shift_ratings(1))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""


class Watch:
    """Lets the recommender answer once the line has changed so often."""

    def __init__(self, folder: Path, pattern: str, times: int = 2) -> None:
        self.seen: list[str] = []
        self.screens: list[Sequence[str]] = []
        self._folder, self._pattern, self._times = folder, re.compile(pattern), times

    def __call__(self, lines: Sequence[str]) -> None:
        self.screens.append(lines)
        for line in lines:
            if self._pattern.match(line) and line not in self.seen:
                self.seen.append(line)
        if len(self.seen) >= self._times:
            (self._folder / "go").touch()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(WAITING)
    (tmp_path / "test_it.py").write_text(TEST)
    return tmp_path


COMMON = ("--recsys-model=models.py:Shop", "--recsys-users=20")


def test_the_line_moves_while_one_call_holds_all_questions(folder: Path) -> None:
    watch = Watch(
        folder,
        r"0 of 40 answers, 00:\d\d, test_it\[scale_ratings\(2\)\], models.py:Shop$",
    )
    code, lines = pytest_on_a_terminal(folder, *COMMON, look=watch)
    assert code == 0
    assert len(watch.seen) >= 2, "each of another second"
    assert not any("answers, 00:" in line for line in lines), "nothing of it is left"
    assert any(re.fullmatch(r"test_it.py \.\. +\[100%\]", line) for line in lines), (
        lines
    )


@pytest.mark.slow  # a variant of the test before
def test_a_run_at_the_foot_of_the_terminal_keeps_pytests_lines(folder: Path) -> None:
    watch = Watch(folder, r"0 of 40 answers, ", 1)
    code, lines = pytest_on_a_terminal(folder, *COMMON, look=watch, rows=9)
    assert code == 0
    waiting = next(each for each in watch.screens if "0 of 40 answers, " in each[-1])
    assert waiting[-2] == "test_it.py"
    assert "test_it.py" not in lines[-1]


@pytest.mark.slow  # the process that has the terminal shows the same without workers
def test_workers_are_shown_by_the_process_that_has_the_terminal(folder: Path) -> None:
    watch = Watch(folder, r"2 workers, 0 of 80 answers, 00:\d\d, test_it\[")
    code, lines = pytest_on_a_terminal(folder, *COMMON, "-n", "2", look=watch)
    assert code == 0
    assert len(watch.seen) >= 2, "it moves"
    for screen in watch.screens:
        assert sum("answers, 00:" in line for line in screen) <= 1, (
            "they do not write over each other"
        )
    assert any(re.fullmatch(r"\.\. +\[100%\]", line) for line in lines), lines


def test_the_fit_of_a_recommender_is_shown(folder: Path) -> None:
    watch = Watch(folder, r"fitting models.py:Trained, 00:\d\d$")
    code, _ = pytest_on_a_terminal(
        folder,
        "--recsys-model=models.py:Trained",
        COMMON[1],
        look=watch,
    )
    assert code == 0
    assert len(watch.seen) >= 2, "it moves"


def test_only_errors_on_the_terminal_are_enough(folder: Path) -> None:
    watch = Watch(folder, r"0 of 40 answers, ", 1)
    code, _ = pytest_on_a_terminal(folder, *COMMON, look=watch, only_errors=True)
    assert code == 0
    assert watch.seen


def test_tests_that_print_to_the_terminal_get_lines_of_their_own(folder: Path) -> None:
    (folder / "conftest.py").write_text(
        "from pytest_recsys_mt.plugin import status_line\nstatus_line.LOGGED_EVERY_HERE = 0.3\n",
    )
    watch = Watch(folder, r"recsys-mt: 0 of 40 answers, ", 2)
    code, lines = pytest_on_a_terminal(folder, *COMMON, "-s", look=watch)
    assert code == 0
    assert any(line.startswith("recsys-mt: 0 of 40") for line in lines), "they stay"


def test_other_tests_show_nothing(folder: Path) -> None:
    (folder / "test_it.py").write_text(
        "import time\ndef test_it():\n    time.sleep(1.2)\n",
    )
    screens: list[Sequence[str]] = []
    code, _ = pytest_on_a_terminal(folder, look=screens.append)
    assert code == 0
    assert not any("test_it," in line for screen in screens for line in screen)


def piped(folder: Path) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *COMMON],
        cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout, done.stderr


GOES_ON = """
import pathlib
from pytest_recsys_mt.plugin import status_line
from pytest_recsys_mt.plugin.status_line import Logged

class Watched(Logged):
    lines = 0

    def tick(self):
        super().tick()
        self.lines += bool(self._line())
        if self.lines == 2:
            pathlib.Path("go").touch()

status_line.Logged, status_line.LOGGED_EVERY = Watched, 0.3
"""


def test_a_log_gets_a_line_now_and_then(folder: Path) -> None:
    (folder / "conftest.py").write_text(GOES_ON)
    out, err = piped(folder)
    assert "answers, 00:" not in out
    told = [line for line in err.splitlines() if line]
    assert len(told) >= 2
    for line in told:
        assert re.match(
            r"recsys-mt: (.* answers|loading|test_it|fitting|asking|writing)",
            line,
        )
    assert "\x1b" not in err


def test_a_short_run_writes_nothing_to_a_log(folder: Path) -> None:
    (folder / "go").touch()
    assert piped(folder)[1] == ""
    assert status_line.LOGGED_EVERY == 30


class Stream:
    """A stream to a screen."""

    def __init__(self) -> None:
        self.screen = Screen(3, 80)

    def write(self, text: str) -> None:
        self.screen.feed(text)

    def flush(self) -> None:
        pass

    def fileno(self) -> int:
        return -1


def test_a_line_is_as_wide_as_the_terminal_at_most_and_leaves_the_cursor() -> None:
    stream = Stream()
    said = ["x" * 300]
    below = Below(stream, lambda: said[0], after=0, every=0)  # type: ignore[arg-type]
    stream.write("a.py ..")
    below.tick()
    stream.write(".")
    assert stream.screen.lines() == ["a.py ...", "x" * 79]
    said[0] = "映" * 60
    below.tick()
    assert stream.screen.lines() == ["a.py ...", "映" * 39]
    below.hide()
    stream.write("\r\nb.py")
    assert stream.screen.lines() == ["a.py ...", "b.py"]
    said[0] = ""
    below.tick()
    assert stream.screen.lines() == ["a.py ...", "b.py"]


def test_a_log_keeps_the_line_that_others_have_begun() -> None:
    stream, columns = io.StringIO("a.py .."), [7, 0]
    stream.seek(0, io.SEEK_END)
    logged = Logged(stream, lambda: "5 of 9", lambda: columns.pop(0))
    logged.tick()
    logged.tick()
    assert stream.getvalue() == "a.py ..\nrecsys-mt: 5 of 9\nrecsys-mt: 5 of 9\n"


class Gone(Shown):
    every = 0.0

    def tick(self) -> None:
        raise OSError("the terminal is closed")

    def hide(self) -> None:
        raise ValueError("I/O operation on closed file")


def test_a_terminal_that_goes_away_harms_nobody() -> None:
    ticker = Ticker(Gone())
    assert ticker.alone(lambda text: text + "!")("said") == "said!"
    ticker.stop()


def test_a_file_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_line, "STANDARD_ERROR", 10_000)
    monkeypatch.setattr(status_line, "STANDARD_OUTPUT", 10_000)
    assert terminal() is None
