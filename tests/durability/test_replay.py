"""Replay: answers from a recording, without the network, a key or the recommender."""

import json
import re
from pathlib import Path

import pytest

from tests.durability.project import CALLS, Counting, Project
from tests.support.calls import canonical, key_of
from tests.support.cli import main

NO_SOCKETS = """
import socket, sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(f"the run touched the network: {event} {arguments}")

def pytest_sessionstart(session):
    with socket.socket():
        pass
    sys.addaudithook(refuse)
"""


WOULD_NOTICE = """
import socket
import pytest

def test_a_socket_is_noticed():
    with pytest.raises(RuntimeError, match="touched the network"):
        socket.socket()
"""


@pytest.fixture
def recorded(
    project: Project,
    counting: Counting,
    pytester: pytest.Pytester,
) -> Project:
    code, output = project.run_here(pytester)
    assert sum(counting.asked.values()) == CALLS, output
    assert code in (0, 1), output
    counting.asked.clear()
    return project


def test_a_replay_opens_no_socket_and_needs_no_key(
    recorded: Project,
    counting: Counting,
    tmp_path: Path,
) -> None:
    live, file = recorded.found(), tmp_path / "answers.jsonl"
    assert main(["cache", "export", str(file), "--cache", str(recorded.cache)]) == 0
    host = "https://api.example.com/v1"
    # Nothing answers at an address that would need a key; what was recorded there is
    # replayed.
    elsewhere = Project(tmp_path / "elsewhere" / "project", host)
    file.write_text(rehosted(file.read_text(), counting.server.url, host))
    assert main(["cache", "import", str(file), "--cache", str(elsewhere.cache)]) == 0
    (elsewhere.folder / "conftest.py").write_text(NO_SOCKETS)
    (elsewhere.folder / "test_would_notice.py").write_text(WOULD_NOTICE)
    _, output = elsewhere.run("--recsys-mode=replay", "-rA")
    assert "PASSED test_would_notice.py::test_a_socket_is_noticed" in output
    replayed = elsewhere.found()
    for row in (*replayed["results"], *live["results"]):
        del row["fingerprint"]  # which knows the host
    assert replayed["results"] == live["results"]
    assert replayed["calls"]["cached"] == CALLS
    assert replayed["calls"]["made"] == 0


@pytest.mark.slow  # test_a_replay_opens_no_socket_and_needs_no_key tries in its own run what forbids them
def test_what_forbids_sockets_would_notice_one(
    project: Project,
    counting: Counting,
) -> None:
    (project.folder / "conftest.py").write_text(NO_SOCKETS)
    code, output = project.run()
    assert code == 1
    assert "touched the network" in output
    assert not counting.asked


@pytest.mark.slow  # engine/test_modes names what is missing
def test_a_miss_says_what_is_missing_and_how_to_record_it(
    recorded: Project,
    counting: Counting,
) -> None:
    code, output = recorded.run("--recsys-mode=replay", "--recsys-seed=1")
    assert code == 1
    assert re.search(r"\d+ answers of openai:tiny\S* are not recorded", output)
    assert "--recsys-mode=auto" in output
    assert f"searched for answers from {counting.server.url}" in output
    assert not counting.asked


def rehosted(lines: str, host: str, other: str) -> str:
    """An export as it would be, had the server stood elsewhere."""
    rows = [json.loads(line.replace(host, other)) for line in lines.splitlines()]
    return "\n".join(canonical({**row, "key": key_of(row["call"])}) for row in rows)
