"""`recsys-mt paper`: a paper's tables with the values of records."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from tests.plugin.conftest import record_of
from tests.support.cli import main
from tests.support.report import in_csv
from tests.support.report_paper_tables import read, tables_of

SUITES = Path(__file__).resolve().parents[2] / "suites"
SUITE = SUITES / "popularity" / "test_paper.py"

DECLARED = sorted(SUITES.glob("*/tables/*.toml"))


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of two folds of two models, made by a real run."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("tables")
    subprocess.run(
        [
            sys.executable, "-m", "pytest", str(SUITE), "--recsys-keep=no", "-k", "fold0 or fold3", "--recsys-model=mostpop",
            "--recsys-model=itemknn", "--recsys-model=random", "--recsys-json=record.json", "-q", "-p", "no:cacheprovider",
        ],
        cwd=folder, check=False, capture_output=True,
    )  # fmt: skip
    return folder / "record.json"


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert main(["paper", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]


def test_a_cell_is_the_mean_over_folds_with_its_standard_error(
    record: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        row for row in record_of(record)["results"] if row.get("metric") == "hit@10"
    ]
    found = {
        row[0]: row for row in table(capsys, "popularity", str(record), "--table=2")
    }
    for model in ("mostpop", "itemknn", "random"):
        one, two = (row["value"] for row in rows if row["model"] == model)
        # Of two values, the standard error of the mean is half their distance.
        assert found[model][2] == f"{(one + two) / 2:.3f} ± {abs(one - two) / 2:.3f}"
    assert found["WOK-gpt-4 †"][1:] == [
        "0.050 ± 0.003", "0.081 ± 0.004", "0.392 ± 0.008", "0.869 ± 0.013",
    ]  # fmt: skip
    assert "mostpop-minimize" not in found  # it reads no text


def test_metrics_agree_or_not_over_the_models(
    record: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["paper", "popularity", str(record), "--table=1"]) == 0
    told = capsys.readouterr().out
    assert "Kendall's tau of these metrics over 3 lines" in told
    assert "| log popularity difference | 1.00 | 1.00 | -1.00 |" in told
    assert (
        "\n| :--- | ---: | ---: | ---: | ---: |\n" in told
    )  # whole, though dashes between blanks are a command to some logs
    assert "Means over 2 values of 'fold'; ± is the standard error." in told


def test_two_records_are_one_table(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole: dict[str, Any] = record_of(record)
    parts = []
    for fold in (0, 3):
        kept = [row for row in whole["results"] if row["details"].get("fold") == fold]
        parts.append(tmp_path / f"fold{fold}.json")
        parts[-1].write_text(json.dumps({**whole, "results": kept}))
    both = table(capsys, "popularity", *map(str, parts))
    assert both == table(capsys, "popularity", str(record))
    assert main(["paper", "popularity", str(record), str(parts[0])]) == 2
    assert "stands in the records twice for fold 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"data_digest": "other"}, "have other data, so no table holds both"),
        ({"seed": 7}, "have other --recsys-seed, so no table holds both: 0 and 7"),
        ({"settings": {"prompts": {"sha256": "1"}}}, "have other --recsys-prompts"),
    ],
)
def test_records_that_asked_something_else_are_no_table(
    record: Path,
    tmp_path: Path,
    change: dict[str, Any],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Folds of two data sets would be averaged otherwise."""
    whole: dict[str, Any] = record_of(record)
    parts = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, fold, extra in zip(parts, (0, 3), ({}, change), strict=True):
        kept = [row for row in whole["results"] if row["details"].get("fold") == fold]
        settings = {**whole["settings"], **extra.get("settings", {})}
        path.write_text(
            json.dumps({**whole, **extra, "settings": settings, "results": kept}),
        )
    assert main(["paper", "popularity", *map(str, parts)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["md", "tex", "csv"])
def test_a_file_is_written_whole_and_a_hostile_name_stays_a_text(
    record: Path,
    tmp_path: Path,
    ending: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wicked = "=a|b\\&<i>_x\x1b[31m"
    whole = json.loads(
        record.read_text().replace(
            '"model": "mostpop"',
            f'"model": {json.dumps(wicked)}',
        ),
    )
    path, output = tmp_path / "record.json", tmp_path / f"tables.{ending}"
    path.write_text(json.dumps(whole))
    assert main(["paper", "popularity", str(path), "-o", str(output)]) == 0
    assert "tables written to" in capsys.readouterr().out
    text = output.read_text()
    assert "\x1b" not in text
    if ending == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert {row["line"].endswith("†") for row in rows} == {True, False}
        assert not any(cell.startswith("=") for row in rows for cell in row.values())
    elif ending == "md":
        assert "| =a&#124;b" in text
        assert "HR@5" in text
    else:
        assert r"\textbackslash{}\&\textless{}i" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["popularty", "{record}"],
            "'popularty' has no tables of a paper; those that have are",
        ),
        (
            ["popularity", "{record}", "--table=4"],
            "no table-4; it has table-1, figure-4, table-2-3, figure-2, figure-3",
        ),
        (["popularity", "{record}", "--figure=9"], "no figure-9; it has table-1"),
        (["popularity", "none.json"], "none.json"),
        (
            ["popularity", "{record}", "-o", "x.doc"],
            "ends in .txt, .md, .tex, .csv, .html",
        ),
        (["popularity", "{record}", "-o", "{record}"], "no known ending"),
    ],
)
def test_what_is_wrong_is_named(
    record: Path,
    arguments: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["paper", *(each.format(record=record) for each in arguments)]) == 2
    assert says in capsys.readouterr().err


def test_what_a_table_lacks_is_said(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole: dict[str, Any] = record_of(record)
    path = tmp_path / "part.json"
    bias, hit = "log_popularity_difference", "hit@10"
    kept = [row for row in whole["results"] if row.get("metric") not in (bias, hit)]
    path.write_text(json.dumps({**whole, "results": kept}))
    assert main(["paper", "popularity", str(path)]) == 0
    told = capsys.readouterr().out
    assert "Users: 80." in told
    assert "(in HR@10; popularity bias): the records have no such figure: " in told
    assert "Not in these records: All metrics of popularity bias" in told
    with pytest.raises(SystemExit):
        main(["paper", "popularity", str(path), "--table=2", "--figure=4"])


def test_an_empty_cell_has_the_reason_of_its_test(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole: dict[str, Any] = record_of(record)
    whole["results"] = [row for row in whole["results"] if row["model"] == "mostpop"]
    unread = "31 of 80 answers could not be read"
    for row in whole["results"]:
        if row.get("metric") == "hit@10":
            row |= {
                "metric": None,
                "value": None,
                "status": "inconclusive",
                "reason": unread,
            }
    path = tmp_path / "unread.json"
    path.write_text(json.dumps(whole))
    assert main(["paper", "popularity", str(path), "--table=2"]) == 0
    assert f"(in HR@10): {unread}." in capsys.readouterr().out
    for row in whole["results"]:
        row |= {
            "metric": None,
            "value": None,
            "status": "inconclusive",
            "reason": unread,
        }
    path.write_text(json.dumps(whole))
    assert main(["paper", "popularity", str(path), "--table=2"]) == 0
    told = capsys.readouterr().out
    assert unread in told
    assert "Means over" not in told, "there is none"


def test_a_partial_run_is_named(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole: dict[str, Any] = record_of(record)
    path = tmp_path / "partial.json"
    gate = {**whole["gate"], "incomplete": ["it was interrupted"]}
    found: list[list[Any]] = [whole["results"], []]
    for results in found:
        path.write_text(json.dumps({**whole, "gate": gate, "results": results}))
        assert main(["paper", "popularity", str(path)]) == (0 if results else 2)
        told = capsys.readouterr()
        assert (
            "partial.json is of a partial run: it was interrupted"
            in told.out + told.err
        )


def test_lines_of_other_users_say_so(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole: dict[str, Any] = record_of(record)
    for row in whole["results"]:
        if row["model"] == "mostpop":
            row["users"] = 40
    path = tmp_path / "users.json"
    path.write_text(json.dumps(whole))
    main(["paper", "popularity", str(path), "--table=2"])
    assert "; 40 (mostpop)." in capsys.readouterr().out


def test_records_of_other_tests_are_told_what_fills_the_tables(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**record_of(record), "results": []}))
    assert main(["paper", "popularity", str(other)]) == 2
    assert (
        "pytest --pyargs pytest_recsys_mt.suites.popularity.test_paper"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "path",
    DECLARED,
    ids=lambda path: f"{path.parts[-3]}-{path.stem}",
)
def test_a_shipped_table_can_be_read(path: Path) -> None:
    declared = read(path)
    assert declared in tables_of(path.parts[-3])
    assert declared.columns
    assert "--recsys-json=RECORD" in declared.run


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = 'x", "is no table of a paper"),
        ("titel = 'x'", "unknown key 'titel'; the keys are name, title"),
        (
            "title='x'\nsource='y'\nrun='z'\n[printed]\na = ['1']",
            "'a' has 1 cells, and there are 0",
        ),
        (
            "title='x'\nsource='y'\nrun='z'\nkendall = ['b']",
            "kendall names 'b', which is no column",
        ),
    ],
)
def test_a_table_that_is_none_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        read(path)


def of(record: Path, **changes: Any) -> dict[str, Any]:
    """The record with `changes` in the rows of itemknn that apply."""
    whole: dict[str, Any] = record_of(record)
    for row in whole["results"]:
        if row["model"] == "itemknn" and row["status"] != "not-applicable":
            row.update(changes)
    return whole


def page(
    whole: dict[str, Any],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """Table 2 of a record."""
    path = folder / "changed.json"
    path.write_text(json.dumps(whole))
    assert main(["paper", "popularity", str(path), "--table=2"]) == 0
    return capsys.readouterr().out


def test_what_an_error_left_is_no_value(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = page(
        of(record, status="error", reason="down (9): 11.2% failed"),
        tmp_path,
        capsys,
    )
    assert "| itemknn | – | – | – | – |" in told
    assert "unmatched of itemknn): down (9): 11.2% failed." in told


def test_unread_answers_are_counted_beside_the_users(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = of(record)
    for row in whole["results"]:
        if row["model"] == "itemknn":
            row["users"] -= 3
            row["details"]["unreadable"] = {"users": {"1": 0, "2": 0, "3": 5}, "of": 80}
    told = page(whole, tmp_path, capsys)
    assert "Users: 80." in told
    assert (
        "Of these with an answer that could not be read: 3; it recommends nothing"
        in told
    )
    for row in whole["results"]:
        row["users"] = 80  # a row of questions has the unread ones among them
    assert "Users: 80." in page(whole, tmp_path, capsys)


def test_a_file_of_questions_is_asked_whole_whatever_users_and_seed_say(
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    for seed, path in enumerate(paths):
        whole = record_of(record)
        whole["results"] = [
            row
            for row in whole["results"]
            if row["model"] == ("random", "mostpop")[seed]
        ]
        whole["settings"] |= {"questions": {"digest": "1"}, "users": 40 + seed}
        path.write_text(json.dumps({**whole, "seed": seed}))
    assert main(["paper", "popularity", *map(str, paths), "--table=2"]) == 0
    assert "mostpop" in capsys.readouterr().out


def test_negative_numbers_of_a_csv_are_numbers_and_formulas_are_none() -> None:
    cells = ["-0.2661", "-4.020 ± 0.013", "-1e-05", "-2+cmd()", "=1", "@x", "-"]
    (line,) = in_csv(["a"] * len(cells), [cells]).splitlines()[1:]
    assert line.split(",") == [*cells[:3], "'-2+cmd()", "'=1", "'@x", "'-"]
