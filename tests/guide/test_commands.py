"""Every command of the documentation is run, or stands below with the reason why not."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.guide.commands import Line, lines_of, pages
from tests.support.cli import main, read_arguments
from tests.support.engine import every_option

RUN_ELSEWHERE = {
    "docs/journeys/recorded-in-ci.md": "they are in a file of the story, which runs it",
}
NOT_RUN = {
    r"pip install (\.|'(pytest-recsys-mt|\.)\[\w+\]'|-e \.)$": "scripts/check-wheel installs the wheel",
    r"pip install '(litellm\[proxy|transformers\[serving)\]'$|litellm ": "another project's server",
    r"SHOP_TOKEN=\S+ python examples/http_server\.py": "it ends when it is stopped; tests/recommenders starts it",
    r"ray start ": "a cluster; tests/remote starts one on this machine",
    r"pip install implicit$|scripts/(libraries|findings)\b": "tests/libraries runs them in environments of their own",
    r"export \w+=": "sets the variables of the next command",
    r"python scripts/docs_pages\.py$": "tests/ci/test_docs_site.py compares what it writes with what is committed",
    r"scripts/test$|scripts/coverage$|\.ci/(run|users)$|scripts/setup --light$|pipx run pre-commit install$": "CI itself, or its parts",
    r"\.venv/bin/(ruff|mypy)": "CI itself, or its parts",
    r"(\.venv/bin/python -m )?pytest tests": "the tests themselves",
    r"scripts/density$": "it prints a table of the source, which nothing depends on",
    r".*tests/arena/judges\.py": "in a clone, with data that are downloaded",
    r"python -m tests\.hostile$": "minutes; tests/hostile has each of its rows",
    r"python (-m benchmarks\.|benchmarks/)": "minutes to hours of measuring",
}  # fmt: skip
WORLD = {
    "shop.py": (
        "from pytest_recsys_mt.recommenders import resolve\n\n\n"
        "def Shop():\n    return resolve('itemknn')\n\n\nNewest = Ranker = Shop\n"
    ),
    "implicit_models.py": (
        "from pytest_recsys_mt.recommenders import resolve\n\n\ndef Als():\n    return resolve('itemknn')\n"
    ),
    "my_judge.py": "class Judge:\n    def judge(self, comparisons):\n        raise AssertionError\n",
    "test_shop.py": (
        "from pytest_recsys_mt import metamorphic\n"
        "from pytest_recsys_mt.oracles import same_ranking\n"
        "from pytest_recsys_mt.relations import scale_ratings\n\n\n"
        "@metamorphic(scale_ratings(2))\n"
        "def test_ranking(source, followup):\n    assert same_ranking(source, followup)\n"
    ),
    "test_wire.py": (
        "from pytest_recsys_mt import metamorphic\n"
        "from pytest_recsys_mt.oracles import same_ranking\n"
        "from pytest_recsys_mt.relations import reorder_history\n\n\n"
        "@metamorphic(reorder_history)\n"
        "def test_ranking(source, followup):\n    assert same_ranking(source, followup)\n"
    ),
    "answers.jsonl": json.dumps(
        {
            "user": "ann",
            "history": ["Fargo (1996)"],
            "candidates": ["Heat (1995)", "Alien (1979)"],
            "target": "Alien (1979)",
            "text": "1. Heat",
        },
    )
    + "\n",
    "models/mine/config.json": "{}",
    "models/mine.Q4_K_M.gguf": "GGUF",
}
LISTS = """
import json, os, sys
import pytest
import pytest_recsys_mt.oracles, pytest_recsys_mt.plugin.preflight, pytest_recsys_mt.relations  # once

for number, words in enumerate(json.load(sys.stdin)):
    if os.fork() == 0:
        said = os.open(f"said-{number}.txt", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(sys.argv[1])
        status = pytest.main(["-p", "no:cacheprovider", "--recsys-list", *words])
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
ALL = [line for page in pages() for line in lines_of(page)]


def reason(line: Line) -> str:
    """Why a command is not run here; empty if it is."""
    found = (told for pattern, told in NOT_RUN.items() if re.match(pattern, line.text))
    return RUN_ELSEWHERE.get(line.page) or next(found, "")


HERE = list({line.text: line for line in ALL if not reason(line)}.values())
PYTEST = [line for line in HERE if line.words[0] == "pytest"]
PROGRAM = [line for line in HERE if line.words[0] == "recsys-mt"]


def test_every_command_is_run_or_has_a_reason() -> None:
    assert set(HERE) == {*PYTEST, *PROGRAM}
    assert len(PYTEST) > 25
    for pattern in NOT_RUN:
        assert any(re.match(pattern, line.text) for line in ALL), (
            f"no page has {pattern}"
        )
    assert set(RUN_ELSEWHERE) <= {line.page for line in ALL}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages' commands name, and a home with a model."""
    folder = tmp_path_factory.mktemp("world")
    for name, text in WORLD.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    assert not main(
        [
            "questions",
            str(folder / "questions.jsonl"),
            "--kind",
            "genre",
            "--count",
            "2",
        ],
    )
    made = [
        "test_shop.py",
        "--recsys-model=shop.py:Ranker",
        "--recsys-json=baseline.json",
    ]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *made],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def listed(
    world: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[int, str]]:
    """How each command ends with `--recsys-list`, and what it
    prints; all of one process, to save time.
    """
    commands = [
        Line(line.page, re.sub(r"\$\(date [^)]*\)", "26001", line.text)).words[1:]
        for line in PYTEST
    ]
    folder = tmp_path_factory.mktemp("listed")
    done = subprocess.run(
        [sys.executable, "-c", LISTS, str(world)],
        cwd=folder, check=True, input=json.dumps(commands), capture_output=True, text=True,
        env={**os.environ, "HOME": str(world)},
    )  # fmt: skip
    said = (folder / f"said-{number}.txt" for number in range(len(commands)))
    ends = zip(
        map(int, done.stdout.split()),
        (each.read_text() for each in said),
        strict=True,
    )
    return dict(zip((line.text for line in PYTEST), ends, strict=True))


def test_every_option_in_the_documentation_exists() -> None:
    known = {option.switch for option in every_option()}
    known.add("--recsys-period")  # of examples/own_suite
    for page in pages():
        named = set(re.findall(r"--recsys-[a-z-]+\b", page.read_text(encoding="utf-8")))
        assert named <= known, (page.name, named - known)


def test_every_suite_of_a_command_exists() -> None:
    suites = {
        word
        for line in ALL
        for word in line.words
        if word.startswith("pytest_recsys_mt.")
    }
    assert len(suites) > 4
    assert all(find_spec(suite) for suite in suites)
    for line in PYTEST:
        selected = [
            word
            for word in line.words
            if word.startswith(("suites", "pytest_recsys_mt."))
        ]
        assert bool(selected) == ("--pyargs" in line.words), line.text


@pytest.mark.slow
@pytest.mark.parametrize("line", PYTEST, ids=lambda line: line.text)
def test_a_command_selects_tests(
    line: Line,
    listed: dict[str, tuple[int, str]],
) -> None:
    """With `--recsys-list`, which asks nothing: options
    and selection are those of the page.
    """
    status, said = listed[line.text]
    assert status == 0, said
    assert re.search(r"\d+ relations|nothing was asked", said), said


@pytest.mark.parametrize("line", PROGRAM, ids=lambda line: line.text)
def test_a_command_of_the_program_is_one(
    line: Line,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = read_arguments(line.words[1:])
    assert callable(given.command)
