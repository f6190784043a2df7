"""`python -m benchmarks.run_papers`: a paper's protocol on data of one's own, stopped by
Ctrl-C and gone on with.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.run_papers import PAPERS, main
from pytest_recsys_mt.datasets import load
from tests.journeys.endpoint import KEY
from tests.models.faults import FaultServer, Reply, completion

CALLS = 24
"""Calls of the language model: eight users in each of three settings."""
ANSWERED, IN_FLIGHT = 10, 4
"""Calls when Ctrl-C is pressed."""

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [
    sys.executable, "-m", "benchmarks.run_papers", "--data=mini", "--model=openai:gpt-4o?max_tokens=200&concurrency=4",
    "--papers=popularity", "--beside=mostpop", "--usd=5", "--prices=prices.toml",
    "--output=out", "--yes", "--", "--recsys-users=8", "-kfold0",
]  # fmt: skip


@pytest.fixture
def provider() -> Iterator[FaultServer]:
    """An account at a provider whose model always lists the same films."""
    titles = [item.label for item in load("mini").items.values()][:10]
    listed = "\n".join(f"{place}. {title}" for place, title in enumerate(titles, 1))
    with FaultServer() as server:
        server.answer = lambda payload: Reply(completion(listed))
        server.key = KEY
        yield server


def started(folder: Path, url: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": KEY,
    }
    return subprocess.Popen(
        COMMAND, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip


@pytest.mark.slow  # two runs with their plans, by processes: a minute
def test_what_is_stopped_goes_on_by_the_same_command_and_pays_no_answer_twice(
    tmp_path: Path,
    provider: FaultServer,
) -> None:
    (tmp_path / "prices.toml").write_text('["gpt-4o"]\ninput = 10.0\noutput = 40.0\n')
    answer, released = provider.answer, threading.Event()

    def only_ten(payload: dict[str, Any]) -> Reply:
        if len(provider.asked) > ANSWERED:
            released.wait()
        return answer(payload)

    provider.answer = only_ten
    first = started(tmp_path, provider.url)
    deadline = time.monotonic() + 120
    while first.poll() is None and len(provider.asked) < ANSWERED + IN_FLIGHT:
        assert time.monotonic() < deadline, "it asks nothing"
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGINT)  # as a terminal does
    told, _ = first.communicate(timeout=120)
    released.set()
    assert first.returncode == 1
    assert "what this run fills of the paper of popularity" in told
    assert "the same command goes on from there" in told
    assert len(provider.asked) == ANSWERED + IN_FLIGHT

    again, _ = started(tmp_path, provider.url).communicate(timeout=180)
    planned = CALLS + 8  # the most popular films are asked of mostpop, too
    assert f"{planned} calls planned, {ANSWERED} cached" in again, again
    asked = Counter(repr((each["messages"], each["seed"])) for each in provider.asked)
    assert len(asked) == CALLS
    assert asked.total() == CALLS + IN_FLIGHT  # these never got an answer
    page = (tmp_path / "out" / "popularity.md").read_text(encoding="utf-8")
    assert "| openai:gpt-4o?" in page
    assert "| mostpop |" in page


def test_without_a_yes_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    commands: list[list[str]] = []

    def noted(command: list[str]) -> int:
        commands.append(command)
        return 0

    monkeypatch.setattr("benchmarks.run_papers.status_of", noted)
    monkeypatch.setattr("builtins.input", lambda: "n")
    with pytest.raises(SystemExit, match="nothing was asked"):
        main(["--data=mini", "--model=gpt-4o", f"--output={tmp_path}"])
    assert len(commands) == sum(map(len, PAPERS.values()))
    assert all(command[-1] == "--recsys-plan" for command in commands)


def test_a_paper_that_is_not_there_is_an_error_with_the_names() -> None:
    with pytest.raises(SystemExit):
        main(["--data=mini", "--model=gpt-4o", "--papers=arenas"])
