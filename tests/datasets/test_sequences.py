"""Files that list several items in one place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.extras import need

Sequences = Mapping[int, Sequence[int]]
SEQUENCES: Sequences = {1: (9, 10, 2), 2: (2, 30), 3: (10, 9, 30, 2)}


def lines(row: Callable[[int, Sequence[int]], str], head: str = "") -> str:
    return head + "".join(row(user, items) + "\n" for user, items in SEQUENCES.items())


def joined(items: Sequence[int], divider: str = " ") -> str:
    return divider.join(map(str, items))


def recbole(user: int, items: Sequence[int]) -> str:
    """RecBole's benchmark files: each item with those before it."""
    return "\n".join(
        f"{user}\t{joined(items[:place])}\t{items[place]}"
        for place in range(1, len(items))
    )


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (
            "sasrec.txt?columns=user,item&sep=blank",
            lines(lambda user, items: "\n".join(f"{user} {item}" for item in items)),
        ),
        (
            "lightgcn.txt?columns=user,sequence&sep=blank",
            lines(lambda user, items: f"{user} {joined(items)}") + "4\n5 \n",
        ),
        (
            "bench.train.inter",
            lines(recbole, "user_id:token\titem_id_list:token_seq\titem_id:token\n"),
        ),
        (
            "bars.csv?sequence=basket",
            lines(lambda user, items: f"{user},{joined(items, '|')}", "user,basket\n"),
        ),
        (
            "written.csv?sequence=basket&time=at",
            lines(
                lambda user, items: (
                    f'{user},"{list(items)}","{list(range(len(items)))}"'
                ),
                "user,basket,at\n",
            ),
        ),
        (
            "sessions.jsonl?sequence=items&time=ts",
            lines(
                lambda user, items: json.dumps(
                    {"session": user, "items": items, "ts": 100 * user}
                )
            ),
        ),
        (
            "lists.jsonl",
            lines(lambda user, items: json.dumps({"user": user, "item": items})),
        ),
        (
            "events.jsonl?each=events&item=aid",
            lines(
                lambda user, items: json.dumps(
                    {"user": user, "events": [{"aid": item} for item in items]}
                )
            ),
        ),
    ],
)
def test_every_form_of_a_sequence_is_the_same_history(
    file: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file.partition("?")[0]).write_text(content, encoding="utf-8")
    histories = {
        int(user): tuple(int(rating.item.id) for rating in history)
        for user, history in load(file).histories.items()
    }
    assert histories == SEQUENCES


def test_parquet_lists_are_sequences_too(tmp_path: Path) -> None:
    need("pyarrow")
    frame = pd.DataFrame(
        {"user": list(SEQUENCES), "item": list(map(list, SEQUENCES.values()))}
    )
    frame.to_parquet(tmp_path / "lists.parquet")
    assert len(load(tmp_path / "lists.parquet").interactions) == 9


def test_what_lists_lack_is_counted_and_wrong_entries_are_named(tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    rows = [
        {"user": 1, "item": [1, 2], "time": [5]},
        {"user": 2, "item": [1, None], "time": [5, 6]},
        {"user": 3, "item": [1, 3], "time": [6, 5]},
        {"user": 4, "item": [], "time": []},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as caught:
        load(path)
    assert "line 2: item is [1, None], which is no list of ids" in str(caught.value)
    assert "line 1: timestamp lists 1 values for 2 items" in str(caught.value)
    notes: list[str] = []
    found = load(f"{path}?bad_rows=0.6", told=notes.append)
    assert list(found.interactions["item"]) == ["3", "1"]
    assert "2 rows list 2 items in their order; 1 of them lists no item" in notes


def test_a_missing_rating_is_none_only_if_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\na,x,4\na,y,\nb,x,NULL\nb,y,3.5\n")
    with pytest.raises(DataError, match=r"2 of 4 rows"):
        load(path)
    notes: list[str] = []
    found = load(f"{path}?unrated=nan", told=notes.append)
    assert list(found.interactions["rating"]) == [4, 3.5]
    assert "2 rows without a rating (missing) are left out" in notes
