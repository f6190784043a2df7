"""Every command and every program of the README runs, and ends as the README says."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models import servers
from tests.plugin.conftest import record_of

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def programs() -> dict[str, str]:
    """The Python blocks by the file name in their first line."""
    return dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", README, re.DOTALL))


def commands() -> list[list[str]]:
    """The indented `pytest` commands, without `pytest` itself."""
    lines = README.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("    pytest ")]


def of_model(command: list[str]) -> bool:
    return any("openai:" in word for word in command)


CLASSICAL = [command for command in commands() if not of_model(command)]
MODEL = [command for command in commands() if of_model(command)]
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
    assert (len(CLASSICAL), len(MODEL)) == (3, 3)


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
    assert outcomes["passed"] >= 4
    assert "errors" not in outcomes
    if "--recsys-json=recsys.json" in command:
        assert len(record_of(reader.path / "recsys.json")["gate"]["violated"]) == 1
        assert (reader.path / "junit.xml").stat().st_size > 1000


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The real small model behind a real server."""
    with servers.llamacpp_server() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        yield


@pytest.mark.slow
@pytest.mark.model
def test_the_commands_for_a_language_model_run(
    reader: pytest.Pytester, endpoint: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, ask, replay = MODEL
    extra = ["-p", "no:cacheprovider", "--recsys-json=record.json"]
    planned = reader.runpytest_subprocess(*extra, *plan)
    planned.stdout.fnmatch_lines(["24 calls planned, 0 cached, 24 to make; *"])
    reader.runpytest_subprocess(*extra, *ask).assert_outcomes(failed=2, deselected=220)
    first = record_of(reader.path / "record.json")
    assert (first["calls"]["made"], first["results"][0]["status"]) == (24, "inconclusive")
    program = Path(sys.executable).with_name("recsys-mt")
    export, take = (
        shlex.split(line)[1:] for line in README.splitlines() if "recsys-mt cache" in line
    )
    assert reader.run(program, *export).ret == 0
    # Another machine, as far as the cache goes; nothing there may be asked.
    monkeypatch.setenv("XDG_CACHE_HOME", str(reader.path / "elsewhere"))
    assert reader.run(program, *take).ret == 0
    reader.runpytest_subprocess(*extra, *replay).assert_outcomes(failed=2, deselected=220)
    second = record_of(reader.path / "record.json")
    assert (second["calls"]["made"], second["calls"]["cached"]) == (0, 24)
    assert second["results"] == first["results"]
