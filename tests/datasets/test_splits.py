"""What `split=` and `test=` behind a path keep from training, and what becomes of every
row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import Dataset, load
from tests.support.datasets import left_by_core, targets, training

Row = tuple[str, str, int | str]
Timed = tuple[str, str, int]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["u", "v", "w"]),
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.integers(1_700_000_000, 1_700_000_009),
    ),
    min_size=1,
    max_size=25,
)
CUT = 1_700_000_005


def written(
    path: Path, rows: Sequence[Sequence[object]], header: str = "user,item,time"
) -> Path:
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def pairs(data: Dataset) -> set[tuple[str, str]]:
    frame = data.interactions
    return set(zip(frame["user"], frame["item"], strict=True))


def account(notes: list[str]) -> tuple[int, list[int]]:
    """The total of the note that divides all interactions, and its parts."""
    (line,) = [note for note in notes if " interactions = " in note]
    total, _, parts = line.partition(" interactions = ")
    parts = parts.partition(";")[0]
    numbers = [int(part.split()[0].replace(",", "")) for part in parts.split(" + ")]
    return int(total.split()[-1].replace(",", "")), numbers


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS,
    option=st.sampled_from(
        [f"time:{CUT}", "time:0.5", "sessions:2s", "sessions&session=visit"]
    ),
    repeats=st.sampled_from(["latest", "count"]),
)
@example([("u", "a", CUT - 1), ("u", "a", CUT)], f"time:{CUT}", "latest")
def test_an_account_adds_up_also_where_nobody_is_left_to_ask(
    tmp_path: Path,
    rows: list[Timed],
    option: str,
    repeats: str,
) -> None:
    visits = [(*row, f"s{row[2] % 3}") for row in rows]
    table = written(tmp_path / "all.csv", visits, "user,item,time,visit")
    notes: list[str] = []
    problem = ""
    try:
        data = load(f"{table}?split={option}", repeats=repeats, told=notes.append)  # type: ignore[arg-type]
    except DataError as refused:
        problem = str(refused)
    if not problem:
        _, parts = account(notes)
        assert parts[:2] == [len(data.known.interactions), len(targets(data))]
    elif " interactions = " in problem:
        notes = [problem]
    else:  # there is nothing to divide
        assert re.search("has two sessions|before the cut", problem)
        return
    total, parts = account(notes)
    assert total == sum(parts) == len(rows)
    assert min(parts) > 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, repeats=st.sampled_from(["latest", "count"]), divided=st.booleans())
def test_every_row_is_in_training_or_asked_or_counted(
    tmp_path: Path,
    rows: list[Timed],
    repeats: str,
    divided: bool,
) -> None:
    early = [row for row in rows if row[2] < CUT]
    late = [row for row in rows if row[2] >= CUT]
    past = {(user, item) for user, item, _ in early}
    first: dict[str, str] = {}
    for user, item, _ in sorted(late, key=lambda row: (row[0], row[2], row[1])):
        if any(user == other for other, _ in past) and (user, item) not in past:
            first.setdefault(user, item)
    assume(first)
    notes: list[str] = []
    if divided:  # the same two parts as files
        written(tmp_path / "late.csv", late)
        path = f"{written(tmp_path / 'early.csv', early)}?test=late.csv"
    else:
        path = f"{written(tmp_path / 'all.csv', rows)}?split=time:{CUT}"
    data = load(path, repeats=repeats, told=notes.append)  # type: ignore[arg-type]
    assert pairs(training(data)) == pairs(data.known) == past
    assert targets(data) == {user: {item} for user, item in first.items()}
    assert int(training(data).interactions["timestamp"].max()) < CUT
    total, parts = account(notes)
    assert total == sum(parts) == len(rows)
    assert parts[:2] == [len(past), len(first)]


ONE_CUT = [
    ("u", "a", "2026-01-01T00:00:00Z"),
    ("u", "b", "2026-01-02T23:30:00Z"),
    ("u", "c", "2026-01-05T00:00:00Z"),
    ("v", "c", "2026-01-02T00:00:00Z"),
    ("v", "d", "2026-01-03T00:00:00Z"),
]


@pytest.mark.parametrize(
    ("cut", "asked"),
    [
        ("time:2026-01-03", {"u": {"c"}, "v": {"d"}}),
        ("time:20260103", {"u": {"c"}, "v": {"d"}}),
        ("time:1767398400", {"u": {"c"}, "v": {"d"}}),
        ("time:2026-01-03T00:30:00+02:00", {"u": {"b"}, "v": {"d"}}),
        ("time:0.8", {"u": {"c"}}),
        ("time:0.5", {"u": {"b"}, "v": {"d"}}),
    ],
)
def test_one_cut_in_time_is_for_all_users(
    tmp_path: Path,
    cut: str,
    asked: dict[str, set[str]],
) -> None:
    table = written(tmp_path / "log.csv", ONE_CUT)
    assert targets(load(f"{table}?split={cut}")) == asked


def test_what_is_in_the_second_of_the_cut_is_held_out_and_counted(
    tmp_path: Path,
) -> None:
    rows = [
        ("u", item, 1_700_000_000 + time)
        for item, time in zip("abcd", (0, 1, 1, 2), strict=True)
    ]
    notes: list[str] = []
    data = load(
        f"{written(tmp_path / 'log.csv', rows)}?split=time:0.5",
        told=notes.append,
    )
    assert targets(data) == {"u": {"b"}}
    assert len(training(data).interactions) == 1
    assert "in its second, and so held out, though within the share: 1" in " ".join(
        notes
    )
    assert "of several in one second, the first by its id: 1" in " ".join(notes)


SESSIONS = "user,item,session,time"
VISITS = [
    ("u", "a", "s1", 1_700_000_000),
    ("u", "b", "s1", 1_700_001_800),
    ("u", "a", "s2", 1_700_003_601),
    ("u", "c", "s2", 1_700_003_700),
    ("u", "d", "s2", 1_700_003_800),
    ("v", "a", "s1", 1_700_000_000),
]


@pytest.mark.parametrize("split", ["sessions", "sessions:30m", "sessions:1800s"])
def test_the_first_new_item_of_the_last_session_is_asked_about(
    tmp_path: Path,
    split: str,
) -> None:
    lines = [SESSIONS, *(",".join(map(str, row)) for row in VISITS)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    notes: list[str] = []
    data = load(f"{tmp_path / 'visits.csv'}?user=user&split={split}", told=notes.append)
    assert targets(data) == {"u": {"c"}}
    assert pairs(training(data)) == {("u", "a"), ("u", "b"), ("v", "a")}
    total, parts = account(notes)
    assert (total, sum(parts)) == (6, 6)
    assert any("the last is held out: 1 of 2" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("log.csv?split=half", "'half' is none of latest, time:WHEN, time:SHARE"),
        ("log.csv?split=time:1.5", "SHARE is between 0 and 1"),
        ("log.csv?split=sessions:soon", r"as in split=sessions:30m \(s, m, h or d\)"),
        ("log.csv?split=time:2030-01-01", "all 2 interactions, from 2023-11-14"),
        ("log.csv?split=sessions", r"no column of sessions.*\?session=HEADER"),
        ("log.csv?split=sessions:2h", "none of 2 users has two sessions"),
        ("log.csv?session=item", "is read for split=sessions alone"),
        ("log.csv?split=time:0.5", "no user has an interaction for training and a new"),
        ("orders.csv?split=time:0.5", r"no column of times.*\?time=HEADER"),
        ("log.csv?test=gone.csv", "test='gone.csv' is no file"),
        ("log.csv?test=log.csv", "is the table for training itself"),
        ("log.csv?test=orders.csv", "'.*orders.csv' has no column for the timestamp"),
        ("log.csv?test=log2.csv&split=time:0.5", "leave one of them out"),
        ("mini?split=sessions", "no column of sessions"),
    ],
)
def test_a_split_that_cannot_be_made_names_the_way_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    wrong: str,
) -> None:
    rows = [("u", "a", 1_700_000_000), ("v", "b", 1_700_000_010)]
    written(tmp_path / "log.csv", rows)
    written(tmp_path / "log2.csv", [("u", "c", 1_700_000_020)])
    (tmp_path / "orders.csv").write_text("user,item\nu,a\nu,b\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=wrong):
        load(text)


def test_another_split_is_other_data_and_the_latest_item_is_no_split(
    tmp_path: Path,
) -> None:
    table = written(tmp_path / "log.csv", ONE_CUT)
    plain = load(table)
    assert load(f"{table}?split=latest").digest == plain.digest
    assert targets(plain) == {"u": {"c"}, "v": {"d"}}
    digests = [load(f"{table}?split=time:{share}").digest for share in (0.8, 0.5)]
    assert len({plain.digest, *digests}) == 3


def test_a_well_known_set_is_split_and_its_core_is_that_of_training() -> None:
    whole = load("mini?split=time:0.8")
    split = int(training(whole).interactions["timestamp"].max())
    core = whole.core(5)
    counts = training(core).interactions["item"].value_counts()
    assert counts.min() >= 5
    assert set(core.items) == set(counts.index)
    assert int(training(core).interactions["timestamp"].max()) <= split
    late = core.interactions[core.interactions["timestamp"] > split]
    assert {
        user: items & set(late["item"]) for user, items in targets(core).items()
    } == (targets(core))


def test_a_core_of_a_split_counts_what_it_leaves_and_what_it_takes() -> None:
    whole = load("mini?split=time:0.8")
    core = whole.core(5)
    assert pairs(core) >= {
        (user, item) for user, items in (core.withheld or {}).items() for item in items
    }
    late = sum(map(len, (core.withheld or {}).values()))
    early = len(core.interactions) - late
    withheld = sum(map(len, (whole.withheld or {}).values()))
    more = withheld - late, len(whole.interactions) - withheld - early
    assert min(more) > 0
    assert left_by_core(whole, core, 5) == (
        f"recsys_core=5, which counts what is for training alone, leaves {early:,} interactions for training and "
        f"{len(targets(core)):,} users to ask about one of {late:,} held out; left out with rare users and items are "
        f"{more[1]:,} for training and {more[0]:,} held out"
    )
