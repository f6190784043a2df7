"""Every command and every program of the README runs, and ends as the README says."""

import re
import shlex
from pathlib import Path

import pytest

from tests.journeys.endpoint import KEY, Endpoint
from tests.models.faults import FaultServer
from tests.plugin.conftest import record_of

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def programs() -> dict[str, str]:
    """The Python blocks by the file name in their first line."""
    return dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", README, re.DOTALL))


def commands() -> list[list[str]]:
    """The indented `pytest` commands, without `pytest` itself."""
    lines = README.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("    pytest ")]


def of_model(command: list[str]) -> bool:
    return "--recsys-model=gpt-4o" in command


CLASSICAL = [command for command in commands() if not of_model(command)]
CHECKOUT, PLAN = (command for command in commands() if of_model(command))
# A recommender that takes three for the middle of every scale breaks both promises on scales, the user's
# own ones too; and 200 users do not show that one film changes its lists little.
ENDS = {"--pyargs": {"failed": 4}, "test_mine.py": {"failed": 2}}


@pytest.fixture
def reader(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with the README's programs."""
    for name, text in programs().items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(pytester.path)
    return pytester


def test_the_readme_has_what_these_tests_run() -> None:
    assert set(programs()) == {"shop.py", "test_mine.py"}
    assert len(CLASSICAL) == 3


@pytest.mark.parametrize(
    "command",
    [
        # One command is another one with more options.
        pytest.param(command, marks=pytest.mark.slow)
        if any(command == longer[: len(command)] for longer in CLASSICAL if longer != command)
        else command
        for command in CLASSICAL
    ],
    ids=" ".join,
)
def test_a_command_runs_and_ends_as_told(reader: pytest.Pytester, command: list[str]) -> None:
    result = reader.runpytest_subprocess("-p", "no:cacheprovider", *command)
    outcomes = result.parseoutcomes()
    assert outcomes.get("failed", 0) == ENDS[command[0]]["failed"]
    assert outcomes["passed"] >= 1
    assert "errors" not in outcomes
    if "--recsys-json=recsys.json" in command:
        assert len(record_of(reader.path / "recsys.json")["gate"]["violated"]) == 2
        assert (reader.path / "junit.xml").stat().st_size > 1000


def test_the_plan_for_a_language_model_needs_no_key(reader: pytest.Pytester) -> None:
    result = reader.runpytest_subprocess("-p", "no:cacheprovider", *PLAN)
    result.stdout.fnmatch_lines(["1,120 calls planned, 0 cached, 1,120 to make; at most $*"])


def test_the_command_for_a_clone_asks_the_model(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the clone, as it stands; with fewer tests and users, since all take an hour."""
    assert CHECKOUT == ["--recsys-model=gpt-4o", "suites/"]
    record = pytester.path / "record.json"
    few = ["--recsys-effort=quick", "--recsys-users=3", f"--recsys-json={record}"]
    with FaultServer() as server:
        Endpoint(server)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.chdir(ROOT)
        pytester.runpytest_subprocess("-p", "no:cacheprovider", *CHECKOUT, *few)
    calls = record_of(record)["calls"]
    assert calls["made"] > 20
    assert calls["failed"] == 0
