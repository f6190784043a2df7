"""``recsys-mt init``: what it writes runs, what its output and
the CI file say is true, and it harms nothing.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.models.faults import FaultServer, Reply, completion
from tests.plugin.conftest import record_of
from tests.support.cli import main
from tests.support.gate import load
from tests.support.requests import Design

INIT = ("init", "--tests", "one")
"""Most tests here are about the other files."""

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
    return Reply(
        completion("\n".join(f"{n}. {film}" for n, film in enumerate(films[:10], 1))),
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    with FaultServer() as server:
        server.answer = ranked
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "shop.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path / "project")
    # Other tests have a module of this name, too, and some leave their folders on the
    # path.
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    monkeypatch.setattr(
        sys,
        "path",
        [entry for entry in sys.path if not Path(entry, "shop.py").exists()],
    )
    yield tmp_path / "project"
    sys.modules.pop("shop", None)


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
        steps = [
            step["run"] for step in told["jobs"]["promises"]["steps"] if "run" in step
        ]
    elif ci == "gitlab":
        steps = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["promises"][
            "script"
        ]
    else:
        text = (folder / "Jenkinsfile").read_text()
        quoted = re.findall(r"sh '((?:[^'\\]|\\.)*)'", text)
        steps = [
            re.sub(r"\\(.)", r"\1", each).replace(".venv/bin/", "") for each in quoted
        ]
    return [step for step in steps if "pip install" not in step]


@pytest.mark.parametrize(
    ("spec", "ci"),
    [
        pytest.param("itemknn", "github", marks=pytest.mark.slow),
        pytest.param("shop:Newest", "gitlab", marks=pytest.mark.slow),
        pytest.param("shop.py:Newest", "jenkins", marks=pytest.mark.slow),
        pytest.param(
            "itemknn?neighbours=10&weights=binary",
            "none",
            marks=pytest.mark.slow,
        ),
        pytest.param("SERVER/recommend", "github", marks=pytest.mark.slow),
        ("openai:gpt-4o?temperature=0&max_tokens=80", "github"),
    ],
)
def test_what_is_written_runs_and_is_green(
    spec: str,
    ci: str,
    folder: Path,
    server: FaultServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = spec.replace("SERVER", server.url.removesuffix("/v1"))
    assert main([*INIT, spec, "--ci", ci]) == 0
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
            path.read_text()
            for path in folder.rglob("*")
            if path.suffix in (".ini", ".yml", ".py")
        ), "no file names where a key goes"


def test_a_recommender_that_breaks_the_promise_is_red_and_says_why(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*INIT, "shop:Strict", "--ci", "none"]) == 0
    (command,) = commands(capsys.readouterr().out)
    done = run(folder, command)
    assert done.returncode == 1
    assert "scale_ratings(2)" in done.stdout
    assert "VIOLATED" in done.stdout


@pytest.mark.slow  # the lines that it is told are seen in test_the_lines_for_a_configuration_are_in_its_format
def test_a_project_with_a_configuration_of_its_own_keeps_it(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "[tool.pytest.ini_options]\naddopts = '-q'\n"
    Path("pyproject.toml").write_text(text)
    assert main([*INIT, "itemknn?weights=binary"]) == 0
    printed = capsys.readouterr().out
    assert not Path("pytest.ini").exists()
    assert Path("pyproject.toml").read_text() == text
    assert "pyproject.toml configures pytest already" in printed
    assert (
        '    [tool.pytest.ini_options]\n    recsys_model = ["itemknn?weights=binary"]'
        in printed
    )
    command = commands(printed)[-1]
    assert command == "pytest '--recsys-model=itemknn?weights=binary'"
    assert all(
        "itemknn?weights=binary" in each for each in ci_commands(folder, "github")
    )
    done = run(folder, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "itemknn?weights=binary on mini" in done.stdout


@pytest.mark.slow  # test_a_file_is_found_from_either_folder names another folder too
def test_another_folder_is_named_in_the_next_command(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("my tests").mkdir()
    Path("my tests/shop.py").write_text(SHOP)
    assert (
        main([*INIT, "shop.py:Newest", "my tests", "--data", "mini", "--ci", "none"])
        == 0
    )
    assert Path.cwd() == folder
    (command,) = commands(capsys.readouterr().out)
    assert command == "cd 'my tests' && pytest"
    assert run(folder, command).returncode == 0


@pytest.mark.parametrize(
    ("model", "written"),
    [
        ("shop.py:Newest", "../shop.py:Newest"),
        pytest.param("has/mine.py:Newest", "mine.py:Newest", marks=pytest.mark.slow),
        pytest.param("mine.py:Newest", "mine.py:Newest", marks=pytest.mark.slow),
    ],
)
def test_a_file_is_found_from_either_folder_and_written_as_the_run_sees_it(
    model: str,
    written: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("has").mkdir()
    Path("has/mine.py").write_text(SHOP)
    assert main([*INIT, model, "has", "--data", "mini", "--ci", "none"]) == 0
    assert f"recsys_model = {written}\n" in Path("has/pytest.ini").read_text()
    printed = capsys.readouterr().out
    assert f"The tests ask {written} about the data mini." in printed
    assert ("as seen from has" in " ".join(printed.split())) is (model != written)
    done = run(folder, f"{commands(printed)[-1]} --recsys-plan")
    assert done.returncode == 0, done.stdout + done.stderr


def test_data_are_found_from_either_folder(folder: Path) -> None:
    Path("ours.csv").write_text("user,item,rating\n1,2,3\n")
    assert main([*INIT, "itemknn", "new", "--data", "ours.csv", "--ci", "none"]) == 0
    assert "recsys_data = ../ours.csv\n" in Path("new/pytest.ini").read_text()


def test_a_module_that_the_run_would_not_find_is_named_with_its_file(
    folder: Path,
) -> None:
    (folder / "only_here.py").write_text(SHOP)
    one = "--ci none --tests one"
    done = run(folder, f"recsys-mt init only_here:Newest new {one}")
    assert done.returncode == 2
    assert "the module 'only_here' lies in the current folder" in done.stderr
    assert not Path("new").exists()
    told = re.search(r"recsys-mt init \S+ new", done.stderr)
    assert told is not None
    done = run(folder, f"{told[0]} {one}")
    assert done.returncode == 0, done.stderr
    assert "The tests ask ../only_here.py:Newest" in done.stdout


def test_without_a_model_the_output_says_what_is_tested(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*INIT, "--ci", "none"]) == 0
    printed = capsys.readouterr().out
    assert "The tests ask itemknn about the data mini." in printed
    assert "To test your own, name it in pytest.ini" in " ".join(printed.split())
    assert all(len(line) <= 80 for line in printed.splitlines())


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", "[tool.pytest]\naddopts = ['-q']\n"),
        pytest.param(
            "pyproject.toml",
            "[tool.pytest.ini_options]\n",
            marks=pytest.mark.slow,
        ),
        pytest.param("pytest.toml", "[pytest]\n", marks=pytest.mark.slow),
        pytest.param("pytest.ini", "[pytest]\n", marks=pytest.mark.slow),
        pytest.param("setup.cfg", "[tool:pytest]\n", marks=pytest.mark.slow),
    ],
)
def test_the_lines_for_a_configuration_are_in_its_format(
    file: str,
    text: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path(file).write_text(text)
    assert main([*INIT, "openai:gpt-4o?temperature=0", "--ci", "none"]) == 0
    head, *lines = commands(capsys.readouterr().out)[:-2]
    assert text.startswith(f"{head}\n") or head == "[tool.pytest]"
    Path(file).write_text(text + "\n".join(lines) + "\n")
    done = run(folder, "OPENAI_API_KEY=none pytest --recsys-plan")
    assert "openai:gpt-4o?temperature=0" in done.stdout, done.stdout + done.stderr


def test_a_configuration_that_names_another_recommender_is_told(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("pytest.ini").write_text("[pytest]\nrecsys_model = mostpop\n")
    assert main([*INIT, "shop.py:Newest", "--ci", "none"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "It names 'mostpop' as recsys_model now" in printed
    assert printed.endswith("pytest --recsys-model=shop.py:Newest")


def test_a_configuration_that_has_all_needs_nothing(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("pytest.ini").write_text("[pytest]\nrecsys_model = shop.py:Newest\n")
    assert main([*INIT, "shop.py:Newest", "--ci", "none"]) == 0
    assert commands(capsys.readouterr().out) == ["pytest"]


def test_a_second_time_names_all_files_of_the_first(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*INIT, "itemknn"]) == 0
    written = re.findall("(?m)^wrote (.*)$", capsys.readouterr().out)
    assert main([*INIT, "itemknn"]) == 2
    error = capsys.readouterr().err
    assert "pytest.ini" in written
    assert all(name in error for name in written if name != "conftest.py")


@pytest.mark.parametrize("link", [".github", ".github/workflows"])
def test_nothing_is_written_through_a_link(
    link: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(link).parent.mkdir(exist_ok=True)
    Path(link).symlink_to(tmp_path / "elsewhere")
    assert main([*INIT, "itemknn"]) == 2
    assert f"{link} in '.' is a link" in capsys.readouterr().err
    assert not list((tmp_path / "elsewhere").iterdir())
    assert not Path("conftest.py").exists()


@pytest.mark.parametrize("ci", ["github", "gitlab", "jenkins"])
def test_a_name_reaches_the_shell_of_ci_as_it_is(ci: str, folder: Path) -> None:
    name = "$HOME `touch hacked` $(touch hacked) '\".csv"
    Path(name).write_text("user,item,rating\n1,2,3\n")
    Path("pytest.ini").write_text("[pytest]\n")
    assert main([*INIT, "itemknn", "--data", name, "--ci", ci]) == 0
    (command,) = ci_commands(folder, ci)
    done = run(folder, command.replace("pytest", r"printf '%s\n'", 1))
    assert f"--recsys-data={name}" in done.stdout.splitlines()
    assert not Path("hacked").exists()


@pytest.mark.parametrize("ci", ["github", "gitlab", "jenkins"])
def test_ci_installs_what_the_project_needs(ci: str, folder: Path) -> None:
    from tests.support.cli_starter import CI

    def installed(where: str) -> list[str]:
        Path(where).mkdir(exist_ok=True)
        assert main([*INIT, "itemknn", where, "--ci", ci]) == 0
        lines = (Path(where) / CI[ci]).read_text().splitlines()
        return [line.strip(" -") for line in lines if "pip install" in line]

    assert sum(line.startswith(("#", "//")) for line in installed("plain")) == 1
    Path("own").mkdir()
    Path("own/requirements.txt").write_text("flask\n")
    Path("own/pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (line,) = installed("own")
    assert 'pip install -r requirements.txt . "pytest-recsys-mt @ git+https://' in line
    Path("tools").mkdir()
    Path("tools/pyproject.toml").write_text("[tool.ruff]\n")
    assert not any("install ." in line for line in installed("tools"))


@pytest.mark.parametrize("arguments", [[*INIT, "itemknn"], ["--help"]])
def test_output_that_nobody_reads_is_no_error(
    arguments: list[str],
    folder: Path,
) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [Path(sys.executable).parent / "recsys-mt", *arguments],
        stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.stderr == ""
    assert done.returncode in ((0, 141) if arguments == ["--help"] else (141,)), (
        "argparse is silent"
    )


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(
    "there",
    ["recsys.toml", "test_recsys.py", ".github/workflows/recsys.yml"],
)
def test_nothing_is_overwritten_and_nothing_written_beside_it(
    there: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path(there).parent.mkdir(parents=True, exist_ok=True)
    Path(there).write_text("# mine\n")
    before = everything(folder)
    assert main([*INIT, "itemknn"]) == 2
    assert everything(folder) == before
    error = capsys.readouterr().err
    assert f"{there} exists in '.' already, and nothing is overwritten" in error


def test_a_conftest_of_ones_own_stays_and_is_no_obstacle(folder: Path) -> None:
    Path("conftest.py").write_text("# mine\n")
    assert main([*INIT, "itemknn"]) == 0
    assert Path("conftest.py").read_text() == "# mine\n"
    assert Path("recsys.toml").exists()


def test_a_link_to_nowhere_is_there_too(folder: Path) -> None:
    Path("conftest.py").symlink_to("/nowhere/conftest.py")
    assert main([*INIT, "itemknn"]) == 2
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
        (["nowhere.py:Shop", "new"], "there is no file 'nowhere.py'"),
        (["no/where.py:Shop", "new"], "/project/new/no' does not exist either"),
        (["shop", "new"], "name an object in it: 'shop.py:NAME'"),
        (["openai:gpt-${{ secrets.KEY }}"], "holds '${{': GitHub would expand it"),
        (
            ["itemknn", "--data", "${{ secrets.KEY }}.csv"],
            "holds '${{': GitHub would expand it",
        ),
        (
            ["itemknn", "--data", "x.csv\naddopts = -x"],
            "cannot be typed; write it in one line",
        ),
        (
            ["itemknn", "x\x1b[31m"],
            r"'x\x1b[31m' holds characters that cannot be typed",
        ),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(
    arguments: list[str],
    says: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {path for path in everything(folder) if "__pycache__" not in path}
    assert main([*INIT, *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "secret-77" not in error
    assert "\x1b" not in error
    assert not Path("new").exists(), "a folder that was made for nothing is removed"
    assert {path for path in everything(folder) if "__pycache__" not in path} == before


def test_an_unknown_system_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*INIT, "itemknn", "--ci", "travis"])
    assert "choose from" in capsys.readouterr().err


def test_the_policy_says_how_many_users_a_run_asks(folder: Path) -> None:
    assert main([*INIT, "itemknn", "--ci", "none"]) == 0
    said = " ".join(Path("recsys.toml").read_text().replace("# ", "").split())
    assert f"asks all of its --recsys-users ({Design().users}, " in said


def test_a_disk_that_is_full_leaves_nothing(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tests.support.cli_starter import starter
    from tests.support.safety import files

    whole = files.written_whole

    def full(path: Path, mode: int) -> Any:
        if path.name == "test_recsys.py":
            raise OSError(28, "No space left on device")
        return whole(path, mode)

    monkeypatch.setattr(starter, "written_whole", full)
    assert main([*INIT, "itemknn"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["shop.py"]


def test_a_recommender_whose_calls_may_cost_something_gets_one_test(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["init", "openai:gpt-4o?temperature=0", "--ci", "none"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "one test as an example (its calls may cost money or time)" in printed
    assert Path("test_recsys.py").read_text().count("def test_") == 1


@pytest.mark.slow(reason="a page that is followed shows it: quickstart.md")
def test_the_tests_of_any_other_are_written(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_recsys_mt.cli.starter.written.SECONDS", 1.0)
    assert main(["init", "shop.py:Strict", "project", "--ci", "none"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "holds tests that were written" in printed
    tests = Path("project/test_recsys.py").read_text()
    assert "@metamorphic(shuffle_candidates)" in tests
    assert tests.count("def test_") > 3


def test_where_none_can_be_written_the_one_stays(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The command itself needs half a minute.
    monkeypatch.setattr("pytest_recsys_mt.cli.starter.written.SECONDS", math.nan)
    assert main(["init", "shop.py:Newest", "--ci", "none"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "(recsys-mt write ended with 2, see above)" in printed
    assert Path("test_recsys.py").read_text().count("def test_") == 1
