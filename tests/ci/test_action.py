"""The GitHub Action runs as GitHub would run it: its steps with
bash, in order, for a job on a pull request.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.github import TOKEN, GitHub
from tests.extras import need
from tests.journeys.pages import DOCS, FOREIGN

ROOT = DOCS.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
PAGE = DOCS / "ci.md"
SHOP = '''
from pytest_recsys_mt import Recommendation
from pytest_recsys_mt.recommenders import resolve

class Sound:
    """Reads nothing but the candidates."""
    deterministic = True
    fingerprint = "sound"
    turned = False

    def recommend(self, requests):
        return [self.one(request) for request in requests]

    def one(self, request):
        turn = self.turned and request.scale.high != 5
        return Recommendation(tuple(sorted((i.id for i in request.candidates), reverse=turn)[: request.k]))

def Ranker():
    return resolve("itemknn")

class Broken(Sound):
    """Turns its list round where the scale is not the usual one."""
    fingerprint = "broken"
    turned = True
'''
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


@dataclass
class Runner:
    """GitHub's runner: a folder with a checkout, and the caches of its repository.

    Attributes:
        path: Of the runner; the checkout is below it.
        github: Whose pull request it works on.
        secrets: What the workflow gives the step in its environment.
        action: Where the action's own checkout is.
        log: What the last run printed.
        number: Of the last run.
        branch: That the job runs for.
    """

    path: Path
    github: GitHub
    secrets: dict[str, str] = field(default_factory=dict)
    action: Path = ROOT
    log: str = ""
    number: int = 0
    branch: str = "7/merge"

    @property
    def folder(self) -> Path:
        return self.path / "checkout"

    def use(self, *left_out: str, **given: str) -> int:
        """Run the action with inputs, but for some of its steps;
        gives the status of the step that uses it.
        """
        defaults = {name: each["default"] for name, each in ACTION["inputs"].items()}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert given.keys() <= defaults.keys()
        self.number += 1
        self.log = ""
        contexts: dict[str, Any] = {
            "inputs": {**defaults, **given},
            "github": {
                "token": TOKEN,
                "run_id": f"{1000 + self.number}",
                "run_attempt": "1",
                "ref_name": self.branch,
            },
            "steps": {},
        }
        failed = 0
        for step in STEPS:
            if step["name"] in left_out or not wanted(step, contexts, failed):
                continue
            if "uses" in step:
                settings = {
                    k: filled(v, contexts) for k, v in step.get("with", {}).items()
                }
                self._uses(step["uses"], settings)
                continue
            status = self._shell(step, contexts)
            failed = failed or status
        return failed

    def _shell(self, step: Mapping[str, Any], contexts: dict[str, Any]) -> int:
        shell = {
            name: value
            for name, value in os.environ.items()
            if not FOREIGN.fullmatch(name)
        }
        environment = {
            **shell,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.path),
            "CI": "true",
            **self.secrets,
            **self.github.variables(self.path),
            "GITHUB_ACTION_PATH": str(self.action),
            **{
                name: filled(text, contexts)
                for name, text in step.get("env", {}).items()
            },
        }
        (self.path / "output.txt").write_text("", encoding="utf-8")
        (self.path / "step.sh").write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(self.path / "step.sh")],
            cwd=self.folder, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
        )  # fmt: skip
        self.log += done.stdout
        outputs = (self.path / "output.txt").read_text(encoding="utf-8").splitlines()
        if "id" in step:
            found = dict(line.split("=", 1) for line in outputs)
            contexts["steps"][step["id"]] = {"outputs": found}
        return done.returncode

    def _uses(self, action: str, settings: Mapping[str, str]) -> None:
        """What the actions of others do, as their documentation has it."""
        name = action.partition("@")[0]
        caches = self.path / "caches"
        if name == "actions/cache/save" and (self.folder / settings["path"]).exists():
            assert not re.search(r"[,\s]", settings["key"])
            shutil.copytree(self.folder / settings["path"], caches / settings["key"])
        elif name == "actions/cache/restore":
            found = sorted(caches.glob(f"{settings['restore-keys']}*"))
            if found:
                shutil.copytree(
                    found[-1],
                    self.folder / settings["path"],
                    dirs_exist_ok=True,
                )

    def summary(self) -> str:
        return (self.path / "summary.md").read_text(encoding="utf-8")

    def record(self) -> dict[str, Any]:
        path = self.folder / "recsys-report" / "record.json"
        return dict(json.loads(path.read_text(encoding="utf-8")))


def filled(text: str, contexts: Mapping[str, Any]) -> str:
    """A text with its expressions, each one name of a context."""

    def value(found: re.Match[str]) -> str:
        here: Any = contexts
        for name in found[1].strip().split("."):
            here = (
                here[name] if name in here else {} if name != found[1].strip() else ""
            )
        return here if isinstance(here, str) else ""

    return EXPRESSION.sub(value, text)


def wanted(step: Mapping[str, Any], contexts: Mapping[str, Any], failed: int) -> bool:
    """Whether a step runs: its condition is made of ``&&``, comparisons with texts, and
    the functions of status.
    """
    condition = step.get("if", "success()")
    condition = EXPRESSION.sub(r"\1", condition)
    functions = {"always()": True, "!cancelled()": True, "success()": not failed}
    terms = [term.strip() for term in condition.split("&&")]
    values = [] if any(term in functions for term in terms) else [not failed]
    for term in terms:
        if term in functions:
            values.append(functions[term])
            continue
        found = re.fullmatch(r"([\w.-]+) (==|!=) '(\w*)'", term)
        assert found is not None, term
        equal = filled(f"${{{{ {found[1]} }}}}", contexts) == found[3]
        values.append(equal == (found[2] == "=="))
    return all(values)


@pytest.fixture
def runner(tmp_path: Path, github: GitHub) -> Runner:
    made = Runner(tmp_path, github, {"OPENAI_API_KEY": "sk-of-the-shop"})
    made.folder.mkdir()
    (made.folder / "shop.py").write_text(SHOP, encoding="utf-8")
    (made.folder / "test_shop.py").write_text(TEST, encoding="utf-8")
    return made


OWN: dict[str, str] = {"suites": "test_shop.py", "args": "--recsys-users=30"}
INSTALL = "Install the package"


@pytest.mark.slow
def test_one_comment_for_each_model_says_what_its_last_run_came_to(
    runner: Runner,
    github: GitHub,
) -> None:
    assert runner.use(INSTALL, model="shop.py:Sound", **OWN) == 0, runner.log
    first = runner.record()
    shutil.rmtree(runner.folder / ".recsys")
    assert runner.use(INSTALL, model="shop.py:Sound", **OWN) == 0, runner.log
    second = runner.record()
    assert first["calls"]["made"] == second["calls"]["cached"] > 0
    assert second["calls"]["made"] == 0
    (sound,) = github.comments
    assert "## recsys-mt: gate passed" in sound["body"]
    assert f"changed the comment {sound['html_url']}" in runner.log
    files = sorted(path.name for path in (runner.folder / "recsys-report").iterdir())
    assert files == ["junit.xml", "record.json", "report.html"]

    (runner.folder / "rules.toml").write_text(
        "[gate]\nmargin = 0.1\n",
        encoding="utf-8",
    )
    assert runner.use(INSTALL, model="shop.py:Broken", policy="rules.toml", **OWN) == 1
    assert "gate: failed; 1 violated (scale_ratings(2))" in runner.log
    _, broken = github.comments
    assert "## recsys-mt: gate failed" in broken["body"]
    assert "* **violated** scale" in broken["body"]
    assert re.findall(r"## recsys-mt: gate (\w+)", runner.summary()) == [
        "passed",
    ] * 2 + ["failed"]
    assert len(list((runner.path / "caches").iterdir())) == 3, (
        "kept though the gate failed"
    )

    # A run that cannot begin leaves neither the old verdict nor the old files.
    (runner.folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --no-such\n",
        encoding="utf-8",
    )
    assert runner.use(INSTALL, model="shop.py:Broken", policy="rules.toml", **OWN) == 4
    assert "## recsys-mt: no result" in broken["body"]
    assert "gate passed" in sound["body"]
    assert list((runner.folder / "recsys-report").iterdir()) == []
    # Jobs that test the same in another way have a comment each.
    (runner.folder / "pytest.ini").unlink()
    assert runner.use(INSTALL, model="shop.py:Sound", name="old_python", **OWN) == 0
    assert len(github.comments) == 3
    everything = [runner.log, runner.summary(), sound["body"], broken["body"]]
    assert not any(
        key in text for key in (TOKEN, "sk-of-the-shop") for text in everything
    )


@pytest.mark.parametrize(
    "model",
    ["Broken", pytest.param("Sound", marks=pytest.mark.slow)],
)
def test_a_fork_without_a_token_that_writes_has_the_summary(
    model: str,
    runner: Runner,
    github: GitHub,
) -> None:
    github.writable = False
    runner.secrets.clear()
    status = runner.use(INSTALL, model=f"shop.py:{model}", **OWN)
    assert (status != 0) == (model == "Broken")
    assert github.comments == []
    assert f"## recsys-mt: gate {'failed' if status else 'passed'}" in runner.summary()
    (told,) = re.findall(
        r"(?m)^    (recsys-mt: no comment.*)$",
        PAGE.read_text(encoding="utf-8"),
    )
    assert told in runner.log
    assert told in runner.summary()


def test_nothing_in_an_input_is_run(runner: Runner) -> None:
    evil = "\"'; touch pwned; $(touch pwned) `touch pwned` #"
    chosen = ("comment", "python-version")
    given = {
        name.replace("-", "_"): evil for name in ACTION["inputs"] if name not in chosen
    }
    assert runner.use(**given) != 0
    assert runner.use(INSTALL, **given) != 0
    assert "No closing quotation" in runner.log, (
        "pytest read the arguments, not a shell"
    )
    assert runner.use(INSTALL, **{**given, "args": ""}) != 0
    assert not list(runner.path.rglob("pwned"))


@pytest.mark.slow  # gate/test_store accepts runs, and compares others with them
def test_pull_requests_are_compared_with_the_last_run_of_a_branch(
    runner: Runner,
) -> None:
    own = {**OWN, "args": "--recsys-users=80", "baseline": "main"}
    assert runner.use(INSTALL, model="shop.py:Sound", **own) == 0, (
        "nothing to compare with yet"
    )
    assert "::warning::no run of the branch main is a baseline yet" in runner.log
    runner.branch = "main"
    assert runner.use(INSTALL, model="shop.py:Sound", **own) == 0, runner.log
    assert "run 2 is the baseline of shop.py:Sound now" in runner.log
    runner.branch = "8/merge"
    shutil.rmtree(runner.folder / ".recsys")
    shop = runner.folder / "shop.py"
    worse = SHOP.replace("turned = False", "turned = True").replace(
        '"sound"',
        '"sound-2"',
    )
    shop.write_text(worse, encoding="utf-8")
    assert runner.use(INSTALL, model="shop.py:Sound", **own) == 1
    assert "REGRESSED" in runner.log
    assert "shop.py:Sound against shop.py:Sound of run 2" in runner.log
    assert (
        "NEW   scale_ratings(2) of shop.py:Sound: holds in run 2, violated now"
        in runner.log
    )
    runner.branch = "main"
    assert runner.use(INSTALL, model="shop.py:Sound", **own) == 1
    assert "is the baseline" not in runner.log


@pytest.mark.slow
def test_the_action_installs_itself(runner: Runner, tmp_path: Path) -> None:
    """From its own checkout, into a Python that has what the
    package needs, and not the package.
    """
    left_out = shutil.ignore_patterns(
        ".*",
        "tests",
        "docs",
        "benchmarks",
        "build",
        "*.egg-info",
    )
    runner.action = tmp_path / "action"
    shutil.copytree(ROOT, runner.action, ignore=left_out, symlinks=True)
    python = tmp_path / "python"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(python)],
        check=True,
    )
    (site,) = python.glob("lib/python*/site-packages")
    # Behind the folder of this Python, so that what is installed there comes first.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "needed.pth").write_text("\n".join(here), encoding="utf-8")
    runner.secrets |= {
        "PATH": f"{python / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", # turns isolation off,
    }  # fmt: skip
    assert runner.use(model="shop.py:Sound", **OWN) == 0, runner.log
    assert (site / "pytest_recsys_mt" / "suites" / "metamorphic").is_dir()
    assert (python / "bin" / "recsys-mt").is_file()


def test_no_expression_stands_in_a_shell_and_every_action_has_a_version() -> None:
    assert ACTION["runs"]["using"] == "composite"
    used = set()
    for step in STEPS:
        texts = [
            *step.get("env", {}).values(),
            *step.get("with", {}).values(),
            step.get("if", ""),
        ]
        used |= set(re.findall(r"inputs\.([\w-]+)", " ".join(texts)))
        if "run" in step:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
            assert ("GITHUB_TOKEN" in step["env"]) == (
                "recsys-mt comment" in step["run"]
            )
        else:
            assert re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"])
    assert used == set(ACTION["inputs"])
    assert all(each["description"] for each in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))  # fmt: skip


def example() -> dict[str, Any]:
    """The workflow of the page."""
    text = PAGE.read_text(encoding="utf-8")
    workflow = re.findall(r"```yml\n(name:.*?)```", text, re.DOTALL)[0]
    return dict(yaml.safe_load(workflow))


def test_the_page_shows_the_inputs_that_the_action_has() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## The GitHub Action")[2]
    text = text.partition("\n## ")[0]
    table = dict(re.findall(r"(?m)^\| `([\w-]+)` \|(?: `([^|`]*)`)? \|", text))
    assert table == {name: each["default"] for name, each in ACTION["inputs"].items()}
    for name in ACTION["outputs"]:
        assert f"`{name}`" in text
    workflow = example()
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    place = project["urls"]["Repository"].removeprefix("https://github.com/")
    uses = [
        step["uses"] for step in workflow["jobs"]["promises"]["steps"] if "uses" in step
    ]
    assert f"{place}@v{project['version']}" in uses


@pytest.mark.slow
def test_the_example_of_the_page_runs(runner: Runner, github: GitHub) -> None:
    (step,) = (
        each
        for each in example()["jobs"]["promises"]["steps"]
        if "recsys" in each.get("uses", "")
    )
    (runner.folder / "tests").mkdir()
    (runner.folder / "tests" / "promises").mkdir()
    shutil.move(runner.folder / "test_shop.py", runner.folder / "tests" / "promises")
    given = {name.replace("-", "_"): value for name, value in step["with"].items()}
    assert runner.use(INSTALL, **given) == 0, runner.log
    assert {row["suite"] for row in runner.record()["results"]} == {
        "metamorphic",
        "promises",
    }
    assert len(github.comments) == 1


@pytest.mark.parametrize("kind", ["action", "workflow"])
def test_the_files_are_as_github_describes_them(kind: str, tmp_path: Path) -> None:
    need("check_jsonschema")
    path = ROOT / "action.yml"
    if kind == "workflow":
        path = tmp_path / "recommender.yml"
        path.write_text(
            json.dumps(example()).replace('"true":', '"on":'),
            encoding="utf-8",
        )
    schema = {"action": "vendor.github-actions", "workflow": "vendor.github-workflows"}[
        kind
    ]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
