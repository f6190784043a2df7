"""The Netflix prize, ratings of films by day, as the README of the set describes its files; a title may contain commas.

Facts about the films are joined by name and year: those of `listing` first, then of `metadata`.
"""

import io
import re
from collections.abc import Iterator
from itertools import accumulate, groupby, islice
from pathlib import Path

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import metadata
from pytest_recsys_mt.datasets.joins import with_listing, with_pictures
from pytest_recsys_mt.datasets.loading import Format, Told, found
from pytest_recsys_mt.datasets.reading import Content
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.datasets.sources import BY_HAND
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Scale

SCALE = Scale(1.0, 5.0)
TITLES = "movie_titles.txt|movie_titles.csv"
RATINGS = "combined_data_*.txt|mv_*.txt|training_set/mv_*.txt"
_BLOCK = 64 << 20  # bytes of ratings to parse at a time, about
_FILM = re.compile(rb"^(\d+):[ \t]*\r?$", re.MULTILINE)
_TITLE = re.compile(r"(\d+),(\d+|NULL),(.*)", re.DOTALL)
_ROW = re.compile(r"\d+,\d+,\d{4}-\d\d-\d\d")


def read_folder(folder: Path, told: Told) -> Content:
    """What a folder of this format holds."""
    items = _catalogue(found(folder, TITLES)[-1])
    items = metadata.with_metadata_by_title(with_listing(items, folder))
    return Content(_ratings(folder), with_pictures(items, folder), SCALE, "netflix")


def _catalogue(path: Path) -> dict[str, Item]:
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    items: dict[str, Item] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        film = _TITLE.fullmatch(line.rstrip("\r"))
        if film is None:
            raise DataError(
                f"{str(path)!r}, line {number}: {line[:80]!r} is not a film, its year or NULL, and "
                f"its title, as in '1,2003,Dinosaur Planet'"
            )
        key, year, title = film.groups()
        if key in items:
            raise DataError(f"{str(path)!r}, line {number}: film {key!r} is there already")
        items[key] = Item(key, title.strip(), None if year == "NULL" else int(year))
    return items


def _ratings(folder: Path) -> Rows:
    files = next(filter(None, (found(folder, each) for each in RATINGS.split("|"))))
    # Small files are parsed together, as each costs some time alone.
    ends = accumulate(path.stat().st_size for path in files)
    blocks = groupby(zip(ends, files, strict=True), key=lambda file: file[0] // _BLOCK)
    frames = [_parsed([path for _, path in block]) for _, block in blocks]
    frame = pd.concat(frames, ignore_index=True)
    if frame.empty:
        raise DataError(f"folder {str(folder)!r} has no ratings")

    def place(row: int) -> str:
        rated = (
            f"{path.name}, line {number}" for path, number, line in _lines(files) if line.strip()
        )
        return next(islice(rated, row, None))

    return Rows(folder, frame, place)


def _parsed(block: list[Path]) -> pd.DataFrame:
    pieces: list[bytes] = []
    for path in block:
        content = path.read_bytes()
        before, *rest = _FILM.split(content if content.endswith(b"\n") else content + b"\n")
        if not rest or before.strip():
            first = content[:80].split(b"\n")[0].decode("latin-1")
            raise DataError(
                f"{str(path)!r}, line 1: {first!r} is not a film and a colon, as in '1:'"
            )
        pieces += rest
    films, bodies = pieces[::2], pieces[1::2]  # a body begins with the break behind its film
    try:
        frame = pd.read_csv(
            io.BytesIO(b"".join([b"user,rating,day", *bodies])),
            dtype={"user": "int64", "rating": "float64", "day": "category"},
            na_filter=False,
            engine="c",
        )
    except (ValueError, OverflowError) as problem:
        raise _wrong(block) from problem
    lengths = [body.count(b"\n") - 1 for body in bodies]
    days = frame["day"].cat
    times = pd.to_datetime(days.categories, format="%Y-%m-%d", errors="coerce")
    sound = isinstance(frame.index, pd.RangeIndex) and len(frame) == sum(lengths)
    if not sound or times.isna().any():
        raise _wrong(block)
    seconds = times.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return pd.DataFrame(
        {
            "user": frame["user"],
            "item": np.repeat([int(film) for film in films], lengths),
            "rating": frame["rating"],
            "timestamp": seconds[days.codes.to_numpy()],
        }
    )


def _wrong(block: list[Path]) -> DataError:
    for path, number, raw in _lines(block):
        line = raw.decode("latin-1").rstrip("\r\n")
        if not _ROW.fullmatch(line) or pd.isna(pd.to_datetime(line[-10:], errors="coerce")):
            return DataError(
                f"{str(path)!r}, line {number}: {line[:80]!r} is not a customer, a rating and a "
                f"day, as in '1488844,3,2005-09-06'"
            )
    return DataError(f"{str(block[0])!r} and what follows it cannot be read")


def _lines(files: list[Path]) -> Iterator[tuple[Path, int, bytes]]:
    for path in files:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not _FILM.match(line):
                    yield path, number, line


FORMATS = (Format("the Netflix prize", (TITLES, RATINGS), read_folder, BY_HAND["netflix"]),)
