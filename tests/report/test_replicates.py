"""All answers to one question of a user, side by side: on a terminal and on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.verdict.answers import Context
from tests.oracles.support import FakeAnswers, ask
from tests.report.records import document, example, holds, row
from tests.support.cli import main
from tests.support.engine import Run, Settings
from tests.support.report import columns_of, row_of, show_user, width
from tests.support.report_html import render


def answer(titles: str, kinds: list[str] | None = None) -> dict[str, Any]:
    """An answer whose titles are letters."""
    return {"answer": [f"Film {title}" for title in titles], "kinds": kinds or []}


REPLICATES = {
    "source": [answer("ABC"), answer("BAC"), answer("AB")],
    "followup": [answer("XAC", ["unknown", "candidate", "candidate"]), answer("ABC")],
}


def varied(user: str = "u1", **changes: Any) -> Any:
    return example(user, replicates=REPLICATES, **changes)


def kept(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document(*rows)), encoding="utf-8")
    return path


def test_every_answer_is_compared_with_the_first_of_the_source() -> None:
    columns = {each.name: each for each in columns_of(varied(), row())}
    assert [*columns] == ["source 1", "source 2", "source 3", "changed 1", "changed 2"]
    counts = {
        name: {mark: count for mark, count in column.counts.items() if count}
        for name, column in columns.items()
    }
    assert counts == {
        "source 1": {},
        "source 2": {"moved": 2},
        "source 3": {"lost": 1, "empty": 1},
        "changed 1": {"moved": 1, "new": 1, "lost": 1, "faulty": 1},
        "changed 2": {},
    }


def test_an_item_of_the_history_is_faulty_only_where_the_verdict_is_about_that() -> (
    None
):
    seen = {"source": [answer("AB", ["history", "candidate"])] * 2, "followup": []}
    made: Any = example(replicates=seen)
    assert columns_of(made, row())[0].counts["faulty"] == 0
    about = row(oracle="only_candidates")
    assert columns_of(made, about)[0].counts["faulty"] == 1


def test_all_answers_stand_side_by_side_in_80_columns(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = kept(
        tmp_path / "r.json",
        row(examples=[varied()], per_user={"u1": 0.3}),
        # Another oracle on the same question, and a verdict that shows other users.
        row(oracle="low_churn:rbo", examples=[varied()], per_user={"u1": 1.0}),
        holds(1, examples=[varied("u2")], per_user={"u1": 0.0}),
    )
    assert main(["answers", str(path), "--user=u1"]) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert "same_ranking:rbo violated, low_churn:rbo violated" in told
    assert told.count("answers 1 to 3 of 5") == told.count("answers 4 to 5 of 5") == 1
    first = lines.index("answers 1 to 3 of 5")
    cells = [line.split("  ") for line in lines[first + 2 : first + 5]]
    assert [part.strip() for part in cells[0] if part] == [
        "1", "Film A", "~2 Film B", "Film A",
    ]  # fmt: skip
    assert lines[first + 4].endswith(" -")
    assert "+ ! Film X" in told
    assert "1 more verdict on the user shows the answers of others" in told
    assert "-o recsys_show_user=u1" in " ".join(told.split())


def room_of(path: Path, columns: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of the table of `path` on a terminal of some columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = list(show_user([path], "u1", 0))
    assert all(width(line) <= max(columns, 40) for line in lines)
    return lines


def test_the_table_takes_the_width_of_the_terminal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = {"answer": ["The Discreet Charm of the Bourgeoisie (1972)"], "kinds": []}
    of_all = {"source": [long] * 3, "followup": [long]}
    path = kept(
        tmp_path / "r.json",
        row(examples=[example("u1", replicates=of_all)], per_user={"u1": 0.3}),
    )
    wide = room_of(path, 200, monkeypatch)
    assert sum(line.count("Bourgeoisie (1972)") for line in wide) == 4
    assert not [line for line in wide if line.startswith("answers ")]
    for columns in (40, 10):
        narrow = room_of(path, columns, monkeypatch)
        assert "answers 3 to 4 of 4" in narrow


def test_wide_characters_take_two_columns(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    titles = {"answer": ["千と千尋の神隠し" * 3, "Heat"], "kinds": []}
    of_all = {"source": [titles] * 2, "followup": [titles] * 2}
    path = kept(
        tmp_path / "r.json",
        row(examples=[example("u1", replicates=of_all)], per_user={"u1": 0.3}),
    )
    lines = room_of(path, 80, monkeypatch)
    (first,) = [line for line in lines if line.startswith("  1")]
    (second,) = [line for line in lines if line.startswith("  2")]
    starts = [first.index("千"), second.index("Heat")]
    for _ in range(3):
        assert width(first[: starts[0]]) == width(second[: starts[1]])
        starts = [
            first.find(" 千", starts[0]) + 1,
            second.find("Heat", starts[1] + 1),
        ]


def test_an_empty_first_answer_is_not_what_the_others_are_compared_with(
    tmp_path: Path,
) -> None:
    of_all = {"source": [answer(""), answer("AB")], "followup": [answer("BA")]}
    of_user: Any = example("u1", replicates=of_all)
    empty, base, changed = columns_of(of_user, row())
    assert (empty.counts["lost"], empty.counts["empty"]) == (2, 2)
    assert (base.is_base, base.counts["new"]) == (True, 0)
    assert (changed.counts["moved"], changed.counts["new"]) == (2, 0)
    path = kept(tmp_path / "r.json", row(examples=[of_user], per_user={"u1": 0.3}))
    told = " ".join(" ".join(show_user([path], "u1", 0)).split())
    said = "compared with source 2, as no answer before it names anything"
    assert said in told
    assert f"Each is {said}." in render(document(row(examples=[of_user])))


def test_one_answer_a_side_is_shown_too(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = kept(tmp_path / "r.json", row(per_user={"u1": 0.3}))
    assert main(["answers", str(path), "--user=u1"]) == 0
    told = capsys.readouterr().out
    assert "source 1" in told
    assert "changed 1" in told
    assert "lost   0                                   2" in told


def test_an_unknown_user_is_an_error_that_says_how_to_see_them(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = kept(tmp_path / "r.json", row(per_user={"u9": 0.3}))
    assert main(["answers", str(path), "--user=u9"]) == 2
    told = capsys.readouterr().err
    assert "shows no answer of user 'u9': 1 verdict of it is on this user" in told
    assert "it shows those of u1, u2" in told
    assert "-o recsys_show_user=u9" in told
    assert main(["answers", str(path), "--user=u7"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "no verdict of it has a value of this user" in told
    assert "a record does not list the users of the data" in told
    assert "if 'u7' is one, run again with -o recsys_show_user=u7" in told


def test_the_page_has_them_on_the_card() -> None:
    page = render(document(row(examples=[varied()])))
    assert "All 5 answers side by side" in page
    assert "Each is compared with source 1" in page
    assert "1 moved, 1 new, 1 lost, 1 faulty" in page
    assert "▲ was 2" in page
    assert "All 5 answers" not in render(document(row()))
    # A user whom the run is told to show stands on the card of a kept promise too.
    others = [example(f"u{number}") for number in range(3)]
    told = render(document(holds(examples=[*others, varied(told=True)])))
    assert "All 5 answers side by side" in told


def test_the_record_keeps_all_answers_of_those_it_shows_and_of_users_it_is_told() -> (
    None
):
    context = Context(shown=frozenset({"u15"}))
    before = FakeAnswers(ask([["abc", "bac"]] * 30), context)
    after = FakeAnswers(ask([["abc", "abx"]] * 30), context, "changed")
    verdict = same_ranking(before, after, margin=0.2)
    made = row_of(verdict, nodeid="t", suite="s", model="m", expected="holds")
    assert made["examples"][-1]["user"] == "u15"
    told = [each.get("told") for each in made["examples"]]
    assert told[-1] is True
    assert not any(told[:-1])
    for each in made["examples"]:
        assert [x["answer"] for x in each["replicates"]["source"]] == [
            [*"abc"],
            [*"bac"],
        ]
        assert each["replicates"]["followup"][1]["answer"] == [*"abx"]


def test_a_user_to_show_who_is_not_in_the_data_is_an_error() -> None:
    with pytest.raises(DataError, match="no user '17' has interactions in mini"):
        Run(Settings(shown=("17",)), name="shown").require_attributes()
    Run(Settings(shown=("u139",)), name="shown").require_attributes()
