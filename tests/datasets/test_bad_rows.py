"""Rows that cannot be used, and rows in which nothing was taken: each is named or
counted, and the account adds up.
"""

import random
import re
from pathlib import Path

import pandas as pd
import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from tests.extras import need

HEADER = "order,customer_id,sku,quantity,date"


def orders(count: int = 600) -> list[str]:
    """Rows of a shop; no customer has an item twice."""
    rng = random.Random(1)
    lines = []
    for number in range(count):
        user, item = number % 60, number // 60 + 10 * (number % 7)
        day = f"2026-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
        lines.append(f"{number},c{user},s{item:03},1,{day}")
    return lines


DIRTY = {
    100: HEADER,
    200: "200,,s001,1,2026-01-01",
    201: "201,,s002,1,2026-01-01",
    300: "300,c1,,1,2026-01-01",
    400: "400,c1,s300,1,0000-00-00",
    500: "500,c1,s301,1",
}
"""Broken rows, by their numbers below the header."""


def written(folder: Path, lines: list[str], header: str = HEADER) -> Path:
    path = folder / "orders.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def dirty(folder: Path) -> Path:
    lines = orders()
    for number, line in DIRTY.items():
        lines[number] = line
    items = [f"s{number:03},Thing {number}" for number in range(310)]
    (folder / "items.csv").write_text("\n".join(["sku,title", *items, items[3]]))
    return written(folder, lines)


def loaded(source: str) -> tuple[Dataset, list[str]]:
    notes: list[str] = []
    return load(source, told=notes.append), notes


def test_all_kinds_are_named_at_once(tmp_path: Path) -> None:
    path = dirty(tmp_path)
    with pytest.raises(DataError) as caught:
        load(str(path))
    first, *kinds, advice = str(caught.value).splitlines()
    assert "6 of 600 rows of" in first
    assert "1 of 311 rows of" in first
    assert len(kinds) == 6
    for kind in (
        "line 102: the header stands here again",
        "2 rows: ",
        "line 202: user is '', not an id; line 203: user",
        "line 302: item is ''",
        "line 402: timestamp is '0000-00-00'",
        "line 502: 4 fields where 5 are expected",
        "line 312: item 's003' stands at line 5 already",
    ):
        assert any(kind in text for text in kinds), kind
    assert advice.startswith("bad_rows=skip behind the path")


def test_rows_are_left_out_and_the_account_adds_up(tmp_path: Path) -> None:
    path = dirty(tmp_path)
    dataset, notes = loaded(f"{path}?bad_rows=skip")
    counts = [
        int(match[1])
        for note in notes
        if (match := re.match(r"left out, (\d+) rows?:", note))
    ]
    assert sum(counts) == len(DIRTY) + 1
    assert len(dataset.interactions) == 600 - len(DIRTY)
    whole = load(f"{written(tmp_path, orders())}?bad_rows=skip")
    times = whole.interactions.merge(dataset.interactions, on=["user", "item"])
    assert len(times) == len(dataset.interactions)
    assert (times["timestamp_x"] == times["timestamp_y"]).all()


def test_too_many_are_no_bad_rows(tmp_path: Path) -> None:
    lines = orders()
    lines[::10] = [line.replace("2026-", "soon-") for line in lines[::10]]
    path = written(tmp_path, lines)
    with pytest.raises(
        DataError, match=r"10\.0% of the rows of orders\.csv, and at most 5%"
    ):
        load(f"{path}?bad_rows=skip")
    dataset, _ = loaded(f"{path}?bad_rows=0.11")
    assert len(dataset.interactions) == 540
    with pytest.raises(DataError, match="bad_rows='some' is none of error, skip"):
        load(f"{path}?bad_rows=some")


def test_one_row_is_named_as_before(tmp_path: Path) -> None:
    lines = orders()
    lines[7] = "7,,s1,1,2026-01-01"
    path = written(tmp_path, lines)
    with pytest.raises(
        DataError, match=r"orders.csv', line 9: user is '', not an id \("
    ):
        load(str(path))
    everything = written(tmp_path, [lines[7]])
    with pytest.raises(DataError, match=r"line 2: user is '', not an id"):
        load(f"{everything}?bad_rows=skip")


def test_records_and_tables_of_types_too(tmp_path: Path) -> None:
    need("pyarrow")
    rows = [line.split(",") for line in orders()]
    frame = pd.DataFrame(rows, columns=HEADER.split(","))
    frame.loc[5, "customer_id"] = None
    frame.to_parquet(tmp_path / "orders.parquet")
    frame.to_json(tmp_path / "orders.jsonl", orient="records", lines=True)
    lines = (tmp_path / "orders.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text(
        "\n".join([*lines[:5], *lines[6:], lines[0][:9]])
    )
    with pytest.raises(DataError, match=r"line 600: .* is not a record"):
        load(str(tmp_path / "cut.jsonl"))
    for name in ("orders.parquet", "orders.jsonl", "cut.jsonl"):
        dataset, notes = loaded(f"{tmp_path / name}?bad_rows=skip")
        assert len(dataset.interactions) == 599
        assert any("1 of 600 rows" in note for note in notes)


def kinds(folder: Path, column: str, values: list[str]) -> Path:
    """A table with a column of such values in turn."""
    lines = [
        f"{line.rsplit(',', 2)[0]},{values[number % len(values)]}"
        for number, line in enumerate(orders())
    ]
    return written(folder, lines, f"order,customer_id,sku,{column}")


@pytest.mark.parametrize(
    ("column", "values", "rows"),
    [
        ("quantity", ["1", "2", "-1"], 400),
        ("click", ["0", "1"], 300),
        ("is_click", ["0", "1", "0"], 200),
        ("event_type", ["purchase"], 600),
    ],
)
def test_rows_in_which_nothing_was_taken_are_left_out(
    tmp_path: Path,
    column: str,
    values: list[str],
    rows: int,
) -> None:
    path = kinds(tmp_path, column, values)
    dataset, notes = loaded(str(path))
    assert len(dataset.interactions) == rows
    left_out = 600 - rows
    assert any(f"{left_out} of 600 rows" in each for each in notes) == (left_out > 0)
    assert any(f"'{column}' says which rows count" in each for each in notes)
    everything, _ = loaded(f"{path}?keep=all")
    assert len(everything.interactions) == 600


@pytest.mark.parametrize(
    "column", ["event", "event_type", "action", "behavior", "Status"]
)
def test_what_is_not_known_is_asked(tmp_path: Path, column: str) -> None:
    path = kinds(tmp_path, column, ["view", "view", "purchase", "remove_from_cart"])
    with pytest.raises(DataError) as caught:
        load(str(path))
    assert f"'{column}' says what a row is: 'view' (300), " in str(caught.value)
    assert f"?keep={column}:view" in str(caught.value)
    dataset, notes = loaded(f"{path}?keep={column}:purchase|view")
    assert len(dataset.interactions) == 450
    assert any("150 of 600 rows are left out by keep" in note for note in notes)


def test_conditions_are_checked(tmp_path: Path) -> None:
    path = kinds(tmp_path, "quantity", ["1", "2", "3"])
    assert len(load(f"{path}?keep=quantity>1").interactions) == 400
    assert len(load(f"{path}?keep=quantity!=1,order<300").interactions) == 200
    for keep, message in (
        ("quantity", "'quantity' is no condition"),
        ("amount>1", "keep names 'amount', which is no column; it has 'order'"),
        ("quantity>many", "compares with 'many', which is no number"),
    ):
        with pytest.raises(DataError, match=re.escape(message)):
            load(f"{path}?keep={keep}")
    path = kinds(tmp_path, "quantity", [*(["1"] * 99), "one"])
    with pytest.raises(DataError, match="quantity is 'one', not a number, and keep"):
        load(f"{path}?keep=quantity>0")
    assert len(load(f"{path}?keep=quantity>0&bad_rows=skip").interactions) == 594


@pytest.mark.parametrize("odd", ["", "two", "NULL"])
def test_a_quantity_that_is_no_number_is_no_purchase(tmp_path: Path, odd: str) -> None:
    path = kinds(tmp_path, "quantity", ["1", "-1"])
    lines = path.read_text().splitlines()
    lines[9] = lines[9].rsplit(",", 1)[0] + f",{odd}"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=f"line 10: quantity is {odd!r}, not a number"):
        load(str(path))
    dataset, notes = loaded(f"{path}?bad_rows=skip")
    assert len(dataset.interactions) == 299
    assert any(
        "300 of 599 rows, whose quantity is 0 or below" in note for note in notes
    )


@pytest.mark.parametrize(
    ("keep", "rows"),
    [
        ("quantity>1,quantity<4", 240),
        ("quantity!=1|2", 360),
        ("quantity!=1,quantity!=2,quantity:3|4", 240),
        ("quantity:1|5", 240),
    ],
)
def test_conditions_on_a_column_count_together(
    tmp_path: Path, keep: str, rows: int
) -> None:
    path = kinds(tmp_path, "quantity", ["1", "2", "3", "4", "5"])
    assert len(load(f"{path}?keep={keep}").interactions) == rows


def dated(folder: Path, dates: list[str]) -> str:
    lines = [
        f"{line.rsplit(',', 1)[0]},{dates[number % len(dates)]}"
        for number, line in enumerate(orders(100))
    ]
    return f"{written(folder, lines)}?bad_rows=skip"


@pytest.mark.parametrize(
    ("dates", "day"),
    [
        ([*["03/02/2024"] * 95, *["13/02/2024"] * 4, "02/25/2024"], "2024-02-03"),
        (["n/a", *["01.02.2024"] * 99], "2024-02-01"),
        (["20240231", *["20240203"] * 99], "2024-02-03"),
        (["31/31/2024", *["13/02/2024"] * 50, *["03/02/2024"] * 49], "2024-02-03"),
    ],
)
def test_one_broken_date_changes_no_other(
    tmp_path: Path, dates: list[str], day: str
) -> None:
    dataset, notes = loaded(dated(tmp_path, dates))
    assert any("1 of 100 rows" in note for note in notes)
    times = pd.to_datetime(dataset.interactions["timestamp"], unit="s")
    assert day in set(times.dt.strftime("%Y-%m-%d"))
    assert len(times) == 99


def test_what_is_no_bad_row_is_not_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, [*orders(100), orders(100)[5]])
    with pytest.raises(DataError, match=r"line 102: user 'c5' has item .* again"):
        load(f"{path}?bad_rows=skip", repeats="refuse")
    table = tmp_path / "events.jsonl"
    lines = [f'{{"user_id": "u{n % 9}", "item_id": "i{n}"}}' for n in range(100)]
    table.write_text("\n".join([lines[0], "oops", *lines[1:]]))
    dataset, notes = loaded(f"{table}?bad_rows=skip")
    assert len(dataset.interactions) == 100
    assert any("line 2" in note for note in notes)


def test_a_header_in_another_case_is_no_row(tmp_path: Path) -> None:
    lines = orders()
    lines[50] = HEADER.upper()
    with pytest.raises(DataError, match="line 52: the header stands here again"):
        load(str(written(tmp_path, lines)))
