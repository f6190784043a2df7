"""`recsys-mt mutate`: which faults a suite finds, what it would cost, and that a
stopped command goes on.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_planting import COUNTING, TESTS
from tests.support.cli import main

FAILING = """

def test_it_fails_without_a_fault():
    assert False


def test_it_asks_nobody():
    assert True
"""
FAULTS = ("repeats:1", "minds_the_wording:1", "popular:0.75")


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytester.makepyfile(counting=COUNTING, test_shop=TESTS + FAILING)
    monkeypatch.chdir(pytester.path)
    return pytester.path


def mutate(project: Path, *options: str) -> int:
    return main(
        [
            "mutate",
            "--json",
            "found.json",
            "--html",
            "found.html",
            *options,
            "-p",
            "no:cacheprovider",
            "-k",
            "not nothing",
            "--recsys-model=counting.py:Counting",
            "--recsys-users=60",
            "--recsys-shrink=0",
            f"--recsys-cache={project / 'cache'}",
        ],
    )


def found_in(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / "found.json").read_text())
    return found


def test_a_fault_that_the_tests_find_is_killed(
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert mutate(project, "--faults", "repeats:1") == 0
    found = found_in(project)
    (trial,) = found["trials"]
    assert (trial["fault"], trial["fate"]) == ("repeats:1", "killed")
    assert "test_shop.py::test_it_fails_without_a_fault" in found["left_out"]
    shown = capsys.readouterr()
    assert "score: 100.0%" in shown.out
    assert "1/1" in shown.err


SHORT = (
    "--recsys-model=counting.py:Counting",
    "--recsys-users=60",
    "--recsys-shrink=0",
    "--recsys-cache=no",
)


@pytest.mark.parametrize(
    "given",
    [
        ("--", "tests", *SHORT),
        pytest.param((*SHORT, "--", "tests"), marks=pytest.mark.slow),  # a variant
        pytest.param(("-q", "tests", *SHORT), marks=pytest.mark.slow),  # without any
    ],
    ids=["all-behind", "folder-behind", "without"],
)
def test_faults_are_planted_with_a_folder_behind_two_hyphens(
    project: Path,
    given: tuple[str, ...],
) -> None:
    (project / "tests").mkdir()
    (project / "test_shop.py").rename(project / "tests" / "test_shop.py")
    assert (
        main(["mutate", "--json", "found.json", "--faults", "repeats:1", *given]) == 0
    )
    (trial,) = found_in(project)["trials"]
    assert trial["fate"] == "killed"


REFUSES = """
import pytest


def pytest_configure(config):
    if config.getini("recsys_fault"):
        pytest.exit("no faults here")
"""


def test_it_stops_at_once_if_no_fault_can_be_planted(
    project: Path,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytester.makeconftest(REFUSES)
    chosen = [
        option for fault in ("repeats", "popular") for option in ("--faults", fault)
    ]
    assert main(["mutate", "--json", "found.json", *chosen, *SHORT]) == 2
    said = capsys.readouterr().err
    assert "3/5" in said
    assert "4/5" not in said
    assert "none of the first 3 faults could be planted" in said
    assert "its run gave no record; pytest said:" in said
    assert "take `--` out of addopts" in said
    assert not (project / "found.json").exists()


@pytest.mark.slow  # the other fates, and a second time
def test_it_says_what_the_tests_find(
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = [option for fault in FAULTS for option in ("--faults", fault)]
    assert mutate(project, *chosen) == 0
    found = found_in(project)
    assert found["schema"] == "recsys-mt-adequacy/1"
    assert {trial["fault"]: trial["fate"] for trial in found["trials"]} == {
        "repeats:1": "killed",
        "minds_the_wording:1": "equivalent",
        "popular:0.75": "survived",
    }
    (score,) = found["scores"]
    assert (score["killed"], score["faults"], score["equivalent"]) == (1, 2, 1)
    assert "test_shop.py::test_it_fails_without_a_fault" in found["left_out"]
    assert "test_shop.py::test_it_asks_nobody" in found["tests"]
    shown = capsys.readouterr()
    assert "score: 50.0%" in shown.out
    assert "@metamorphic(swap_history)" in shown.out, (
        "what would find the survivor, ready to paste"
    )
    assert "3/3" in shown.err
    assert "popular:0.75" in (project / "found.html").read_text()

    # Once more: the runs that are done are kept, and a higher demand fails.
    assert mutate(project, *chosen, "--at-least", "0.9") == 1
    assert capsys.readouterr().err.count("(kept)") == 3
    assert {**found_in(project), "seconds": 0} == {**found, "seconds": 0}


@pytest.mark.slow  # three runs more, for the tests alone
def test_other_tests_keep_nothing(
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mutate(project, "--faults", "repeats:1")
    # By a margin.
    wider = (project / "test_shop.py").read_text().replace("margin=0.1", "margin=0.9")
    (project / "test_shop.py").write_text(wider)
    mutate(project, "--faults", "repeats:1")
    assert "(kept)" not in capsys.readouterr().err


@pytest.mark.slow  # a variant of test_it_says_what_the_tests_find
def test_a_run_that_ends_at_the_first_kill_is_not_ended_by_what_fails_anyway(
    project: Path,
) -> None:
    (project / "test_shop.py").write_text(FAILING + TESTS)
    mutate(project, "--first-kill", "--faults", "repeats:1")
    (trial,) = found_in(project)["trials"]
    assert trial["fate"] == "killed"


@pytest.mark.slow  # test_it_says_what_the_tests_find has both
def test_what_no_test_looks_at_is_missed_and_not_equivalent(
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (project / "test_shop.py").write_text(
        "from pytest_recsys_mt.oracles import no_repeats\n\n\n"
        "def test_repeats(recsys):\n    assert no_repeats(recsys.run(), margin=0.1)\n",
    )
    names = (
        "minds_the_depth:1",
        "counts_repeats:1",
        "reads_raw_numbers:1",
        "minds_the_wording:1",
    )
    assert (
        mutate(project, *(option for name in names for option in ("--faults", name)))
        == 0
    )
    found = found_in(project)
    assert {
        trial["fault"]: (trial["fate"], trial["reason"]) for trial in found["trials"]
    } == {
        "minds_the_depth:1": ("survived", "it shows only where no test looks"),
        "counts_repeats:1": ("survived", "it shows only where no test looks"),
        "reads_raw_numbers:1": ("survived", "it shows only where no test looks"),
        "minds_the_wording:1": ("equivalent", "none of 30 answers differs"),
    }
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "it shows only where no test looks: there it changes 100% of 20 answers" in said
    )


@pytest.mark.slow  # plans have tests of their own
def test_a_plan_asks_nothing(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        mutate(project, "--plan", "--faults", "latest_only", "--faults", "repeats") == 0
    )
    said = " ".join(capfd.readouterr().out.split())
    assert "6 faults: 3 change answers only" in said
    assert "3 change requests, and ask at the most 120 each: 360" in said
    assert not (project / "asked.log").exists()


def test_faults_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", "--list"]) == 0
    shown = capsys.readouterr().out
    assert "latest_only:3  reads only the last 3 ratings" in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def test_it():\n    assert True\n", "pytest said: ===* 1 passed"),
        (
            "from counting import Shpo\n",
            "pytest said: ImportError: cannot import name 'Shpo'",
        ),
    ],
)
@pytest.mark.slow  # messages alone
def test_without_a_verdict_there_is_nothing_to_try(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    said: str,
) -> None:
    (project / "test_shop.py").write_text(text)
    assert mutate(project, "--faults", "stale") == 2
    assert re.search(f"the tests gave no verdict .*{said}", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--faults", "stael"], "did you mean 'stale'"),
        (["--jobs", "0"], "whole number from 1"),
    ],
)
def test_a_wrong_option_is_named(
    options: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        status = main(["mutate", *options])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert said in capsys.readouterr().err


OWN = """
from pytest_recsys_mt.faults import Fault


class Raises(Fault):
    does = "raises"

    def answer(self, request, items):
        raise RuntimeError("boom")


class Numbers(Fault):
    does = "answers with numbers"

    def answer(self, request, items):
        return (1, {})


class Braces(Fault):
    does = "removes {nosuch}"


class Words(Fault):
    does = "is strong by words"
    strengths = ("much",)
"""


@pytest.mark.slow  # test_planting names what breaks
def test_an_own_fault_that_breaks_is_named_and_not_the_tests(
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (project / "own.py").write_text(OWN)
    assert mutate(project, "--faults", "own.py:Raises", "--faults", "own:Numbers") == 1
    reasons = [trial["reason"] for trial in found_in(project)["trials"]]
    assert "no answer passed through it: RuntimeError: boom" in reasons[0]
    assert "the fault 'own:Numbers' put 1 into its answer; items are ids" in reasons[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["--faults", "own.py:Braces"],
            "`does` ('removes {nosuch}') a text in which only",
        ),
        (
            ["--faults", "own.py:Words"],
            "`strengths` (('much',)) must be numbers above 0",
        ),
        (["--faults", "own.py:Wrods"], "has no 'Wrods'; did you mean 'Words'?"),
        (["--faults", "nowhere:Raises"], "name it FILE.py:CLASS, or MODULE:CLASS"),
        (
            ["--faults", "first_place:abc"],
            "'abc' is no strength; first_place has 1, 3, 5",
        ),
        (["--recsys-plan"], "its own --plan tells"),
        (["--recsys-json=mine.json"], "its own --json writes one file"),
        pytest.param(
            ["--recsys-max-calls=1"],
            "so none can find one (verdicts: 2 inconclusive)",
            marks=pytest.mark.slow,  # it runs the tests
        ),
        (["--folder=own.py"], "--folder='own.py' cannot be made or written"),
        (["-x"], "its own --first-kill"),
    ],
)
def test_what_cannot_be_planted_is_refused_before_the_first_run(
    project: Path,
    given: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (project / "own.py").write_text(OWN)
    (project / "test_shop.py").write_text(TESTS)
    assert mutate(project, *given) == 2
    assert said in capsys.readouterr().err
    assert not (project / "found.json").exists()


def test_other_commands_know_their_own_arguments_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["cache", "stats", "--no-such-option"])
    assert "unrecognized arguments: --no-such-option" in capsys.readouterr().err
