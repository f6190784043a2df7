"""A wrong object inside a request is refused where the request is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import Item, Rating, Request, Scale, thresholds

rated: Any = Rating
read: Any = thresholds
"""Without types, as users may write it."""

FILM = Item("a", "Alien")
RIGHT: dict[str, Any] = {
    "user": "u", "history": (Rating(FILM, 4.0),), "scale": Scale(), "candidates": (FILM,), "k": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"k": None}, "Request.k must be a whole number from 1, got None"),
        ({"k": "5"}, "Request.k must be a whole number from 1, got '5'"),
        ({"k": 2.5}, "Request.k must be a whole number from 1, got 2.5"),
        ({"k": True}, "Request.k must be a whole number from 1, got True"),
        ({"scale": (1, 5)}, "Request.scale must be a Scale, such as Scale(1, 5), got (1, 5)"),
        ({"scale": None}, "Request.scale must be a Scale"),
        ({"history": None}, "Request.history must be a tuple, got None"),
        ({"history": "Alien"}, "Request.history must be a tuple, got 'Alien'"),
        ({"history": ["Alien"]}, "Request.history holds 'Alien'; each entry is a Rating: Rating(item, value)"),
        ({"history": [FILM]}, "Request.history holds Item("),
        ({"history": [rated("Alien", 4.0)]}, "holds a rating of 'Alien'; what is rated is an Item"),
        ({"history": [rated(FILM, "4")]}, "Request.history holds the rating '4'; it must be a number"),
        ({"history": [rated(FILM, None)]}, "Request.history holds the rating None"),
        ({"candidates": ["a"]}, "Request.candidates holds 'a'; each entry is an Item"),
        ({"candidates": "ab"}, "Request.candidates must be a tuple, got 'ab'"),
        ({"candidates": [Rating(FILM, 4.0)]}, "Request.candidates holds Rating("),
        ({"edits": ["louder"]}, "Request.edits holds 'louder'; each entry is a function"),
        ({"user": 7}, "Request.user must be a text, got 7"),
        ({"instruction": None}, "Request.instruction must be a text, got None"),
        ({"replicate": 1.5}, "Request.replicate must be a whole number, got 1.5"),
        ({"seen": 7}, "Request.seen must be a tuple, got 7"),
    ],
)  # fmt: skip
def test_it_is_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError) as made:
        Request(**{**RIGHT, **changes})
    assert says in str(made.value)
    with pytest.raises(TypeError) as replaced:
        Request(**RIGHT).replace(**changes)
    assert str(replaced.value) == str(made.value)


def test_what_is_right_is_taken() -> None:
    import numpy as np

    found = Request(
        "u",
        [Rating(FILM, np.float32(4)), Rating(FILM, 3)],  # type: ignore[arg-type]
        Scale(),
        None,
        np.int64(2),  # type: ignore[arg-type]
    )
    assert len(found.history) == 2
    assert Request(
        **{**RIGHT, "candidates": iter([FILM]), "seen": ["x"]},
    ).candidates == (FILM,)


@pytest.mark.parametrize(
    ("file", "content", "error", "says"),
    [
        (None, "", TypeError, "thresholds(__file__, 'margin'), got None"),
        ("test_it.py", None, FileNotFoundError, "thresholds.toml'; write the numbers of this folder's tests in it"),
        ("test_it.py", "[margin", ValueError, "thresholds.toml' is not TOML"),
        ("test_it.py", "[margins]\nratings = 1", KeyError, "has no table 'margin'; it has ['margins']"),
    ],
)  # fmt: skip
def test_thresholds_that_cannot_be_read_are_named(
    file: Any,
    content: str | None,
    error: type[Exception],
    says: str,
    tmp_path: Path,
) -> None:
    if content is not None:
        (tmp_path / "thresholds.toml").write_text(content)
    with pytest.raises(error) as caught:
        read(file if file is None else str(tmp_path / file), "margin")
    assert says in str(caught.value.args[0])
