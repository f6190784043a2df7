"""Makes the film facts of the package, ``datasets/data/films.csv.xz``, from a table of
Wikidata.

    python scripts/make_film_facts.py --check     # 0 if the file is what this makes
    python scripts/make_film_facts.py --write     # writes it

Of each film the file has the IMDb identifier, the title without Wikidata's addition
``(2011 film)``, the year, directors, cast and genres. The table's casts are
alphabetical, with up to 100 names. Here a cast is who acts in at least `LEAST` films of
the table, those with most films first: they are more likely to lead, and the others,
one in three entries, connect few films and make the file a half larger.

`film_source` says where the facts come from, and how to install them.
"""

import argparse
import csv
import io
import lzma
import re
import sys
from collections import Counter
from pathlib import Path

from film_source import INSTALL, names_in, rows

TARGET = (
    Path(__file__).parents[1]
    / "pytest_recsys_mt"
    / "datasets"
    / "data"
    / "films.csv.xz"
)
LEAST = 5
BETWEEN = "|"
DISAMBIGUATED = re.compile(r"\s\((?:\d{4} )?film\)$")


def make() -> str:
    """The text of the file."""
    films = sorted(
        rows('SELECT imdbID, Year, Title, Director, "Cast", Genre FROM omdb'),
    )
    appearances = Counter(name for *_, cast, _ in films for name in names_in(cast))

    def leading(cast: str | None) -> list[str]:
        known = [name for name in names_in(cast) if appearances[name] >= LEAST]
        return sorted(known, key=lambda name: (-appearances[name], name))

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["imdb", "title", "year", "directors", "cast", "genres"])
    for imdb, year, title, directors, cast, genres in films:
        lists = (names_in(directors), leading(cast), names_in(genres))
        bare = DISAMBIGUATED.sub("", title)
        writer.writerow([imdb, bare, year, *(BETWEEN.join(names) for names in lists)])
    return text.getvalue()


def main() -> int:
    """Check or write the file."""
    parser = argparse.ArgumentParser(description="Make the film facts of the package.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument(
        "--check",
        action="store_true",
        help="compare with the file; 1 if not",
    )
    action.add_argument("--write", action="store_true", help="write the file")
    check = parser.parse_args().check
    try:
        made = make().encode()
    except ModuleNotFoundError as error:
        print(f"{error}; the facts of the films are in it: {INSTALL}", file=sys.stderr)
        return 2
    if check:
        # The text is compared, since another liblzma may write other bytes.
        same = TARGET.exists() and lzma.decompress(TARGET.read_bytes()) == made
        print(
            "the file is what this script makes" if same else f"{TARGET.name}: is not",
        )
        return 0 if same else 1
    TARGET.write_bytes(lzma.compress(made, preset=9 | lzma.PRESET_EXTREME))
    return 0


if __name__ == "__main__":
    sys.exit(main())
