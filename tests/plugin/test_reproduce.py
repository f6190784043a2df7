"""The command that a row carries shows the same verdict, with the same numbers."""

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import record_of

TEST = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

class TestShop:
    @metamorphic(scale_ratings(2), reorder_history)
    def test_ranking(self, source, followup):
        assert same_ranking(source, followup, margin=0.2)
"""
NUMBERS = ("relation", "oracle", "status", "model", "estimate", "interval", "floor", "users",
           "examples", "per_user")  # fmt: skip

Rows = dict[str, dict[str, Any]]
Again = Callable[[dict[str, Any]], dict[str, Any]]


def checked(row: dict[str, Any]) -> str:
    """The command of a row: one line, and nothing in it that would write a file."""
    command = str(row["reproduce"])
    assert len(command.splitlines()) == 1
    assert not any(word in command for word in ("-n2", "--junitxml", "--recsys-json"))
    return command


@pytest.fixture
def again(project: pytest.Pytester) -> Again:
    """Run the command of a row in this process; gives the row that it makes."""

    def run(row: dict[str, Any]) -> dict[str, Any]:
        path = project.path / "again.json"
        words = shlex.split(checked(row))
        project.runpytest_inprocess(
            *words[words.index("pytest") + 1 :],
            f"--recsys-json={path}",
        )
        (found,) = record_of(path)["results"]
        path.unlink()
        return dict(found)

    return run


@pytest.fixture
def again_in_a_shell(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> Again:
    """Run the command of a row as by hand; gives the row that it makes."""
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.delenv("PYTHONPATH", raising=False)

    def run(row: dict[str, Any]) -> dict[str, Any]:
        path = project.path / "again.json"
        # The command itself writes nothing; this is how we read what it found.
        monkeypatch.setenv("PYTEST_ADDOPTS", f"--recsys-json={path}")
        done = subprocess.run(
            checked(row),
            shell=True,
            capture_output=True,
            text=True,
            check=False,
        )
        assert path.exists(), done.stdout + done.stderr
        (found,) = record_of(path)["results"]
        path.unlink()
        return dict(found)

    return run


def run(project: pytest.Pytester, *arguments: str) -> Rows:
    """The rows of a run; by model and relation."""
    path = project.path / "first.json"
    # What looks for smaller examples asks until seconds are over; test_shrink has runs
    # of its own.
    project.runpytest_inprocess(
        f"--recsys-json={path}",
        "--recsys-shrink=0",
        *arguments,
    )
    return {
        f"{row['model']} {row['relation']}": row for row in record_of(path)["results"]
    }


def numbers(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in NUMBERS}


@pytest.mark.parametrize(
    "workers",
    [[], pytest.param(["-n2"], marks=pytest.mark.slow)],
    ids=["one process", "two workers"],
)
def test_two_models_and_settings_from_everywhere(
    project: pytest.Pytester,
    again: Again,
    again_in_a_shell: Again,
    workers: list[str],
) -> None:
    """From the command line, the ini file, an override of it, and the policy; the ids
    of two of the models differ by a number alone.
    """
    project.makeini(
        "[pytest]\nrecsys_k = 4\nrecsys_seed = 3\nrecsys_history = 7\nrecsys_replicates = 3\n",
    )
    (project.path / "recsys.toml").write_text("[gate]\ninconclusive = 'skip'\n")
    project.makepyfile(**{"release/test_shop": TEST})
    rows = run(
        project, "release", "--recsys-model=toys:ScaleSensitive", "--recsys-model=toys:Noisy",
        "--recsys-model=toys:ScaleSensitive?", "--recsys-users=12", "--recsys-k=10",
        "-o", "recsys_error_limit=0.5", "--recsys-cache=its answers", *workers,
    )  # fmt: skip
    violated = rows["toys:ScaleSensitive? scale_ratings(2)"]
    assert "ScaleSensitive-2-" in violated["nodeid"]
    unclear = rows["toys:Noisy scale_ratings(2)"]
    assert (violated["status"], unclear["status"]) == ("violated", "inconclusive")
    assert rows["toys:Noisy reorder_history"]["status"] == "inconclusive"
    for row in (violated, unclear):
        words = shlex.split(row["reproduce"])
        assert [word for word in words if "model" in word] == [
            f"--recsys-model={row['model']}",
        ]
        named = {
            "--recsys-seed=3",
            "--recsys-k=10",
            "--recsys-history=7",
            "--recsys-users=12",
        }
        named |= {
            "--recsys-cache=its answers",
            "recsys_error_limit=0.5",
            "--recsys-data=mini",
        }
        assert named <= set(words)
    assert numbers(again_in_a_shell(violated)) == numbers(violated)
    assert numbers(again(unclear)) == numbers(unclear)


def test_a_command_is_for_the_folder_that_the_run_began_in(
    project: pytest.Pytester,
    again: Again,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.makeini("[pytest]\nrecsys_users = 30\npythonpath = .\n")
    project.makepyfile(**{"release/deep/test_shop": TEST})
    monkeypatch.chdir(project.path / "release")
    row = run(project, "deep", "--recsys-model=toys:ScaleSensitive")[
        "toys:ScaleSensitive scale_ratings(2)"
    ]
    assert row["nodeid"].startswith("release/deep/")
    assert " 'deep/test_shop.py::TestShop::test_ranking[" in row["reproduce"]
    assert numbers(again(row)) == numbers(row)


def test_a_test_of_the_suites_is_found_by_its_module(
    project: pytest.Pytester,
    again: Again,
) -> None:
    rows = run(
        project, "--pyargs", "pytest_recsys_mt.suites.metamorphic", "-k", "scale_ratings",
        "--recsys-model=toys:ScaleSensitive", "--recsys-users=30",
    )  # fmt: skip
    row = next(row for row in rows.values() if row["status"] == "violated")
    assert (
        " --pyargs 'pytest_recsys_mt.suites.metamorphic.test_ratings::test_"
        in row["reproduce"]
    )
    assert numbers(again(row)) == numbers(row)


def test_a_recommender_that_a_fixture_gives_is_given_by_it_again(
    project: pytest.Pytester,
    again: Again,
) -> None:
    given = """
@pytest.fixture(params=["kept", "broken"])
def recommender(request):
    from toys import Faithful, ScaleSensitive
    return {"kept": Faithful, "broken": ScaleSensitive}[request.param]()
"""
    project.makepyfile(test_shop=TEST + given)
    rows = run(project, "--recsys-users=30")
    row = rows["fixture:ScaleSensitive[broken] scale_ratings(2)"]
    assert row["status"] == "violated"
    assert "--recsys-model" not in row["reproduce"]
    assert numbers(again(row)) == numbers(row)


KEPT = """
import pathlib
from toys import ScaleSensitive

class Kept(ScaleSensitive):
    '''Its answers outlive the run. It notes when it is asked, and may give some that cannot be kept.'''

    fingerprint = "one"
    silent = False

    def recommend(self, requests):
        pathlib.Path("asked").touch()
        answers = super().recommend(requests)
        if self.silent:
            from pytest_recsys_mt import Recommendation
            answers[0] = Recommendation(())
        return answers

class Silent(Kept):
    fingerprint = "two"
    silent = True
"""


@pytest.mark.parametrize(("name", "mode"), [("Kept", "replay"), ("Silent", "auto")])
def test_answers_that_are_all_kept_are_replayed(
    project: pytest.Pytester,
    again: Again,
    name: str,
    mode: str,
) -> None:
    project.makepyfile(kept=KEPT, test_shop=TEST)
    row = run(
        project,
        f"--recsys-model=kept:{name}",
        "--recsys-users=30",
        "--recsys-mode=refresh",
    )[f"kept:{name} scale_ratings(2)"]
    assert row["status"] == "violated"
    assert row["reproduce"].endswith(f" --recsys-mode={mode}")
    (project.path / "asked").unlink()
    found = again(row)
    assert numbers(found) == numbers(row)
    assert (project.path / "asked").exists() is (mode == "auto")


def test_a_baseline_decides_how_users_are_asked_and_one_test_is_not_compared(
    project: pytest.Pytester,
    again: Again,
) -> None:
    project.makepyfile(test_shop=TEST)
    options = ("--recsys-model=toys:Noisy", "--recsys-users=12", "-k", "scale")
    run(project, *options)
    (project.path / "first.json").rename(project.path / "base.json")
    (row,) = run(project, *options, "--recsys-baseline=base.json").values()
    assert row["status"] == "inconclusive"
    assert "--recsys-keep=baseline" in shlex.split(row["reproduce"])
    assert "--recsys-baseline" not in row["reproduce"]
    assert numbers(again(row)) == numbers(row)


SHOWN = {
    "toys:Keyed?api_key=s3cret": False,
    "toys:Keyed?token=s3cret": False,
    "toys:Keyed?max_tokens=5": True,
    "toys:Keyed?monkey=5": True,
}


def test_a_spec_with_a_key_makes_no_command(project: pytest.Pytester) -> None:
    text = (project.path / "toys.py").read_text()
    project.makepyfile(
        toys=f"{text}\nclass Keyed(ScaleSensitive):\n"
        "    def __init__(self, api_key='', token='', max_tokens='', monkey=''): ...\n",
        test_shop=TEST,
    )
    project.runpytest_inprocess(
        *(f"--recsys-model={spec}" for spec in SHOWN),
        "--recsys-users=30", "--recsys-json=first.json", "--recsys-shrink=0", "-k", "scale_ratings",
    )  # fmt: skip
    rows = record_of(project.path / "first.json")["results"]
    assert [row["status"] for row in rows] == ["violated"] * len(SHOWN)
    assert {row["model"]: bool(row["reproduce"]) for row in rows} == SHOWN
    assert all("s3cret" not in row["reproduce"] for row in rows)


def test_every_report_shows_it(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    project.makepyfile(test_shop=TEST)
    result = project.runpytest_inprocess(
        "--recsys-model=toys:ScaleSensitive", "--recsys-users=30", "--recsys-json=first.json",
        "--junitxml=junit.xml", "--recsys-html=report.html", "--recsys-shrink=0",
    )  # fmt: skip
    rows = record_of(project.path / "first.json")["results"]
    (command,) = [row["reproduce"] for row in rows if row["reproduce"]]
    assert command in result.stdout.lines, "alone in its line, to be copied"
    cases = ElementTree.parse(project.path / "junit.xml").iter("testcase")
    texts = [[str(part.text) for part in case if part.text] for case in cases]
    assert [all(command in text for text in parts) for parts in texts].count(True) == 1
    escaped = command.replace("'", "&#39;")
    assert escaped in (project.path / "report.html").read_text(encoding="utf-8")
    summary = (project.path / "summary.md").read_text(encoding="utf-8")
    assert command.replace("'", "&#x27;") in summary
