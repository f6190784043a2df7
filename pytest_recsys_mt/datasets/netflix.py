"""The Netflix prize, ratings of films by day, as the README of the set describes its
files; a title may contain commas.

Facts about the films are joined by name and year: those of `listing` first, then of
`metadata`.
"""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pytest_recsys_mt.datasets import metadata
from pytest_recsys_mt.datasets.content import Content, Format
from pytest_recsys_mt.datasets.folders import found
from pytest_recsys_mt.datasets.joins import with_listing, with_pictures
from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.datasets.sources import BY_HAND
from pytest_recsys_mt.requests import Item, Scale
from pytest_recsys_mt.safety.errors import DataError

SCALE = Scale(1.0, 5.0)
TITLES = "movie_titles.txt|movie_titles.csv"
RATINGS = "combined_data_*.txt|mv_*.txt|training_set/mv_*.txt"
_BLOCK = 64 << 20  # bytes of ratings to parse at a time, about
_FILM = re.compile(rb"^(\d+):[ \t]*\r?$", re.MULTILINE)
_TITLE = re.compile(r"(\d+),(\d+|NULL),(.*)", re.DOTALL)
_ROW = re.compile(r"\d+,\d+,\d{4}-\d\d-\d\d")


def read_folder(folder: Path, report: Report) -> Content:
    """The content of a folder in this format."""
    items = _catalogue(found(folder, TITLES)[-1])
    items = metadata.with_metadata_by_title(with_listing(items, folder))
    return Content(_ratings(folder), with_pictures(items, folder), SCALE, "netflix")


def _catalogue(path: Path) -> dict[str, Item]:
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        # As published; copies may have another encoding.
        text = content.decode("latin-1")
    items: dict[str, Item] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        film = _TITLE.fullmatch(line.rstrip("\r"))
        if film is None:
            raise DataError(
                f"{str(path)!r}, line {number}: {line[:80]!r} is not a film, its year or NULL, and "
                f"its title, as in '1,2003,Dinosaur Planet'",
            )
        key, year, title = film.groups()
        if key in items:
            raise DataError(
                f"{str(path)!r}, line {number}: film {key!r} is there already",
            )
        year_or_none = None if year == "NULL" else int(year)
        items[key] = Item(key, title.strip(), year_or_none)
    return items


def _ratings(folder: Path) -> Rows:
    files = _rating_files(folder)
    frames = [_parsed(block) for block in _blocks(files)]
    frame = pd.concat(frames, ignore_index=True)
    if frame.empty:
        raise DataError(f"folder {str(folder)!r} has no ratings")

    def place(row: int) -> str:
        rated_lines = (line for line in _lines(files) if line.text.strip())
        line = next(islice(rated_lines, row, None))
        return f"{line.path.name}, line {line.number}"

    return Rows(folder, frame, place)


def _rating_files(folder: Path) -> list[Path]:
    """The files of the first pattern that has any: a folder
    may hold the ratings in two forms.
    """
    for pattern in RATINGS.split("|"):
        files = found(folder, pattern)
        if files:
            return files
    raise DataError(f"folder {str(folder)!r} has no ratings")


def _blocks(files: Sequence[Path]) -> list[list[Path]]:
    """The files in groups of about `_BLOCK` bytes: small ones are parsed together, as
    each costs some time alone.
    """
    blocks: list[list[Path]] = []
    number_before = -1
    end = 0
    for path in files:
        end += path.stat().st_size
        number = end // _BLOCK
        if number != number_before:
            blocks.append([])
        blocks[-1].append(path)
        number_before = number
    return blocks


def _parsed(block: list[Path]) -> pd.DataFrame:
    """The ratings of some files: user, item, rating, timestamp."""
    films: list[int] = []
    bodies: list[bytes] = []
    for path in block:
        numbers_and_bodies = _split_by_film(path)
        films += [int(number) for number in numbers_and_bodies[::2]]
        bodies += numbers_and_bodies[1::2]
    # A body begins with the line break behind its film, so the header needs none.
    table = b"".join([b"user,rating,day", *bodies])
    try:
        frame = pd.read_csv(
            io.BytesIO(table),
            dtype={"user": "int64", "rating": "float64", "day": "category"},
            na_filter=False,
            engine="c",
        )
    except (ValueError, OverflowError) as problem:
        raise _wrong(block) from problem
    rows_by_film = [body.count(b"\n") - 1 for body in bodies]
    # pandas uses surplus fields of the first row as row labels, and leaves blank lines
    # out.
    is_sound = isinstance(frame.index, pd.RangeIndex) and len(frame) == sum(
        rows_by_film,
    )
    days = frame["day"].cat
    times = pd.to_datetime(days.categories, format="%Y-%m-%d", errors="coerce")
    if not is_sound or times.isna().any():
        raise _wrong(block)
    seconds = times.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return pd.DataFrame(
        {
            "user": frame["user"],
            "item": np.repeat(films, rows_by_film),
            "rating": frame["rating"],
            "timestamp": seconds[days.codes.to_numpy()],
        },
    )


def _split_by_film(path: Path) -> list[bytes]:
    """The content of a file, in turn a film's number and the lines of its ratings."""
    content = path.read_bytes()
    ended = content if content.endswith(b"\n") else content + b"\n"
    before_first_film, *numbers_and_bodies = _FILM.split(ended)
    if not numbers_and_bodies or before_first_film.strip():
        first_line = content[:80].split(b"\n")[0].decode("latin-1")
        raise DataError(
            f"{str(path)!r}, line 1: {first_line!r} is not a film and a colon, as in '1:'",
        )
    return numbers_and_bodies


def _wrong(block: list[Path]) -> DataError:
    """The error for the first wrong line of some files."""
    for line in _lines(block):
        text = line.text.decode("latin-1").rstrip("\r\n")
        if not _is_rating(text):
            return DataError(
                f"{str(line.path)!r}, line {line.number}: {text[:80]!r} is not a customer, a rating and a "
                f"day, as in '1488844,3,2005-09-06'",
            )
    return DataError(f"{str(block[0])!r} and what follows it cannot be read")


def _is_rating(text: str) -> bool:
    if not _ROW.fullmatch(text):
        return False
    day = pd.to_datetime(text[-10:], errors="coerce")
    return not pd.isna(day)


class _Line(NamedTuple):
    path: Path
    number: int  # from 1
    text: bytes


def _lines(files: list[Path]) -> Iterator[_Line]:
    """The lines of some files, but those that name a film."""
    for path in files:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not _FILM.match(line):
                    yield _Line(path, number, line)


FORMATS = (
    Format("the Netflix prize", (TITLES, RATINGS), read_folder, BY_HAND["netflix"]),
)
