"""`recsys-mt parity` of two logs of answers: what is counted,
what is claimed, and what is named as the cause.
"""

import gzip
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.extras import need
from tests.support.cli import main
from tests.support.parity import (
    Comparison,
    Log,
    Numbered,
    compare,
    finish,
    paths_of,
    read,
)

Row = Mapping[str, Any]


def written(path: Path, rows: Iterable[Row | str]) -> Path:
    """A log with these rows; a text stands as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def row(number: int, *items: str, **facts: Any) -> Row:
    return {
        "request": f"r{number}",
        "user": f"u{number % 300}",
        "items": items,
        **facts,
    }


def ten(rng: random.Random) -> list[str]:
    return rng.sample([f"sku{number}" for number in range(200)], 10)


def both(
    first: Path,
    second: Path,
    margin: float = 0.05,
) -> tuple[Comparison, Log, Log]:
    numbered = Numbered()
    logs = [read(path, paths_of(None), numbered) for path in (first, second)]
    for log in logs:
        finish(log, numbered)
    return compare(logs[0], logs[1], numbered, margin, catalogue={}), logs[0], logs[1]


def test_the_account_adds_up(tmp_path: Path) -> None:
    common = [row(number, "a", "b", "c") for number in range(60)]
    first = written(
        tmp_path / "a.jsonl",
        [
            *common,
            row(100, "a"),  # only here
            row(101, "a", "a", "b"),  # an item twice
            row(101, "b", "a"),  # a second answer, which differs
            row(101, "a"),  # a third one
            {**row(101, "a"), "user": "somebody else"},
            "{not json",
            {"request": "r1", "user": "u1", "items": "a"},
            {"user": "u1", "items": ["a"]},
        ],
    )
    second = written(
        tmp_path / "b.jsonl",
        [
            *common[:-1],
            {**common[-1], "user": "another"},
            row(101, "a", "b"),
            row(102, "a"),
        ],
    )
    found, a, b = both(first, second)
    account = found.account
    # Only one request is answered twice in a log that is so noisy, so no other counts.
    assert account.compared == 1
    assert account.asked_once == 59
    assert (account.only_first, account.only_second, account.other_user) == (1, 1, 1)
    left_out = (
        account.only_first + account.only_second + account.other_user + account.empty
    )
    assert account.compared + account.asked_once + left_out == account.requests == 63
    for log in (a, b):
        kept = sum(int(log.answered(answer).sum()) for answer in (0, 1))
        assert kept + log.unreadable + log.further + log.other_user == log.rows
    assert (a.unreadable, a.further, a.repeats) == (3, 2, 1)
    assert any("not a list of items" in example for example in a.examples)


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".parquet"])
def test_a_cause_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ending: str,
) -> None:
    rng = random.Random(3)
    rows = [row(number, *ten(rng), country=rng.choice("DF")) for number in range(600)]
    stale = [
        {**one, "items": [*one["items"][1:], "new"]} if one["country"] == "F" else one
        for one in rows
    ]
    paths = []
    for name, each in (("a", rows), ("b", stale)):
        path = tmp_path / f"{name}{ending}"
        if ending == ".parquet":
            need("pyarrow")
            pd.DataFrame(each).to_parquet(path)
        elif ending == ".jsonl.gz":
            with gzip.open(path, "wt", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(one)}\n" for one in each)
        else:
            written(path, each)
        paths.append(str(path))
    assert main(["parity", *paths]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "other lists" in told
    assert "changed lists are of users whose country is F" in told


def test_the_same_lists_hold_and_a_page_is_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = random.Random(1)
    rows = [row(number, *ten(rng)) for number in range(600)]
    a = written(tmp_path / "a.jsonl", rows)
    b = written(tmp_path / "b.jsonl", reversed(rows))
    assert main(["parity", str(a), str(b), "--exact"]) == 0
    assert "not one list that was compared differs" in capsys.readouterr().out
    page = tmp_path / "parity.md"
    assert main(["parity", str(a), str(b), "-o", str(page)]) == 0
    assert "600 requests: 600 compared" in page.read_text(encoding="utf-8")


def explored(rng: random.Random, items: list[str], swaps: int) -> list[str]:
    """A list of which some neighbours change places."""
    drawn = list(items)
    for _ in range(swaps):
        at = rng.randrange(len(drawn) - 1)
        drawn[at], drawn[at + 1] = drawn[at + 1], drawn[at]
    return drawn


def test_noise_is_taken_off(tmp_path: Path) -> None:
    """Of 40 sound noisy pairs at most 2 are called violated,
    and a lost item is found in each of 10.
    """
    rng = random.Random(7)
    statuses = []
    for draw in range(50):
        lists = [ten(rng) for _ in range(300)]
        sides: list[list[Row]] = [[], []]
        for number, items in enumerate(lists):
            for side, rows in enumerate(sides):
                given = [*items[3:], "x", "y", "z"] if side and draw >= 40 else items
                swaps = 2 + side  # noise of unequal strength
                rows += [row(number, *explored(rng, given, swaps)) for _ in range(2)]
        paths = [
            written(tmp_path / f"{side}.jsonl", rows) for side, rows in enumerate(sides)
        ]
        statuses.append(both(paths[0], paths[1])[0].status)
    assert statuses[:40].count("violated") <= 2
    assert statuses[:40].count("holds") >= 36
    assert statuses[40:] == ["violated"] * 10


def test_fields_are_found_by_their_paths(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"id": number, "who": "u", "response": {"items": [{"sku": 1}, {"sku": 2}]}}
        for number in range(5)
    ]
    a, b = (str(written(tmp_path / name, rows)) for name in ("a.jsonl", "b.jsonl"))
    main(["parity", a, b, "--map=request=id,user=who,items=response.items.sku"])
    assert "0 of 5 lists differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.jsonl", "itemknn", "--open"], "which candidates are offered"),
        (["a.jsonl", "b.jsonl", "--on=c.jsonl"], "two logs are compared without asking"),
        (["a.jsonl", "b.jsonl", "--users=5"], "two logs are compared without asking"),
        (["a.jsonl", "b.jsonl", "--map=item=x"], "says no place of a field"),
        (["a.jsonl", "./a.jsonl"], "both logs are the file 'a.jsonl'"),
        (["a.jsonl", "none.jsonl"], "cannot be read: No such file"),
        (["a.jsonl", "empty.jsonl"], "has no row that can be read: it is empty"),
        (["a.jsonl", "other.jsonl"], "line 1: it is [1, 2], not an object; line 2: request is None, not an id"),
        (["itemknn", "bm25", "--map=items=x"], "is for logs of answers"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        written(Path(name), [row(1, "a")])
    written(Path("empty.jsonl"), [])
    written(Path("other.jsonl"), ["[1, 2]", {"items": []}])
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(["parity", *arguments]))
    assert ended.value.code == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_nothing_is_claimed_if_one_log_lacks_many_requests(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(number, "a", "b") for number in range(600)]
    a, b = (
        written(tmp_path / "a.jsonl", rows),
        written(tmp_path / "b.jsonl", rows[:500]),
    )
    assert main(["parity", str(a), str(b)]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "16.7% of the requests are answered in one log alone" in told
    assert "100 left out only A answers" in told


def changed_lists(rows: Iterable[Row], count: int) -> list[Row]:
    return [
        {**one, "items": ["x"]} if number < count else one
        for number, one in enumerate(rows)
    ]


def test_a_row_that_is_delivered_twice_is_no_noise(tmp_path: Path) -> None:
    rows = [row(number, "a", "b") for number in range(300)]
    first = written(tmp_path / "a.jsonl", [*rows, *rows[:5]])
    second = written(tmp_path / "b.jsonl", changed_lists(rows, 100))
    found, _, _ = both(first, second)
    assert (found.noisy, found.account.compared, found.changed) == (False, 300, 100)
    assert found.status == "violated"


def test_what_one_log_lacks_may_have_changed(tmp_path: Path) -> None:
    """4 % of requests without an answer are not enough to stop, and too many to claim
    that 3 % at most differ.
    """
    rows = [row(number, "a", "b") for number in range(300)]
    whole, part = (
        written(tmp_path / "a.jsonl", rows),
        written(tmp_path / "b.jsonl", rows[:-12]),
    )
    assert both(whole, part, 0.03)[0].status == "inconclusive"
    assert (
        both(part, written(tmp_path / "d.jsonl", rows[:-12]), 0.03)[0].status == "holds"
    )


def test_rows_that_cannot_be_read_stop_a_claim(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(number, "a", "b") for number in range(300)]
    a, b = (
        written(tmp_path / name, [*rows, *["{"] * 30])
        for name in ("a.jsonl", "b.jsonl")
    )
    assert main(["parity", str(a), str(b)]) == 1
    assert "30 cannot be read" in capsys.readouterr().out


def test_exact_is_about_all_places(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    items = [f"sku{number}" for number in range(120)]
    a, b = (
        written(
            tmp_path / f"{last}.jsonl",
            [row(number, *items, last) for number in range(300)],
        )
        for last in ("one", "other")
    )
    assert main(["parity", str(a), str(b), "--exact"]) == 1
    told = capsys.readouterr().out
    assert "the first 100 of up to 121 places are compared" in " ".join(told.split())


def test_empty_lists_are_no_agreement(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(number) for number in range(300)]
    a, b = (written(tmp_path / name, rows) for name in ("a.jsonl", "b.jsonl"))
    assert main(["parity", str(a), str(b), "--exact"]) == 1
    told = capsys.readouterr().out
    assert "there is no request to compare" in told
    assert "300 left out whose lists are empty in both" in told
