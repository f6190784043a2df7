"""The recipes for CI run as they stand, in a fresh folder,
with answers that were recorded before.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.guide.commands import lines_of
from tests.guide.worlds import a_provider
from tests.journeys.pages import DOCS, Journey

PAGE = DOCS / "ci.md"
SETTINGS = "[pytest]\nrecsys_effort = quick\nrecsys_users = 5\n"
"""What makes the runs of this test short; a project has settings of its own there."""
INSTALL = re.compile(r"pip install |python -m venv")
FILES = ("pytest.ini", "recsys.toml", "answers.jsonl", "baseline.json")


def recipes() -> dict[str, list[str]]:
    """The shell commands of each recipe, by the name of the system."""
    text = PAGE.read_text(encoding="utf-8")
    github, gitlab = (
        yaml.safe_load(each)
        for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    )
    (jenkins,) = re.findall(r"```groovy\n(.*?)```", text, re.DOTALL)
    steps = github["jobs"]["promises"]["steps"]
    shell = re.findall(r"sh '''(.*?)'''|sh '([^'\n]*)'", jenkins, re.DOTALL)
    return {
        "GitHub Actions": [step["run"] for step in steps if "run" in step],
        "GitLab CI": gitlab["promises"]["script"],
        "Jenkins": [(long or short).replace(".venv/bin/", "") for long, short in shell],
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    """A folder in which the commands of the page's first
    section were run, with the key.
    """
    journey = Journey(tmp_path_factory.mktemp("recorded"))
    (journey.folder / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    ask, export, *_ = (line.text for line in lines_of(PAGE))
    with a_provider(journey):
        for command in ("touch recsys.toml", ask, export):
            done = journey.run(command)
            assert done.returncode in (0, 1), done.stdout
    del journey.environment["OPENAI_API_KEY"]
    return journey


SYSTEMS = list(recipes())


@pytest.mark.parametrize(
    "system",
    [SYSTEMS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in SYSTEMS[1:])],
)
@pytest.mark.slow  # durability/test_replay replays
def test_a_recipe_replays_what_was_recorded(
    system: str,
    recorded: Journey,
    tmp_path: Path,
) -> None:
    journey = Journey(tmp_path)
    journey.environment |= recorded.environment | {"HOME": str(tmp_path)}
    for name in FILES:
        shutil.copy(recorded.folder / name, journey.folder)
    installs: list[str] = []
    commands: list[str] = []
    for command in recipes()[system]:
        (installs if INSTALL.search(command) else commands).append(command)
    assert installs
    for command in commands:
        done = journey.run(command)
        assert done.returncode in (0, 1), done.stdout
    before, after = recorded.record("baseline.json"), journey.record("recsys.json")
    assert after["calls"]["made"] == after["calls"]["failed"] == 0
    assert after["calls"]["cached"] > 50
    (comparison,) = after["gate"]["comparisons"]
    assert comparison["refused"] == []
    assert {each["change"] for each in comparison["results"]} <= {
        "unchanged",
        "inconclusive",
    }
    told = [
        (row["nodeid"], row["status"], row["estimate"]) for row in before["results"]
    ]
    assert [
        (row["nodeid"], row["status"], row["estimate"]) for row in after["results"]
    ] == told
    assert (journey.folder / "junit.xml").stat().st_size > 1000
    json.loads((journey.folder / "recsys.json").read_text(encoding="utf-8"))
