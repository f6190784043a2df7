"""Tables as people have them: each loads as it is, or has one error that names the way."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load

ROWS = [
    (f"u{number % 20}", f"i{(7 * number) % 40}", 1_484_388_322 + number)
    for number in range(200)
]
"""A user, an item and a time; 40 pairs of both, each five times."""


def table(header: str, row: Callable[[str, str, int], str]) -> str:
    lines = [row(*each) for each in ROWS]
    return "\n".join(filter(None, [header, *lines])) + "\n"


RNG = random.Random(1)
TABLES = {
    "times with the name of a zone": ("", table("user,item,time", lambda u, i, t: f"{u},{i},2017-07-{1 + t % 28:02} 02:40:00 UTC")),
    "a separator ends each line": ("", table("user\titem\ttime", lambda u, i, t: f"{u}\t{i}\t{t}\t")),
    "thumbs": ("", table("user,item,rating", lambda u, i, t: f"{u},{i},{RNG.choice([-1, 1])}")),
    "three forms of the time": ("", table("user_id,video_id,time,date,timestamp", lambda u, i, t: f"{u},{i},2020-07-05 05:27:48.378,20200705,{t}.378")),
    "an artist and plays": ("", table("user,artist,plays", lambda u, i, t: f"{u},{i},{t % 90}")),
    "pairs divided by blanks": ("?sep=blank&columns=user,item", table("", lambda u, i, t: f"{u} {i}")),
    "two columns of users": ("?user=userId", table("user_id,userId,item", lambda u, i, t: f"x{u},{u},{i}")),
    "sessions": ("?user=session_id", table("session_id;user_id;item_id", lambda u, i, t: f"{u};NA;{i}")),
    "no rating is -1": ("?unrated=-1", table("user_id,anime_id,rating", lambda u, i, t: f"{u},{i},{7 + t % 3 if i != 'i0' else -1}")),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_loads(tmp_path: Path, name: str) -> None:
    options, text = TABLES[name]
    path = tmp_path / "table.csv"
    path.write_text(text)
    notes: list[str] = []
    dataset = load(f"{path}{options}", told=notes.append)
    rated = [row for row in ROWS if name != "no rating is -1" or row[1] != "i0"]
    pairs = {(user, item) for user, item, _ in rated}
    found = dataset.interactions
    assert (
        set(zip(found["user"].astype(str), found["item"].astype(str), strict=True))
        == pairs
    )
    # Each row is used, or counted under a reason.
    assert any(f"of {len(rated)} interactions" in note for note in notes)
    if len(rated) < len(ROWS):
        assert any(
            f"{len(ROWS) - len(rated)} rows without a rating" in note for note in notes
        )


def test_a_catalogue_in_the_encoding_of_the_table(tmp_path: Path) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_text(table("user,item,time", lambda u, i, t: f"{u},{i},{t}"))
    items = "".join(f"i{number},Café {number}\n" for number in range(40))
    (tmp_path / "items.csv").write_text("item,title\n" + items, encoding="latin-1")
    with pytest.raises(
        DataError,
        match=r"or name its encoding behind the path, as in \?encoding=latin-1",
    ):
        load(str(sales))
    assert load(f"{sales}?encoding=latin-1").items["i3"].title == "Café 3"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (table("session_id;user_id;item_id", lambda u, i, t: f"{u};NA;{i}"), "of one user, 'NA'; ?user=session_id behind"),
        (table("user_id,userId,item", lambda u, i, t: f"x{u},{u},{i}"), "or name it behind the path, as in ?user=user_id"),
        (table("", lambda u, i, t: f"A{u},{i},5.0,{t}"), "or ?columns=user,item,rating where the file has no header"),
        (table("user_id,anime_id,rating", lambda u, i, t: f"{u},{i},{[-1, 8, 9][t % 3]}"), "('?unrated=-1')"),
    ],
)  # fmt: skip
def test_an_error_names_the_way(tmp_path: Path, text: str, advice: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        load(str(path))
    assert advice in str(caught.value)
