"""A file of questions is asked as it is: by the command
line, by a run, and by two people alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError, NotApplicable
from pytest_recsys_mt.suites.lrworld import (
    LASTFM,
    MEASURES,
    Measure,
    QuestionFile,
    Settings,
    generate,
    header,
    load,
    rare,
    save,
)
from tests.lrworld.made import four_tastes
from tests.plugin.conftest import record_of
from tests.support.cli import cli
from tests.support.datasets import load_mini

KINDS = ("rules", "similar_users", "genre", "director")
SUITE = ("--pyargs", "pytest_recsys_mt.suites.lrworld", "-p", "no:cacheprovider")


def measure(dataset: str, name: str) -> Measure:
    return next(
        m for m in (*MEASURES, *LASTFM) if (m.dataset, m.name) == (dataset, name)
    )


def written(path: Path, *more: str, kinds: tuple[str, ...] = KINDS) -> Path:
    named = [word for kind in kinds for word in ("--kind", kind)]
    assert cli.main(["questions", str(path), "--count", "30", *named, *more]) == 0
    return path


def test_the_command_writes_what_a_run_would_make(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(tmp_path / "q.jsonl", "--seed", "3", "--setting", "support=0.05")
    told = capsys.readouterr().out
    made = generate(
        load_mini(),
        KINDS,
        count=30,
        seed=3,
        domain="movie",
        settings=Settings(support=0.05),
    )
    assert load(path) == made.questions
    assert "120 questions in" in told
    assert f"SHA-256 {header(path)['digest']}" in told
    assert header(path)["settings"]["data"] == load_mini().digest
    again = written(
        tmp_path / "again.jsonl",
        "--seed",
        "3",
        "--setting",
        "support=0.05",
    )
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--kind", "next_item"],
            r"no test asks such questions about mini; choose from rules, .*",
        ),
        (["--kind", "brands"], r"--kind='brands': no test asks .* about mini"),
        (["--kind", "genres"], r"did you mean 'genre'\?"),
        (
            ["--setting", "suport=1"],
            r"unknown parameter 'suport'; valid ones.*mean 'support'",
        ),
        (["--setting", "support"], r"'questions\?support' are not key=value pairs"),
        (
            ["--setting", "support=0.1", "--setting", "support=0.2"],
            r"gives the parameter 'support' twice",
        ),
        (["--setting", "history=2.5"], r"history='2.5' is not a whole number"),
        (["--setting", "support=much"], r"support='much' is not a number"),
        (["--setting", "support=2"], r"support must be above 0 and at most 1, got 2.0"),
        (["--domain", "book"], r"--domain='book' is for a table of your own"),
        (
            ["--kind", "rules", "--setting", "support=1"],
            r"no question can be made from mini: rules: ",
        ),
    ],
)
def test_what_cannot_be_written_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    path = tmp_path / "q.jsonl"
    assert cli.main(["questions", str(path), *arguments]) == 2
    import re

    assert re.search(told, capsys.readouterr().err)
    assert not path.exists()


def test_what_is_no_file_of_questions_is_not_replaced(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("user,item\n", encoding="utf-8")
    assert cli.main(["questions", str(path), "--count", "30", "--kind", "genre"]) == 2
    assert "sales.csv" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "user,item\n"
    written(tmp_path / "q.jsonl", kinds=("genre",))
    written(tmp_path / "q.jsonl", kinds=("genre",))


def test_a_run_asks_the_file_and_names_its_data_and_digest(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = written(pytester.path / "q.jsonl", "--seed", "5")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setenv("LRWORLD_FILE", str(path))
    rows = []
    for number in (1, 2):
        # Neither the seed nor the number of users of a run changes what a file asks.
        pytester.runpytest_inprocess(
            *SUITE,
            *("-k", "better_than or less_popular", "--recsys-questions=q.jsonl"),
            "--recsys-model=tests.lrworld.reading_a_file:Knowing",
            f"--recsys-users={10 * number}",
            f"--recsys-seed={number}",
            f"--recsys-json=record{number}.json",
        )
        record = record_of(pytester.path / f"record{number}.json")
        assert record["data"] == "mini"
        assert record["data_digest"] == load_mini().digest
        asked = record["settings"]["questions"]
        assert asked["digest"] == header(path)["digest"]
        assert asked["data"] == load_mini().digest
        assert asked["questions"] == dict.fromkeys(KINDS, 30)
        rows.append(
            {
                (row["nodeid"], row["oracle"]): (
                    row["status"],
                    row.get("value"),
                    row["users"],
                )
                for row in record["results"]
            },
        )
    assert rows[0] == rows[1]
    chance = {
        key: found for key, found in rows[0].items() if key[1] == "better_than_chance"
    }
    assert {found[2] for found in chance.values() if found[0] == "holds"} == {30}
    assert sum(found[1] == 1.0 for found in chance.values()) == 4
    reasons = " ".join(row["reason"] for row in record["results"])
    assert "q.jsonl has no question of the kind 'cast'" in reasons


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--recsys-questions=gone.jsonl"], "*'gone.jsonl' cannot be read*"),
        (["--recsys-questions=changed.jsonl"], "*changed.jsonl*SHA-256*"),
        (["--recsys-questions=later.jsonl"], "*schema 'lrworld-questions/9'*"),
        (
            ["--recsys-questions=q.jsonl", "-orecsys_question_setting=support=0.2"],
            "*says how questions are made*leave one of them out*",
        ),
        (
            ["-orecsys_question_setting=suport=0.2"],
            "*'suport'*did you mean 'support'?*",
        ),
        (
            ["-orecsys_question_setting=support=0.2 support=0.3"],
            "*gives the parameter 'support' twice*",
        ),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(
    pytester: pytest.Pytester,
    arguments: list[str],
    told: str,
) -> None:
    path = written(pytester.path / "q.jsonl", kinds=("genre",))
    text = path.read_text(encoding="utf-8")
    (pytester.path / "changed.jsonl").write_text(
        text.replace('"answer":1', '"answer":2', 1),
    )
    (pytester.path / "later.jsonl").write_text(
        text.replace("questions/1", "questions/9", 1),
    )
    done = pytester.runpytest_inprocess(*SUITE, "--recsys-model=itemknn", *arguments)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([told])


def test_settings_of_a_run_are_recorded_and_reach_the_questions(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = written(
        pytester.path / "q.jsonl",
        "--setting",
        "history=2",
        kinds=("genre",),
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setenv("LRWORLD_FILE", str(path))
    pytester.runpytest_inprocess(
        *(*SUITE, "-k", "better_than and movielens-genre", "--recsys-users=30"),
        "--recsys-model=tests.lrworld.reading_a_file:Knowing",
        "-orecsys_question_setting=history=2 support=0.01",
        "--recsys-json=record.json",
    )
    record = record_of(pytester.path / "record.json")
    assert record["settings"]["question_setting"] == ["history=2"], (
        "what differs from the defaults"
    )
    values = {
        r["value"] for r in record["results"] if r["oracle"] == "better_than_chance"
    }
    assert values == {1.0}


def test_a_file_serves_the_measures_of_its_format(tmp_path: Path) -> None:
    found = QuestionFile.read(written(tmp_path / "q.jsonl"))
    assert len(found.of(measure("movielens", "genre"))) == 30
    for name, dataset, told in (
        (
            "genre",
            "netflix",
            "needs data in the format of netflix, and mini is in that of movielens",
        ),
        ("cast", "movielens", "q.jsonl has no question of the kind 'cast'"),
    ):
        with pytest.raises(NotApplicable, match=told):
            found.of(measure(dataset, name))
    genre = found.of(measure("movielens", "genre"))
    assert rare(genre, found) == rare(genre, load_mini())


def test_questions_about_a_table_of_ones_own_are_asked_once(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    generate(four_tastes(), ["genre", "brand"], count=5, domain="artist").save(path)
    found = QuestionFile.read(path)
    asked = []
    for each in (*MEASURES, *LASTFM):
        try:
            asked.append((each.dataset, each.name, len(found.of(each))))
        except NotApplicable:
            continue
    assert sorted(asked) == [("amazon", "brand", 5), ("lastfm", "genre", 5)]


def test_a_file_that_no_test_asks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "never.jsonl"
    generate(load_mini(), ["next_item"], count=5).save(path)
    with pytest.raises(
        DataError,
        match=r"the kind 'next_item', which no test asks about data in",
    ):
        QuestionFile.read(path)
    save((), path)
    with pytest.raises(
        DataError,
        match="has no question; make one with recsys-mt questions",
    ):
        QuestionFile.read(path)


def test_what_differs_from_the_defaults_is_told_in_order() -> None:
    texts = ["history=3", "support=0.01", "confidence=0.5"]
    made: Any = Settings.of(texts)
    assert (made.history, made.confidence, made.support) == (3, 0.5, 0.01)
    assert made.changed == ("confidence=0.5", "history=3")
    assert Settings.of(made.changed) == made
