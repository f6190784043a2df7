"""One table of several models: their values, who is really
ahead of whom, and published ones apart.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from tests.report.records import document, task
from tests.report.test_page import HOSTILE, Page
from tests.support.cli import main
from tests.support.report_leaderboard import Board, boards_of, sheets_of
from tests.support.safety import clean

PUBLISHED = {
    "source": "A paper, table 1",
    "columns": ["model", "hit@5", "year"],
    "rows": [["Old", 0.2, 1999], ["m (this run)", 0.5, None], ["Odd", "many", None]],
}


def measured(
    model: str,
    values: list[float],
    metric: str = "hit@5",
    **changes: Any,
) -> Any:
    """A row with a value for each user."""
    return task(
        metric,
        sum(values) / len(values),
        model=model,
        users=len(values),
        per_user={f"u{n}": value for n, value in enumerate(values)},
        reach=[0.0, 1.0],
        **changes,
    )


def record(*rows: Any, **changes: Any) -> Any:
    made = document(*rows, **changes)
    made["digests"] = {"users": "u", "suite": "s"}
    made["gate"] |= {"incomplete": []}
    for each in made["calls"]["by"]:
        each.update(model="".join(made["models"][:1]), suite="arena", usd=0.5)
    return made


def board(*records: Any) -> Board:
    (found,) = boards_of([(f"{n}.json", each) for n, each in enumerate(records)])
    return found


def files(folder: Path, *records: Any) -> list[str]:
    paths = [folder / f"{n}.json" for n in range(len(records))]
    for path, each in zip(paths, records, strict=True):
        path.write_text(json.dumps(each))
    return [str(path) for path in paths]


GOOD, EVEN = [1.0] * 90 + [0.0] * 10, [1.0, 0.0] * 50


def test_the_better_model_is_ahead_and_an_equal_one_is_not() -> None:
    found = board(
        record(
            measured("good", GOOD),
            measured("even", EVEN),
            measured("alike", EVEN[::-1]),
        ),
    )
    (line,) = found.lines
    columns = next(
        each.columns for each in sheets_of(found, models_as_rows=False) if each.columns
    )
    assert columns[2:] == ["alike (a)", "even (b)", "good (c)"]
    assert {model: cell.ahead for model, cell in line.cells.items()} == {
        "alike": (), "even": (), "good": ("alike", "even"),
    }  # fmt: skip
    assert [model for model, cell in line.cells.items() if cell.best] == ["good"]
    assert (found.pairs, found.compared, found.ahead("good", "even")) == (3, 3, 1)


@pytest.mark.parametrize(
    ("allowed", "best", "better"),
    [
        ("at least", "x", "higher"),
        ("at most", "y", "lower"),
        ("within", "y", "nearer 0"),
    ],
)
def test_the_promise_says_which_values_are_better(
    allowed: str,
    best: str,
    better: str,
) -> None:
    rows = (
        measured(model, values, allowed=allowed)
        for model, values in (("x", GOOD), ("y", EVEN))
    )
    (line,) = board(record(*rows)).lines
    assert line.better == better
    assert [model for model, cell in line.cells.items() if cell.best] == [best]
    assert line.cells[best].ahead == tuple({"x", "y"} - {best})


def test_models_of_several_records_stand_in_one_table(tmp_path: Path) -> None:
    paths = files(
        tmp_path,
        record(measured("one", GOOD)),
        record(measured("two", EVEN)),
    )
    main(["leaderboard", *paths, "-o", str(tmp_path / "board.csv")])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "board.csv").read_text())))
    assert [(row["model"], row["value"], row["best"], row["ahead_of"]) for row in rows] == [
        ("one", "0.9", "1", "two"), ("two", "0.5", "0", ""),
    ]  # fmt: skip


def test_published_values_stand_apart_and_win_nothing() -> None:
    found = board(record(measured("m", EVEN, details={"published": PUBLISHED})))
    (line,) = found.lines
    assert line.published == {"Old": 0.2}
    assert found.sources == ["A paper, table 1"]
    assert line.cells["m"].ahead == ()
    assert not line.cells["m"].best


def test_a_row_may_name_its_place_in_a_table() -> None:
    rows = [
        measured(
            "m",
            GOOD,
            "accuracy",
            details={"column": {"table": "knowledge", "name": "cast"}},
        ),
        measured(
            "m",
            GOOD,
            "hit@1",
            details={"column": {"table": "knowledge", "name": "rules"}},
        ),
        measured("m", GOOD, "auc"),
    ]
    lines = board(record(*rows)).lines
    assert [(line.table, line.name) for line in lines] == [
        ("knowledge", "cast"), ("knowledge", "rules"), ("accuracy: auc", "auc"),
    ]  # fmt: skip


def test_what_answers_took_is_of_the_suite_and_the_model() -> None:
    figures = {"questions": 80, "missed_rate": 0.25, "seconds": 2.0}
    none = {"questions": 20, "missed_rate": 0.0, "seconds": 1.0}
    found = board(
        record(
            measured("m", GOOD, details={"figures": figures}),
            measured("m", GOOD, "b", details={"figures": none}),
        ),
    )
    spent = found.spent["m"]
    assert (spent.calls, spent.tokens, spent.usd) == (1997, 8900, 0.5)
    assert (spent.seconds, spent.missed) == (3.0, 0.2)
    unknown = {**figures, "seconds": None}
    found = board(record(measured("m", GOOD, details={"figures": unknown})))
    assert found.spent["m"].seconds is None


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (
            [record(measured("m", GOOD)), record(measured("m", EVEN))],
            "the model 'm' is in",
        ),
        (
            [record(measured("a", GOOD)), record(measured("b", EVEN), seed=1)],
            "other seed: 0",
        ),
        ([record()], "no value to compare; their suites: none"),
        ([document(measured("a", GOOD))], "older version"),
    ],
)
def test_what_cannot_stand_in_one_table_is_refused(
    records: list[Any],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["leaderboard", *files(tmp_path, *records)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-o", "board.xlsx"], "ends in .txt, .md, .tex, .csv, .html"),
        (
            ["--suite", "lrworld"],
            "of the suite 'lrworld' to compare; their suites: arena",
        ),
        (["-o", "0.json/board.md"], "cannot be written"),
    ],
)
def test_a_wrong_option_is_told_with_the_choices(
    options: list[str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(["leaderboard", *files(tmp_path, record(measured("m", GOOD))), *options])
        == 2
    )
    assert told in capsys.readouterr().err


def test_a_record_is_not_overwritten(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (path,) = files(tmp_path, record(measured("m", GOOD)))
    named = tmp_path / "board.csv"
    named.write_text(Path(path).read_text())
    assert main(["leaderboard", str(named), "-o", str(named)]) == 2
    assert "is a record" in capsys.readouterr().err
    assert json.loads(named.read_text())["models"] == ["m"]


def test_data_sets_have_a_board_each(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = record(measured("m", EVEN), data="other", data_digest="cd" * 32)
    assert (
        main(["leaderboard", *files(tmp_path, record(measured("m", GOOD)), other)]) == 0
    )
    text = capsys.readouterr().out
    assert "# arena on mini" in text
    assert "# arena on other" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_names_in_every_format(name: str, tmp_path: Path) -> None:
    def tags(model: str) -> Any:
        made = record(
            measured(model, GOOD, nodeid="t.py::test_x[y]"),
            measured("other", EVEN),
        )
        path = tmp_path / "board"
        for ending in (".html", ".md", ".tex", ".csv"):
            target = str(path.with_suffix(ending))
            assert (
                main(["leaderboard", *files(tmp_path, clean(made)), "-o", target]) == 0
            )
        return Page(path.with_suffix(".html").read_text()).tags

    assert tags(name) == tags("harmless")
    assert main(["leaderboard", *files(tmp_path, record(measured(name, GOOD)))]) == 0


def test_a_formula_stays_a_text(tmp_path: Path) -> None:
    made = record(measured('=HYPERLINK("http://x")', GOOD))
    target = tmp_path / "board.csv"
    assert main(["leaderboard", *files(tmp_path, made), "-o", str(target)]) == 0
    (row,) = csv.DictReader(io.StringIO(target.read_text()))
    assert row["model"].startswith("'=")


def test_equal_models_are_called_ahead_on_no_more_boards_than_declared() -> None:
    rng = random.Random(0)
    wrong = 0
    for _ in range(40):
        rows = [
            measured(
                model,
                [float(rng.random() < 0.5) for _ in range(60)],
                f"m{number}",
            )
            for number in range(6)
            for model in ("a", "b", "c")
        ]
        found = board(record(*rows))
        wrong += any(cell.ahead for line in found.lines for cell in line.cells.values())
    assert wrong <= 6  # more than six of forty have a chance of 0.4 % at 0.05


def test_three_models_of_a_run_as_they_are(
    tmp_path: Path,
    default_record: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    models = json.loads(default_record.read_text())["models"]
    assert main(["leaderboard", str(default_record), "--models", "rows"]) == 0
    text = capsys.readouterr().out
    assert all(f"| {re.escape(model)} (" in text for model in models)
    assert re.search(
        r"\| \*{0,2}-?[\d.]+\*{0,2}(<sup>\w+</sup>)? \[[-\d.]+, [-\d.]+\] \|",
        text,
    )
    assert (
        main(["leaderboard", str(default_record), "-o", str(tmp_path / "b.tex")]) == 0
    )
    tex = (tmp_path / "b.tex").read_text()
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") > 1


def asked(model: str, values: list[float], **details: Any) -> Any:
    """A row of questions."""
    row = measured(model, values, "accuracy")
    row["details"] = {"unit": "questions", "questions_digest": "d" * 64, **details}
    return row


def test_columns_have_their_tables_and_places_and_rows_may_be_none() -> None:
    def rows(model: str) -> list[Any]:
        found = []
        for number, name in enumerate(["zebra", "apple"]):
            column = {"table": "knowledge", "name": name, "place": number}
            row = asked(model, [1.0, 0.0], column=column)
            row["nodeid"] = f"t.py::test_x[{model}-{name}]"
            found.append(row)
        none = asked(model, [1.0, 0.0], column=False)
        none["nodeid"] = f"t.py::test_constant[{model}]"
        return [none, *reversed(found)]

    found = board(
        record(*rows("one"), models=["one"]),
        record(*rows("two"), models=["two"]),
    )
    assert [(line.table, line.name) for line in found.lines] == [
        ("knowledge", "zebra"),
        ("knowledge", "apple"),
    ]
    assert (found.pairs, found.compared) == (2, 2)


def test_records_of_other_questions_are_refused() -> None:
    one = record(asked("one", [1.0, 0.0]), models=["one"])
    other = record(asked("two", [1.0, 0.0], questions_digest="e" * 64), models=["two"])
    with pytest.raises(
        DataError,
        match=r"asked other questions \(SHA-256 dddddddddddd and eeeeeeeeeeee",
    ):
        board(one, other)


def test_simple_rules_stand_apart_from_models_and_published_values(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rules = {"popularity": 0.81, "guessing": 0.25, "odd": "x"}
    given = record(
        asked("m", [1.0, 0.0], baselines=rules, published=PUBLISHED),
        models=["m"],
    )
    given["gate"]["incomplete"] = ["2 tests did not run"]
    (path,) = files(tmp_path, given)
    assert main(["leaderboard", path, "--models=rows"]) == 0
    told = capsys.readouterr().out
    assert "| popularity ‡ | 0.810 |" in told
    assert (
        "‡ Simple rules, computed on the questions that the models were asked." in told
    )
    assert "0.json is the record of a partial run: 2 tests did not run." in told
    assert main(["leaderboard", path, "-o", str(tmp_path / "b.csv")]) == 0
    lines = list(csv.DictReader(io.StringIO((tmp_path / "b.csv").read_text())))
    assert {(each["model"], each["origin"]) for each in lines} >= {
        ("m", "run"),
        ("popularity", "baseline"),
    }
    assert main(["leaderboard", path, "-o", str(tmp_path / "b.tex")]) == 0
    assert r"popularity $\ddagger$" in (tmp_path / "b.tex").read_text()
