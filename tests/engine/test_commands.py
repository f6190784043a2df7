"""`recsys-mt cache`: answers move between machines
unharmed, and nothing damaged is let in.
"""

import json
import re
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.calls import Answer, AnswerCache, key_of
from tests.support.cli import arguments, main

Sections = dict[str, tuple[str, ...]]

HOST = "http://127.0.0.1:1/v1"


def call(number: int, model: str = "tiny", host: str = HOST) -> dict[str, Any]:
    identity = {"provider": "openai", "host": host, "model": model, "sampling": {}}
    return {
        "model": identity,
        "messages": [["user", f"film {number}? \x1b"]],
        "replicate": 0,
    }


def answer(number: int) -> dict[str, Any]:
    return {"text": f"{number}. Amélie \ud800", "usage": [7, 3], "run": f"run {number}"}


def fill(folder: Path, numbers: range = range(5), **more: str) -> list[str]:
    cache = AnswerCache(folder)
    keys = []
    for number in numbers:
        asked = call(number, **more)
        keys.append(key_of(asked))
        cache.put(keys[-1], asked, answer(number))
    cache.close()
    return sorted(keys)


def damage(folder: Path, rows: int) -> None:
    """Turn a byte in the first rows into one that UTF-8 does not have."""
    with sqlite3.connect(folder / "answers" / "cache.db") as connection:
        connection.execute(
            "UPDATE Cache SET value = CAST(replace(CAST(value AS BLOB), '{', x'FB') AS TEXT) "
            "WHERE rowid <= ?",
            (rows,),
        )
    connection.close()


def test_rows_that_are_not_utf8_stop_no_command(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, whole, file = (
        tmp_path / "cache",
        tmp_path / "whole.jsonl",
        tmp_path / "rest.jsonl",
    )
    fill(folder)
    assert run("cache", "export", whole, "--cache", folder) == 0
    capsys.readouterr()
    assert run("cache", "export", "-", "--cache", folder) == 0
    assert tuple(capsys.readouterr()) == (whole.read_text(), "5 answers written to -\n")
    damage(folder, 2)
    assert run("cache", "stats", "--cache", folder) == 0
    assert "2 rows are damaged" in capsys.readouterr().out
    assert run("cache", "export", file, "--cache", folder) == 0
    assert len(file.read_text().splitlines()) == 3
    assert run("cache", "prune", "--refused", "--dry-run", "--cache", folder) == 0
    assert run("cache", "import", whole, "--cache", folder) == 0
    assert "2 answers added, 3 were there" in capsys.readouterr().out
    damage(folder, 1)
    assert run("cache", "prune", "--refused", "--cache", folder) == 0
    assert len(held(folder)) == 4


def held(folder: Path) -> dict[str, Answer | None]:
    cache = AnswerCache(folder)
    found = {
        kept.key: cache.get(kept.key) for _, kept in cache.rows() if kept is not None
    }
    cache.close()
    return found


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_answers_travel_whole_and_without_their_run(tmp_path: Path) -> None:
    here, there, file = (
        tmp_path / "here",
        tmp_path / "there",
        tmp_path / "a" / "answers.jsonl",
    )
    keys = fill(here)
    assert run("cache", "export", file, "--cache", here) == 0
    lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
    assert [line["key"] for line in lines] == keys
    assert run("cache", "import", file, "--cache", there) == 0
    assert held(there) == {
        key: {k: v for k, v in row.items() if k != "run"}
        for key, row in held(here).items()
        if row is not None
    }
    before = (here / "answers" / "cache.db").read_bytes()
    assert run("cache", "export", here / "answers" / "cache.db", "--cache", here) == 2
    assert (here / "answers" / "cache.db").read_bytes() == before
    again = tmp_path / "again.jsonl"
    run("cache", "export", again, "--cache", there)
    assert again.read_bytes() == file.read_bytes(), (
        "an export of an import is the same file"
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def damaged(line: str) -> dict[str, tuple[str, str]]:
    row = json.loads(line)
    other = json.dumps({**row, "answer": {**row["answer"], "text": "Heat"}})
    return {
        "answer": (other, "checksum is not that of its answer"),
        "call": (line.replace("film", "book"), "key is not the hash of its call"),
        "key": (line.replace(row["key"], "0" * 64), "key is not the hash of its call"),
        "schema": (
            line.replace("recsys-mt-answer/1", "recsys-mt-answer/9"),
            "schema is",
        ),
        "conflict": ("<<<<<<< HEAD", "not a JSON object"),
        "list": ("[1]", "not a JSON object"),
        "deep": ("[" * 100_000, "not a JSON object"),
        "truncated": (line[:-20], "not a JSON object"),
    }


@pytest.mark.parametrize(
    "kind",
    ["answer", "call", "key", "schema", "conflict", "list", "deep", "truncated"],
)
def test_a_damaged_line_is_refused_by_number_and_the_others_are_taken(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
) -> None:
    file = tmp_path / "answers.jsonl"
    keys = fill(tmp_path / "here")
    run("cache", "export", file, "--cache", tmp_path / "here")
    lines = file.read_text().splitlines()
    lines[2], reason = damaged(lines[2])[kind]
    file.write_text("\n".join(lines))
    assert run("cache", "import", file, "--cache", tmp_path / "there") == 1
    printed = capsys.readouterr()
    assert f"{file}:3: " in printed.err
    assert reason in printed.err
    assert "4 answers added" in printed.out
    assert sorted(held(tmp_path / "there")) == [*keys[:2], *keys[3:]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"error": "HTTP 500"}, {}, {"text": None}, {"text": 5}, {"text": "a", "usage": ["x", 1]},
        {"items": "abc"}, {"items": ["a"], "entries": [["a"]]},
        *({"text": "a", "usage": usage} for usage in (
            [10**4000, 1], [-1, 1], [1, True], [1.0, 2], [1, 2, 3], [1, 2, None, 0], [1, 2, 5, 0], {"1": 2},
        )),
    ],
    ids=lambda wrong: str(wrong)[:40],
)  # fmt: skip
def test_what_is_no_answer_is_refused_though_its_checksum_fits(
    tmp_path: Path,
    wrong: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tests.support.calls import row_of

    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"key": key_of(call(1)), **row_of(call(1), wrong)}))
    assert run("cache", "import", file, "--cache", tmp_path / "cache") == 1
    assert f"{file}:1: its answer holds" in capsys.readouterr().err
    assert held(tmp_path / "cache") == {}


@pytest.mark.parametrize("empty", [{"text": ""}, {"items": []}], ids=str)
def test_an_empty_answer_is_one(tmp_path: Path, empty: dict[str, Any]) -> None:
    from tests.support.calls import AnswerCache, row_of

    file, cache = tmp_path / "answers.jsonl", tmp_path / "cache"
    key, stamped = key_of(call(1)), {**empty, "run": "run"}
    file.write_text(json.dumps({"key": key, **row_of(call(1), empty)}))
    assert run("cache", "import", file, "--cache", cache) == 0
    assert AnswerCache(cache, write=False).get(key) == empty, "for a replay"
    for run_of, kept in (("another run", False), ("run", True)):
        own = AnswerCache(tmp_path / run_of)
        own.put(key, call(1), stamped)
        own.close()
        found = AnswerCache(tmp_path / run_of, write=False, empties=run_of).get(key)
        assert (found is not None) is kept, "workers have it, any other run asks again"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "9" * 5000])
def test_what_json_does_not_know_as_a_number_is_refused_by_its_line(
    tmp_path: Path,
    number: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tests.support.calls import row_of

    file = tmp_path / "answers.jsonl"
    row = json.dumps(
        {"key": key_of(call(1)), **row_of(call(1), {"text": "a", "usage": [77, 3]})},
    )
    file.write_text(row.replace("77", number))
    assert run("cache", "import", file, "--cache", tmp_path / "cache") == 1
    assert f"{file}:1: it is not a JSON object" in capsys.readouterr().err


def test_an_answer_that_is_there_stays_unless_it_is_to_be_replaced(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "answers.jsonl"
    fill(tmp_path / "here")
    run("cache", "export", file, "--cache", tmp_path / "here")
    changed = AnswerCache(tmp_path / "here")
    key = key_of(call(2))
    changed.put(key, call(2), {"text": "another"})
    changed.close()
    assert run("cache", "import", file, "--cache", tmp_path / "here") == 0
    assert (
        "0 answers added, 4 were there, 1 differed and were left"
        in capsys.readouterr().out
    )
    assert held(tmp_path / "here")[key] == {"text": "another"}
    run("cache", "import", file, "--cache", tmp_path / "here", "--replace")
    assert held(tmp_path / "here")[key] == {"text": "2. Amélie \ud800", "usage": [7, 3]}


def test_stats_count_by_model_and_host(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(tmp_path)
    fill(tmp_path, range(2), model="big\x1b[31m", host="https://api.example.com/v1")
    assert run("cache", "stats", "--cache", tmp_path) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[2], row[3], row[4:]) for row in lines[1:]] == [
        ("2", "14", "6", ["big", "at", "https://api.example.com/v1"]),
        ("5", "35", "15", ["tiny", "at", HOST]),
        ("7", "49", "21", ["all"]),
    ]


def test_a_tampered_row_is_counted_pruned_and_never_exported(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cache, file = tmp_path / "cache", tmp_path / "answers.jsonl"
    keys = fill(cache)
    with sqlite3.connect(cache / "answers" / "cache.db") as connection:
        connection.execute(
            "UPDATE Cache SET mode = 4, value = x'80' WHERE key = ?",
            (keys[0],),
        )
        connection.execute(
            "UPDATE Cache SET key = x'80', raw = 0 WHERE key = ?",
            (keys[1],),
        )
        connection.execute("UPDATE Cache SET value = 'no' WHERE key = ?", (keys[2],))
    connection.close()
    run("cache", "stats", "--cache", cache)
    assert "3 rows are damaged" in capsys.readouterr().out
    run("cache", "export", file, "--cache", cache)
    assert len(file.read_text().splitlines()) == 2
    run("cache", "prune", "--refused", "--dry-run", "--cache", cache)
    run("cache", "prune", "--refused", "--cache", cache)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "3 answers would be removed", "3 answers were removed",
    ]  # fmt: skip
    run("cache", "stats", "--cache", cache)
    assert "damaged" not in capsys.readouterr().out
    assert sorted(held(cache)) == keys[3:]


def test_prune_removes_what_fits_all_that_is_said(tmp_path: Path) -> None:
    cache, file = tmp_path / "cache", tmp_path / "answers.jsonl"
    kept = fill(cache, range(2), model="gpt-4o")
    run("cache", "export", file, "--cache", cache, "--model", "gpt-*")
    fill(cache, range(5), model="gpt-4o")
    other = fill(cache)
    run("cache", "prune", "--model", "gpt-4o*", "--not-in", file, "--cache", cache)
    assert sorted(held(cache)) == sorted([*kept, *other])
    run("cache", "prune", "--not-in", file, "--cache", cache)
    assert sorted(held(cache)) == kept


def test_prune_by_a_damaged_file_removes_nothing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys = fill(tmp_path / "cache")
    (tmp_path / "answers.jsonl").write_text("{}")
    code = run(
        "cache",
        "prune",
        "--not-in",
        tmp_path / "answers.jsonl",
        "--cache",
        tmp_path / "cache",
    )
    assert code == 2
    assert "answers.jsonl:1: its schema is None" in capsys.readouterr().err
    assert sorted(held(tmp_path / "cache")) == keys


def test_prune_wants_to_know_what(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("cache", "prune", "--cache", tmp_path)


@pytest.mark.parametrize(
    "command",
    [("export", "f"), ("stats",), ("prune", "--refused")],
)
def test_where_there_is_no_cache_none_is_made(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    assert run("cache", *command, "--cache", tmp_path / "no") == 2
    assert "--recsys-cache" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_a_file_that_cannot_be_read_or_written_says_so(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(tmp_path / "cache")
    assert run("cache", "import", tmp_path / "none", "--cache", tmp_path / "cache") == 2
    assert "No such file" in capsys.readouterr().err
    assert (
        run("cache", "export", tmp_path / "cache", "--cache", tmp_path / "cache") == 2
    )
    assert "cannot be written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["cache"], (
        "nothing is left behind"
    )


@pytest.mark.parametrize("sections", [arguments.SECTIONS, {"a project:": ("init",)}])
def test_the_help_lists_every_command_once(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    sections: Sections,
) -> None:
    """A command that no section names, as one that was just added, is listed too."""
    monkeypatch.setattr(arguments, "SECTIONS", sections)
    with pytest.raises(SystemExit):
        main(["frob"])
    known = re.findall(r"'(\w+)'", capsys.readouterr().err.partition("(choose from")[2])
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"(?m)^ {6}(\w+)", capsys.readouterr().out)
    assert sorted({*known} - {"tables"}) == sorted(listed)  # an earlier name of `paper`


def test_help_costs_no_heavy_import() -> None:
    code = (
        "import sys, pytest_recsys_mt.cli as c\n"
        "try: c.main(['cache', '--help'])\n"
        "except SystemExit: pass\n"
        "print({'numpy', 'pandas', 'openai', 'diskcache'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("set()\n")
