"""The file of answers beside a record, and what `recsys-mt answers` makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.report.records import document, row
from tests.support.cli import main
from tests.support.report import (
    LISTED,
    answers_path,
    mcnemar,
    read_answers,
    taken_from,
    write_answers,
)
from tests.support.report_html import render

ABOUT: Any = {"data": "mini", "data_digest": "abc", "seed": 0}
LETTERS = ("Alien", "Heat", "Ran", "Up")


def answers(chosen: str, model: str = "m", kind: str = "cast") -> list[dict[str, Any]]:
    """Answers whose right option is the first; ``-`` is one in which none was read."""
    return [
        {
            "model": model, "test": "t", "question": f"{kind}-{number}", "digest": f"{number:064}", "kind": kind,
            "options": list(LETTERS), "right": 0, "raw": f"I say\n{letter}",
            "chosen": None if letter == "-" else "abcd".index(letter),
        }
        for number, letter in enumerate(chosen)
    ]  # fmt: skip


def written(path: Path, *given: list[dict[str, Any]]) -> Path:
    write_answers(path, ABOUT, [each for part in given for each in part])
    return path


def test_answers_leave_the_rows_and_name_their_model() -> None:
    kept = {
        "question": "q",
        "shown": {},
        "options": ["a", "b"],
        "right": 0,
        "raw": "text",
    }
    wrong, right = (
        {**kept, "chosen": None, "tokens": 3},
        {**kept, "chosen": 0, "tokens": 3},
    )
    first: Any = {
        "model": "m",
        "nodeid": "t",
        "details": {"answers": [wrong, right, *[wrong] * 7], "x": 1},
    }
    other: Any = {"model": "m", "nodeid": "u", "details": {"answers": [right]}}
    found = taken_from([first, other])
    assert len(found) == 10
    assert found[0] == {"model": "m", "test": "t", **wrong}
    # A few wrong ones stay, for a page that is made of the record alone.
    assert first["details"] == {
        "x": 1,
        "wrong": {"number": 8, "answers": [{**kept, "chosen": None}] * LISTED},
    }
    assert other["details"] == {}


def test_wrong_answers_stand_on_the_page_and_stay_text() -> None:
    shown = {"history": ["<i>Heat</i>", "Ran"], "target": "Up"}
    wrong = {
        "question": "cast-1", "shown": shown, "options": ["<b>A", "B"], "right": 0, "chosen": 1,
        "raw": "<script>x</script>",
    }  # fmt: skip
    details = {"wrong": {"number": 8, "answers": [wrong, {**wrong, "chosen": None}]}}
    page = render(document(row(details=details)))
    assert "2 of 8 wrong answers" in page
    assert "&lt;i&gt;Heat&lt;/i&gt;; Ran" in page
    assert "<bdi>&lt;b&gt;A</bdi> <b>right</b>" in page
    assert "<bdi>B</bdi> <b>chosen</b>" in page
    assert (
        "No option was read in the answer: <bdi>&lt;script&gt;x&lt;/script&gt;</bdi>"
        in page
    )


def test_answers_are_written_and_read_and_those_of_an_earlier_run_removed(
    tmp_path: Path,
) -> None:
    record = written(tmp_path / "r.json", answers("ab-"))
    head, found = read_answers(record)
    assert (head["data"], head["seed"]) == ("mini", 0)
    assert found == answers("ab-")
    write_answers(record, ABOUT, [])
    assert not answers_path(record).exists()


def test_wrong_answers_are_listed_with_right_and_chosen(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = written(tmp_path / "r.json", answers("aab-"), answers("aa", kind="genre"))
    assert main(["answers", str(record)]) == 0
    told = capsys.readouterr().out
    assert "m on mini: 4 of 6 answers are right." in told
    assert "right 1. Alien\n        chosen 2. Heat" in told
    assert 'said "I say -" (no option was read)' in told
    assert "cast                         4       2       1     0.500" in told
    assert all(len(line) <= 80 for line in told.splitlines())
    assert main(["answers", str(record), "--limit=1"]) == 0
    assert "1 more; --limit=0 shows all" in capsys.readouterr().out


def test_two_models_are_compared_on_the_questions_of_both(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = written(tmp_path / "a.json", answers("a" * 12))
    other = written(tmp_path / "b.json", answers("aa" + "b" * 8))
    assert main(["answers", str(one), str(other), "--limit=1"]) == 0
    told = capsys.readouterr().out
    assert (
        f"a: m ({one})" in told.replace("\n", " ") or str(one)[-20:] in told
    )  # one model, two records
    assert "Only 10 questions were asked of both" in told
    assert (
        "cast                     10  1.000  0.200       8       0   0.0078   0.0078"
        in told
    )
    assert "7 more" in told
    assert mcnemar(0, 0) == 1
    assert mcnemar(8, 0) == pytest.approx(2 / 2**8)


def test_models_of_one_record_are_compared_and_three_are_too_many(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = written(tmp_path / "r.json", answers("aa"), answers("ab", model="other"))
    assert main(["answers", str(record)]) == 0
    assert "a: m\nb: other" in capsys.readouterr().out
    third = written(tmp_path / "c.json", answers("ab", model="third"))
    assert main(["answers", str(record), str(third)]) == 2
    assert "3 models (m, other, third)" in capsys.readouterr().err


def test_what_cannot_be_compared_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = written(tmp_path / "r.json", answers("aa"))
    assert main(["answers", str(tmp_path / "none.json")]) == 2
    assert "with --recsys-json=" in capsys.readouterr().err
    assert main(["answers", str(record), "--kind=genre"]) == 2
    assert "'genre' was asked; the kinds asked: cast" in capsys.readouterr().err
    other = written(
        tmp_path / "o.json",
        [{**each, "digest": "x"} for each in answers("aa", "n")],
    )
    assert main(["answers", str(record), str(other)]) == 2
    assert "have no question in common" in capsys.readouterr().err
    lines = answers_path(record).read_text().splitlines()
    for line in (
        "{",
        json.dumps({**json.loads(lines[1]), "chosen": 4}),
        "[]",
        "[" * 100_000,
    ):
        answers_path(record).write_text("\n".join([lines[0], line]))
        assert main(["answers", str(record)]) == 2
        assert "r.answers.jsonl:2: not an answer" in capsys.readouterr().err


def test_answers_that_cannot_be_read_put_no_model_ahead(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = written(tmp_path / "a.json", answers("a" * 12))
    other = written(tmp_path / "b.json", answers("-" * 8 + "a" * 4))
    assert main(["answers", str(one), str(other), "--limit=1"]) == 0
    told = capsys.readouterr().out
    assert (
        "cast                     12  1.000  0.333       0       0        1        1"
        in told
    )
