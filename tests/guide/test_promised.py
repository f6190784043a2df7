"""The page of promises: each command of its tables runs, or lists its tests where it needs what is not here."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guide.test_commands import WORLD
from tests.journeys.pages import DOCS

PAGE = (DOCS / "promised.md").read_text(encoding="utf-8")
COMMANDS = list(dict.fromkeys(re.findall(r"`((?:pytest|recsys-mt) [^`]+)`", PAGE)))
NEEDS = re.compile(r"gpt-4o|hf:|my_judge|suites/$|test_paper|--recsys-list")
"""What is not here, or takes minutes: such a command is listed."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("promised")
    for name, text in WORLD.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    run(
        folder,
        "pytest --pyargs pytest_recsys_mt.suites.popularity.test_paper -k fold0 "
        "--pyargs pytest_recsys_mt.suites.metamorphic --recsys-json=baseline.json",
    )
    return folder


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    program, *words = shlex.split(command)
    module = "pytest" if program == "pytest" else "pytest_recsys_mt"
    start = (
        ["-m", "pytest", "-p", "no:cacheprovider"]
        if module == "pytest"
        else ["-c", "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"]
    )
    return subprocess.run(
        [sys.executable, *start, *words], cwd=folder, capture_output=True, text=True, check=False
    )


def test_every_promise_has_a_way_to_see_it() -> None:
    assert len(COMMANDS) > 20
    rows = re.findall(r"(?m)^\| (?!promise|relation|oracle|paper|use|library|---)(.+) \|$", PAGE)
    libraries = PAGE.partition("## Libraries")[2]
    for row in rows:
        assert row in libraries or "`pytest" in row or "`recsys-mt" in row or "](" in row, row


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_shows_its_promise(command: str, world: Path) -> None:
    if command.startswith("recsys-mt"):
        done = run(world, command)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("#")
        return
    listed = NEEDS.search(command) is not None
    elsewhere = command.replace("suites/", "--pyargs pytest_recsys_mt.suites")
    done = run(world, f"{elsewhere} --recsys-list" if listed else command)
    if listed:
        assert done.returncode == 0, done.stdout
        assert re.search(r"\d+ relations|nothing was asked", done.stdout), done.stdout
    else:
        assert done.returncode in (0, 1), done.stdout
        assert "verdict" in done.stdout or "hold" in done.stdout or "violated" in done.stdout
