"""Whatever servers, users' code and titles say, no line that we
write is a command to the reader of a CI log.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.requests import Entry, Recommendation
from tests.hostile.runs import run
from tests.hostile.server import Ask, HostileServer, good, response
from tests.support.calls import Readings
from tests.support.cli import main

COMMANDS = (
    "::error::x\n  ::add-mask::y ##[error]z ##vso[task.setvariable variable=a]b ##teamcity[testFailed name='a']\n"
    "section_start:1:a\r\x1b[0Kb \x1b[8mha:////4AAA\x1b[0m \x1b_bk;t=1\x07 \x1b]1338;url=x\x07\n"
    "--- a\n+++ a\n~~~ a\n^^^ +++\n##vso[task.complete]"
)
LIVE = re.compile(
    r"^\s*::[A-Za-z]|##\w*\[|\r\x1b\[0K|\x1b\[8mha:|\x1b_bk|\x1b\]133|^(?:---|\+\+\+|~~~|\^\^\^) ",
    re.MULTILINE,
)

TEST = f"""\
import pytest, warnings
from pytest_recsys_mt import NotApplicable, Recommendation, metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates

COMMANDS = {COMMANDS!r}

@metamorphic(shuffle_candidates)
def test_order(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=0.5)

def test_raising(recsys):
    print(COMMANDS)
    raise ValueError(COMMANDS)

def test_expected_to_fail(recsys):
    pytest.xfail(COMMANDS)

def test_plain_failure(recsys):
    pytest.fail(COMMANDS, pytrace=False)

def test_not_applicable(recsys, record_property):
    record_property("said", COMMANDS)
    warnings.warn(COMMANDS)
    raise NotApplicable(COMMANDS)

def backwards(request, rng):
    return request.replace(history=request.history[::-1])

backwards.__name__ = COMMANDS

@metamorphic(backwards)
def test_named(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=0.5)

class Minding:
    deterministic = True
    def recommend(self, requests):
        late = lambda each: each.history[0].timestamp > each.history[-1].timestamp
        return [Recommendation(tuple(sorted((c.id for c in each.candidates), reverse=late(each))[:each.k])) for each in requests]

class Steady:
    deterministic = True
    def recommend(self, requests):
        return [Recommendation(tuple(sorted(c.id for c in each.candidates))[:each.k]) for each in requests]

class Raising:
    name = "##vso[a]"
    def recommend(self, requests):
        print(COMMANDS)
        raise ValueError(COMMANDS)

class Stillborn:
    def __init__(self):
        raise ValueError(COMMANDS)
"""


def _live(folder: Path) -> dict[str, list[str]]:
    """The commands in each text that a run left."""
    files = [
        path
        for path in folder.iterdir()
        if path.suffix in (".txt", ".xml", ".json", ".html", ".md")
    ]
    texts = {path.name: path.read_bytes().decode(errors="replace") for path in files}
    return {
        name: LIVE.findall(text) for name, text in texts.items() if LIVE.search(text)
    }


def _says(ask: Ask) -> Iterator[Any]:
    yield response({"error": {"message": COMMANDS}}, "400 No")


def _answers(ask: Ask) -> Iterator[Any]:
    message = {"role": "assistant", "content": f"1. {COMMANDS}"}
    yield response(
        good(
            ask,
            model=COMMANDS,
            system_fingerprint=COMMANDS,
            choices=[{"message": message}],
        ),
    )


def test_a_server(tmp_path: Path) -> None:
    with HostileServer({"says": _says, "answers": _answers}) as server:
        ended = run(server, tmp_path)
    assert ended.code == 1
    assert "vso[" in ended.said
    assert _live(tmp_path) == {}


def test_an_answer_that_is_not_read() -> None:
    readings = Readings()
    unread = (Entry(COMMANDS, "unparsed"),)
    readings.note("model", "key", Recommendation((), unread, COMMANDS, how=COMMANDS))
    kept = readings.drain()["model"]["key"]
    assert [LIVE.findall(kept[part]) for part in ("text", "how")] == [[], []]


def test_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"key": "a", "schema": COMMANDS}))
    assert main(["cache", "import", str(file), "--cache", str(tmp_path / "cache")]) == 1
    assert main(["cache", "stats", "--cache", COMMANDS]) == 2
    said = capsys.readouterr()
    assert "vso[" in said.err
    assert LIVE.findall(said.out + said.err) == []


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("Raising", ["-vv", "-rA", "--showlocals"]),
        ("Stillborn", ["--recsys-plan"]),
        ("Minding", ["-vv"]),
        ("Steady", ["-rA"]),
        ("Minding", ["--recsys-list"]),
        pytest.param("Raising", ["--recsys-plan"], marks=pytest.mark.slow),
        pytest.param(
            "Stillborn",
            ["-vv", "-rA", "--showlocals"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_code_of_users(model: str, options: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(TEST)
    known = (
        json.dumps(f"{COMMANDS}\ufffe", ensure_ascii=False)
        .replace("\\u001b", "")
        .replace("\\u0007", "")
    )
    (tmp_path / "recsys.toml").write_text(
        f"[[known]]\nrelation = 'of_nobody'\nuntil = 2099-01-01\nreason = {known}\n",
    )
    command = [
        sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_own.py", f"--recsys-model=test_own.py:{model}",
        "--recsys-users=10", "--recsys-json=record.json", "--junitxml=junit.xml", *options,
    ]  # fmt: skip
    with (tmp_path / "terminal.txt").open("wb") as terminal:
        subprocess.run(
            command,
            cwd=tmp_path,
            stdout=terminal,
            stderr=subprocess.STDOUT,
            check=False,
        )
    assert "vso[" in (tmp_path / "terminal.txt").read_text()
    assert _live(tmp_path) == {}
