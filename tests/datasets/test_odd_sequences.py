"""Lists as they are written, and times that are missing, in tables of all kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.extras import need


def histories(spec: str) -> dict[str, list[str]]:
    return {
        user: [rating.item.id for rating in history]
        for user, history in load(spec).histories.items()
    }


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Red lamp|Chair", "Chair"], [["Red lamp", "Chair"], ["Chair"]]),
        (["[1 5 7]", "['a' 'b']"], [["1", "5", "7"], ["a", "b"]]),
        (["1 5", "7"], [["1", "5"], ["7"]]),
    ],
)
def test_the_divider_is_the_one_that_no_name_has(
    cells: list[str], expected: list[list[str]]
) -> None:
    lines = [f"u{place};{cell}" for place, cell in enumerate(cells)]
    Path("s.csv").write_text("user;seq\n" + "\n".join(lines) + "\n")
    found = histories("s.csv?sequence=seq")
    assert found == {f"u{place}": items for place, items in enumerate(expected)}


def test_cells_that_are_divided_otherwise_are_no_ids() -> None:
    Path("s.csv").write_text('user,seq\na,1|5\nb,"[1, 5"\nc,"1,5,7"\nd,9\n')
    with pytest.raises(DataError, match=r"2 of 4 rows") as caught:
        load("s.csv?sequence=seq")
    assert "'1,5,7', which is no list of ids divided at '|'" in str(caught.value)


def test_any_blanks_divide_a_line() -> None:
    Path("s.txt").write_text("u1 a  b\nu2\tb c\n")
    assert histories("s.txt?columns=user,sequence&sep=blank") == {
        "u1": ["a", "b"],
        "u2": ["b", "c"],
    }


def test_the_longest_of_the_lists_that_grow_is_the_history() -> None:
    head = "user_id:token\titem_id_list:token_seq\titem_id:token\n"
    Path("b.inter").write_text(f"{head}u\t10 11\t12\nu\t10\t11\n")
    notes: list[str] = []
    found = load("b.inter", repeats="count", told=notes.append)
    assert [each.item.id for each in found.histories["u"]] == ["10", "11", "12"]
    assert set(found.interactions["rating"]) == {1}
    assert any(note.startswith("2 of these items stand in longer") for note in notes)


def test_the_own_item_of_a_row_of_a_test_file_is_held_out() -> None:
    head = "user_id:token\titem_id_list:token_seq\titem_id:token\n"
    Path("train.inter").write_text(f"{head}u\t10\t11\nv\t11\t12\n")
    # The item of the validation file stands in the list of the test row.
    Path("test.inter").write_text(f"{head}u\t10 11 7\t12\nv\t11 12 7\t10\n")
    found = load("train.inter?test=test.inter")
    assert found.withheld == {"u": frozenset({"12"}), "v": frozenset({"10"})}


def test_ids_of_numbers_and_of_texts_in_two_files_are_the_same() -> None:
    Path("train.csv").write_text("user,seq\n1,10\n2,11\n")
    Path("test.csv").write_text("user,seq\n1,10 12\n2,14 10\n")
    found = load("train.csv?sequence=seq&test=test.csv")
    assert set(found.items) == {"10", "11", "12", "14"}


def test_records_without_rows_are_bad_rows() -> None:
    records = [
        {"user": "a", "events": [{"item": "x"}, {"item": "y"}]},
        {"user": "b", "event": [{"item": "x"}]},
        {"user": "c", "events": {"item": "x"}},
        {"user": "d", "events": []},
        {"user": "e", "events": ["x"]},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    Path("e.jsonl").write_text(lines)
    with pytest.raises(DataError, match=r"4 of 6 rows") as caught:
        load("e.jsonl?each=events")
    assert "line 2: 'events' has no list of rows" in str(caught.value)
    assert histories("e.jsonl?each=events&bad_rows=0.7") == {"a": ["x", "y"]}


@pytest.mark.parametrize("first", ["2026-01-01", 1484388322])
def test_a_missing_time_is_a_bad_row(first: object) -> None:
    Path("t.py").write_text(
        f"def rows():\n    return [dict(user='a', item='x', time={first!r}), "
        f"dict(user='a', item='y', time=None)]\n"
    )
    with pytest.raises(DataError, match=r"t.py:rows', row 2: timestamp is "):
        load("t.py:rows")
    assert len(load("t.py:rows?bad_rows=0.5").interactions) == 1


def test_folders_name_texts_and_are_read_in_their_order(tmp_path: Path) -> None:
    need("pyarrow")
    for number in (2, 10):
        folder = tmp_path / "orders" / "item=007"
        folder.mkdir(parents=True, exist_ok=True)
        frame = pd.DataFrame({"user": [f"u{number}"]})
        frame.to_parquet(folder / f"part-{number}.parquet")
    found = load("orders").interactions
    assert set(found["item"]) == {"007"}
    assert list(found.sort_values("timestamp")["user"]) == ["u2", "u10"]


def test_files_that_do_not_fit_together_are_said_to(tmp_path: Path) -> None:
    need("pyarrow")
    folder = tmp_path / "o.parquet"
    folder.mkdir()
    for name, items in (("a", [1]), ("b", [pd.Timestamp("2026-01-01")])):
        frame = pd.DataFrame({"user": ["u"], "item": items})
        frame.to_parquet(folder / f"{name}.parquet")
    with pytest.raises(DataError, match="do not fit together as one table"):
        load("o.parquet")
