"""`recsys-mt parity` of two logs of answers: what is counted,
what is claimed, and what is named as the cause.
"""

import gzip
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.extras import need
from tests.support.cli import main
from tests.support.parity import (
    Comparison,
    Log,
    Numbered,
    RowReader,
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
    reader = RowReader(paths_of(None))
    logs = [read(path, reader, numbered) for path in (first, second)]
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
            row(1),  # nothing, where an answer has items
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
    # Only one request is answered twice, so it alone shows noise; all are compared.
    assert account.compared == 60
    assert (account.asked_once, found.noise_of) == (0, 1)
    assert (account.only_first, account.only_second, account.other_user) == (1, 1, 1)
    left_out = (
        account.only_first + account.only_second + account.other_user + account.empty
    )
    assert account.compared + account.asked_once + left_out == account.requests == 63
    for log in (a, b):
        kept = sum(int(log.answered(answer).sum()) for answer in (0, 1))
        left_out = log.unreadable + log.further + log.other_user + log.empty_repeats
        assert kept + left_out == log.rows
    assert (a.unreadable, a.further, a.repeats, a.empty_repeats) == (3, 2, 1, 1)
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
    assert "b.jsonl: not one list differs" in capsys.readouterr().out
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


def test_noise_of_some_requests_is_that_of_all(tmp_path: Path) -> None:
    """Of 40 sound noisy pairs whose logs have two answers to two requests of five, at
    most 2 are called violated; three lost items are found in each of 10.
    """
    rng = random.Random(8)
    statuses = []
    for draw in range(50):
        sides: list[list[Row]] = [[], []]
        for number in range(300):
            items = ten(rng)
            for side, rows in enumerate(sides):
                given = [*items[3:], "x", "y", "z"] if side and draw >= 40 else items
                answers = 2 if rng.random() < 0.4 else 1
                rows += [row(number, *explored(rng, given, 2)) for _ in range(answers)]
        paths = [
            written(tmp_path / f"{side}.jsonl", rows) for side, rows in enumerate(sides)
        ]
        found, _, _ = both(paths[0], paths[1], 0.15)
        assert found.account.compared == 300
        statuses.append(found.status)
    assert statuses[:40].count("violated") <= 2
    assert statuses[:40].count("holds") >= 30
    assert statuses[40:] == ["violated"] * 10


def test_one_repeated_request_does_not_stand_for_all(tmp_path: Path) -> None:
    """All lists but one changed; that one was asked twice, and varied."""
    rows = [row(number, "a", "b") for number in range(300)]
    first = written(tmp_path / "a.jsonl", [*rows, row(0, "b", "a")])
    second = written(tmp_path / "b.jsonl", [rows[0], *changed_lists(rows[1:], 299)])
    found, _, _ = both(first, second)
    assert (found.noise_of, found.account.compared, found.changed) == (1, 300, 299)
    assert found.status != "holds"


def test_repeated_failures_do_not_hide_a_change(tmp_path: Path) -> None:
    """A answers alike each time; only 3 % of its requests were repeated, and got another
    list then. B gives another list to 30 % of the requests.
    """
    rng = random.Random(9)
    sides: list[list[Row]] = [[], []]
    for number in range(2000):
        items = ten(rng)
        sides[0].append(row(number, *items))
        if rng.random() < 0.03:
            sides[0].append(row(number, *ten(rng)))
        sides[1].append(row(number, *(ten(rng) if rng.random() < 0.3 else items)))
    paths = [written(tmp_path / f"{n}.jsonl", rows) for n, rows in enumerate(sides)]
    found, _, _ = both(paths[0], paths[1])
    assert (found.status, found.is_noisier) == ("inconclusive", True)


@pytest.mark.parametrize(("lost", "status"), [(0, "inconclusive"), (5, "violated")])
def test_the_noise_of_a_log_without_doubles_is_not_known(
    tmp_path: Path,
    lost: int,
    status: str,
) -> None:
    """Both shuffle; A answers each request twice, B once, without the first items."""
    rng = random.Random(10)
    sides: list[list[Row]] = [[], []]
    for number in range(600):
        items = ten(rng)
        new = [f"new{place}" for place in range(lost)]
        sides[0] += [row(number, *explored(rng, items, 6)) for _ in range(2)]
        sides[1].append(row(number, *explored(rng, [*items[lost:], *new], 6)))
    paths = [written(tmp_path / f"{n}.jsonl", rows) for n, rows in enumerate(sides)]
    found, _, _ = both(paths[0], paths[1])
    assert (found.status, found.unknown) == (status, (False, True))


def test_doubles_of_other_requests_show_the_same_noise(tmp_path: Path) -> None:
    rng = random.Random(11)
    sides: list[list[Row]] = [[], []]
    for number in range(600):
        items = ten(rng)
        for side, rows in enumerate(sides):
            answers = 1 + (number % 2 == side)
            rows += [row(number, *explored(rng, items, 3)) for _ in range(answers)]
    paths = [written(tmp_path / f"{n}.jsonl", rows) for n, rows in enumerate(sides)]
    found, _, _ = both(paths[0], paths[1], 0.15)
    assert (found.status, found.noise_of) == ("holds", 600)
    assert found.floor == pytest.approx(found.agreement, abs=0.03)


def test_scores_that_are_missing_are_counted(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tiny = [3.4e-5, 1.1e-6, 0.7]
    rounded = [float(np.float16(score)) for score in tiny]
    rows = [row(number, "a", "b", "c", scores=tiny) for number in range(40)]
    other = [row(number, "a", "b", "c", scores=rounded) for number in range(40)]
    other[0] = row(0, "a", "b", "c", scores=[1.0, float("nan"), 0.0])
    other[1] = row(1, "a", "b", "c")
    a, b, plain = (
        str(written(tmp_path / name, each))
        for name, each in (
            ("a.jsonl", rows),
            ("b.jsonl", other),
            ("plain.jsonl", [row(number, "a", "b", "c") for number in range(40)]),
        )
    )
    main(["parity", a, b])
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 have scores that are not one finite number" in printed
    assert "1 have no scores, where others have some" in printed
    assert "114 of 114 of items" in printed
    assert "rounding to float16" in printed
    main(["parity", a, plain])
    assert "scores: only A has some" in capsys.readouterr().out


def test_a_place_that_no_row_has_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [{**row(number, "a"), "ctx": {"clicks": ["b"]}} for number in range(9)]
    a, b = (str(written(tmp_path / name, rows)) for name in ("a.jsonl", "b.jsonl"))
    assert main(["parity", a, b, "--map=history=ctx.clikcs"]) == 2
    assert "--map: history=ctx.clikcs is in no row of" in capsys.readouterr().err
    main(["parity", a, b, "--map=history=ctx.clicks"])
    assert "0 of 9 lists differ" in capsys.readouterr().out


def test_a_failure_is_no_noise(tmp_path: Path) -> None:
    rows = [row(number, "a", "b") for number in range(300)]
    failed = [row(number) for number in range(100)]
    first = written(tmp_path / "a.jsonl", [*rows, *failed])
    second = written(tmp_path / "b.jsonl", [*failed, *changed_lists(rows, 100)])
    found, a, b = both(first, second)
    assert (a.empty_repeats, b.empty_repeats) == (100, 100)
    assert (found.noisy, found.changed, found.status) == (False, 100, "violated")


def test_scores_of_another_precision_are_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = random.Random(4)
    sides: list[list[Row]] = [[], []]
    for number in range(100):
        scores = sorted((rng.random() for _ in range(3)), reverse=True)
        rounded = [float(np.float16(score)) for score in scores]
        for rows, given in zip(sides, (scores, rounded), strict=True):
            rows.append(row(number, "a", "b", "c", scores=given))
    sides[1][0] = row(0, "a", "b", "c", scores=[1.0])
    a, b = (
        str(written(tmp_path / name, rows))
        for name, rows in zip(("a.jsonl", "b.jsonl"), sides, strict=True)
    )
    main(["parity", a, b])
    printed = " ".join(capsys.readouterr().out.split())
    assert "scores: 297 of 297 of items that both lists have differ, in 99" in printed
    assert "99 of them the same lists otherwise" in printed
    assert "as small as those of rounding to float16" in printed
    assert "1 have scores that are not one finite number for each item" in printed


def test_logs_as_tools_write_them_are_read(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A mark of the order of bytes, empty lines, ids that became decimals; a gap among
    these is no user.
    """
    rows = [
        {"request": number, "user": 100 + number % 4, "items": [1, 2]}
        for number in range(40)
    ]
    plain = written(tmp_path / "plain.jsonl", rows)
    lines = [
        f'{{"request": {number}, "user": {100 + number % 4}.0, "items": [1.0, 2.0]}}'
        for number in range(40)
    ]
    lines[3] = lines[3].replace("103.0", "NaN")
    odd = tmp_path / "odd.jsonl"
    odd.write_text("\ufeff" + "\n\n".join(lines) + "\n\n", encoding="utf-8")
    main(["parity", str(odd), str(plain)])
    printed = " ".join(capsys.readouterr().out.split())
    assert "0 of 39 lists differ" in printed
    assert "119 ids are numbers such as 17.0, read as 17" in printed
    assert "1 name no user" in printed
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"request": 1, "user": "Zoë", "items": []}\n'.encode("latin-1"))
    assert main(["parity", str(latin), str(plain)]) == 2
    assert "iconv -f latin1 -t utf-8" in capsys.readouterr().err


def test_exactly_alike_is_not_said_of_what_is_missing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(number, "a", "b") for number in range(300)]
    a = written(tmp_path / "a.jsonl", rows)
    b = written(tmp_path / "b.jsonl", rows[:-5])
    assert main(["parity", str(a), str(b), "--exact"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "b.jsonl: it cannot be told, as 5 requests have one answer" in printed


def test_ctrl_c_ends_without_a_traceback(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    a, b = (
        str(written(tmp_path / name, [row(1, "a")])) for name in ("a.jsonl", "b.jsonl")
    )
    monkeypatch.setattr(RowReader, "fields_of", interrupted)
    assert main(["parity", a, b]) == 130
    assert capsys.readouterr().err == "recsys-mt: interrupted\n"


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
