"""Makes the embedded dataset ``mini``: real films (mini/films.py), simulated users
(mini/users.py).

    python scripts/make_mini.py --check     # 0 if the files of the package are what
    this makes python scripts/make_mini.py --write     # writes them

`film_source` says where the facts come from, and how to install them.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from film_source import INSTALL
from mini.films import read_films
from mini.users import Row, simulate

TARGET = Path(__file__).parents[1] / "pytest_recsys_mt" / "datasets" / "data"


def as_csv(header: list[str], rows: Sequence[Row]) -> str:
    """Rows as CSV with plain line feeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def make() -> dict[str, str]:
    """The text of every file, by name."""
    films = read_films()
    users, ratings = simulate(films)
    items: list[Row] = [
        (
            *(film.id, film.imdb, film.title, film.year),
            *("|".join(names) for names in (film.genres, film.directors, film.cast)),
            film.logline,
        )
        for film in films
    ]
    return {
        "mini-items.csv": as_csv(
            ["item", "imdb", "title", "year", "genres", "directors", "cast", "logline"],
            items,
        ),
        "mini-users.csv": as_csv(["user", "age", "occupation"], users),
        "mini-ratings.csv": as_csv(["user", "item", "rating", "timestamp"], ratings),
    }


def differences(made: dict[str, str]) -> list[str]:
    """One line for each file that is not what was made: its first line that differs."""
    found = []
    for name, text in made.items():
        path = TARGET / name
        if not path.exists():
            found.append(f"{name}: missing")
            continue
        stands = path.read_bytes().decode()
        if stands == text:
            continue
        pairs = enumerate(zip_longest(stands.splitlines(), text.splitlines()), 1)
        line, (old, new) = next(
            ((line, pair) for line, pair in pairs if pair[0] != pair[1]),
            (0, ("", "line ends")),
        )
        found.append(f"{name}:{line}: has {old!r}, made {new!r}")
    return found


def main() -> int:
    """Check or write the files."""
    parser = argparse.ArgumentParser(description="Make the embedded dataset mini.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument(
        "--check",
        action="store_true",
        help="compare with the files; 1 if not",
    )
    action.add_argument("--write", action="store_true", help="write the files")
    check = parser.parse_args().check
    try:
        made = make()
    except ModuleNotFoundError as error:
        print(f"{error}; the facts of the films are in it: {INSTALL}", file=sys.stderr)
        return 2
    if check:
        found = differences(made)
        print("\n".join(found) or "the files are what this script makes")
        return 1 if found else 0
    TARGET.mkdir(exist_ok=True)
    for name, text in made.items():
        (TARGET / name).write_bytes(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
