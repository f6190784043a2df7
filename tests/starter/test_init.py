"""``recsys-mt init``: what it writes runs, what its output and the CI file say is true, and it harms nothing."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_recsys_mt.cli import main
from pytest_recsys_mt.gate.policy import load
from tests.models.faults import FaultServer, Reply, completion
from tests.plugin.conftest import record_of

SHOP = """
from pytest_recsys_mt import Recommendation

class Newest:
    deterministic = True

    def recommend(self, requests):
        return [
            Recommendation(tuple(i.id for i in sorted(r.candidates, key=lambda i: i.id)[: r.k]))
            for r in requests
        ]

class Strict(Newest):
    def recommend(self, requests):
        return [
            Recommendation(tuple(i.id for i in sorted(
                r.candidates, key=lambda i: i.id, reverse=r.scale.high > 5)[: r.k]))
            for r in requests
        ]
"""


def ranked(payload: dict[str, Any]) -> Reply:
    """Answers a chat prompt and a request over HTTP, always alike."""
    if "requests" in payload:
        answers = [
            {"items": sorted(item["id"] for item in each["candidates"])[: each["k"]]}
            for each in payload["requests"]
        ]
        return Reply({"answers": answers})
    text = payload["messages"][-1]["content"]
    films = sorted(
        re.findall(r"(?m)^\d+\. (.+ \(\d{4}\))", text),
        key=lambda film: hashlib.sha256(film.encode()).hexdigest(),
    )
    return Reply(completion("\n".join(f"{n}. {film}" for n, film in enumerate(films[:10], 1))))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    with FaultServer() as server:
        server.answer = ranked
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "shop.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user's shell does."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip


def commands(printed: str) -> list[str]:
    return [line.strip() for line in printed.splitlines() if line.startswith("    ")]


def ci_commands(folder: Path, ci: str) -> list[str]:
    """The commands of the CI file that test, as the system runs them."""
    if ci == "github":
        told = yaml.safe_load((folder / ".github/workflows/recsys.yml").read_text())
        steps = [step["run"] for step in told["jobs"]["promises"]["steps"] if "run" in step]
    elif ci == "gitlab":
        steps = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["promises"]["script"]
    else:
        text = (folder / "Jenkinsfile").read_text()
        quoted = re.findall(r"sh '((?:[^'\\]|\\.)*)'", text)
        steps = [re.sub(r"\\(.)", r"\1", each).replace(".venv/bin/", "") for each in quoted]
    return [step for step in steps if "pip install" not in step]


@pytest.mark.parametrize(
    ("spec", "ci"),
    [
        ("itemknn", "github"),
        pytest.param("shop:Newest", "gitlab", marks=pytest.mark.slow),
        ("shop.py:Newest", "jenkins"),
        pytest.param("itemknn?neighbours=10&weights=binary", "none", marks=pytest.mark.slow),
        ("SERVER/recommend", "github"),
        ("openai:gpt-4o?temperature=0&max_tokens=80", "github"),
    ],
)
def test_what_is_written_runs_and_is_green(
    spec: str, ci: str, folder: Path, server: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec.replace("SERVER", server.url.removesuffix("/v1"))
    assert main(["init", spec, "--ci", ci]) == 0
    printed = capsys.readouterr().out
    for line in printed.splitlines():
        if line.startswith("wrote "):
            assert Path(line.removeprefix("wrote ")).is_file()
    assert len(load(Path("recsys.toml")).rules) == 0
    assert ("--recsys-plan" in printed) is spec.startswith("openai")
    for command in commands(printed):
        done = run(folder, command)
        assert done.returncode == 0, done.stdout + done.stderr
    for command in ci_commands(folder, ci) if ci != "none" else []:
        done = run(folder, command)
        assert done.returncode == 0, done.stdout + done.stderr
        record = record_of(folder / "recsys.json")
        assert record["models"] == [spec]
        assert record["gate"]["status"] == "passed"
        assert Path("junit.xml").is_file()
        Path("recsys.json").unlink()
    if spec.startswith("openai"):
        text = Path(".github/workflows/recsys.yml").read_text()
        assert "OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}" in text
        assert server.url not in "".join(
            path.read_text() for path in folder.rglob("*") if path.suffix in (".ini", ".yml", ".py")
        ), "no file names where a key goes"


def test_a_recommender_that_breaks_the_promise_is_red_and_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "shop:Strict", "--ci", "none"]) == 0
    (command,) = commands(capsys.readouterr().out)
    done = run(folder, command)
    assert done.returncode == 1
    assert "scale_ratings(2)" in done.stdout
    assert "VIOLATED" in done.stdout


def test_a_project_with_a_configuration_of_its_own_keeps_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "[tool.pytest.ini_options]\naddopts = '-q'\n"
    Path("pyproject.toml").write_text(text)
    assert main(["init", "itemknn?weights=binary"]) == 0
    printed = capsys.readouterr().out
    assert not Path("pytest.ini").exists()
    assert Path("pyproject.toml").read_text() == text
    assert "pyproject.toml configures pytest already" in printed
    assert "recsys_model = itemknn?weights=binary" in printed
    command = commands(printed)[-1]
    assert command == "pytest '--recsys-model=itemknn?weights=binary'"
    for each in (command, *ci_commands(folder, "github")):
        done = run(folder, each)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "itemknn?weights=binary on mini" in done.stdout


def test_another_folder_is_named_in_the_next_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("my tests").mkdir()
    Path("my tests/shop.py").write_text(SHOP)
    assert main(["init", "shop.py:Newest", "my tests", "--data", "mini", "--ci", "none"]) == 0
    assert Path.cwd() == folder
    (command,) = commands(capsys.readouterr().out)
    assert command == "cd 'my tests' && pytest"
    assert run(folder, command).returncode == 0


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "there", ["conftest.py", "recsys.toml", "test_recsys.py", ".github/workflows/recsys.yml"]
)
def test_nothing_is_overwritten_and_nothing_written_beside_it(
    there: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(there).parent.mkdir(parents=True, exist_ok=True)
    Path(there).write_text("# mine\n")
    before = everything(folder)
    assert main(["init", "itemknn"]) == 2
    assert everything(folder) == before
    error = capsys.readouterr().err
    assert f"{there} exists in '.' already, and nothing is overwritten" in error


def test_a_link_to_nowhere_is_there_too(folder: Path) -> None:
    Path("conftest.py").symlink_to("/nowhere/conftest.py")
    assert main(["init", "itemknn"]) == 2
    assert not Path("recsys.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["itemkn"], "there is no recommender 'itemkn'; did you mean 'itemknn'?"),
        (["itemknn?neighbors=3"], "did you mean 'neighbours'?"),
        (["shop:Newst"], "has no 'Newst'; did you mean 'Newest'?"),
        (["shop"], "name an object in it: 'shop.py:NAME'"),
        (["nowhere.py:Shop"], "there is no file 'nowhere.py'"),
        ([""], "names nothing"),
        (["http://me:secret-77@host/x"], "an address carries no user name and no key"),
        (["openai:gpt-4o\nrecsys_cache = /"], "cannot be typed; write it in one line"),
        (["itemknn", "--data", "minni"], "--data='minni'"),
        (["itemknn", "shop.py"], "the folder 'shop.py': File exists"),
        (["itemknn", "/proc/none"], "name another one"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path for path in everything(folder) if "__pycache__" not in path}
    assert main(["init", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "secret-77" not in error
    assert {path for path in everything(folder) if "__pycache__" not in path} == before


def test_an_unknown_system_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["init", "itemknn", "--ci", "travis"])
    assert "choose from" in capsys.readouterr().err


def test_a_disk_that_is_full_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_recsys_mt import files, starter

    whole = files.written_whole

    def full(path: Path, mode: int) -> Any:
        if path.name == "test_recsys.py":
            raise OSError(28, "No space left on device")
        return whole(path, mode)

    monkeypatch.setattr(starter, "written_whole", full)
    assert main(["init", "itemknn"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["shop.py"]
