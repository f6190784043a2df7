"""Small made-up worlds in the official formats, with
everything that the 31 measures need.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

USERS, ITEMS, TASTES = 60, 48, 4
GENRES = ("Drama", "Comedy", "Crime", "Horror", "Western", "Musical")
PEOPLE = tuple(
    f"{first} {last}"
    for first in ("Ann", "Bo", "Cy", "Di")
    for last in ("Lee", "Ray", "Fox")
)
COLOURS = ("Black", "White", "Red", "Blue", "Green", "Grey")
BRANDS = ("Acme", "Bolt", "Corus", "Delta", "Echo", "Fern")
ROOTS = ("Home", "Garden", "Toys", "Books", "Sports")


def interactions(seed: int = 0) -> list[tuple[int, int, int, int]]:
    """User, item, rating and time; users of one taste
    like the same quarter of the items.
    """
    rng = Random(seed)
    rows = []
    for user in range(1, USERS + 1):
        own = [item for item in range(1, ITEMS + 1) if item % TASTES == user % TASTES]
        other = [item for item in range(1, ITEMS + 1) if item % TASTES != user % TASTES]
        liked = rng.sample(own, 8) + rng.sample(other, 3)
        rng.shuffle(liked)
        rows += [
            (
                user,
                item,
                rng.randint(1, 5),
                1_000_000_000 + 86_400 * (20 * user + place),
            )
            for place, item in enumerate(liked)
        ]
    return rows


def facts(item: int) -> dict[str, Any]:
    return {
        "title": f"Tale {item}",
        "year": 1950 + item,
        "director": PEOPLE[item % 12],
        "cast": f"{PEOPLE[(item + 3) % 12]}, {PEOPLE[(item + 7) % 12]}",
        "genre": GENRES[item % 6],
        "logline": f"Number {item} is about a man who loses {item} things.",
    }


def _listing() -> str:
    header = "show_id type title director cast country date_added release_year rating duration"
    lines = [",".join([*header.split(), "listed_in", "description"])]
    for item in range(1, ITEMS + 1):
        f = facts(item)
        lines.append(
            f's{item},Movie,{f["title"]},{f["director"]},"{f["cast"]}",,,{f["year"]},,,{f["genre"]},'
            f"{f['logline']}",
        )
    return "\n".join(lines) + "\n"


def _pictures(folder: Path, keys: list[str]) -> None:
    from PIL import Image

    (folder / "posters").mkdir()
    lines = []
    for number, key in enumerate(keys):
        shade = (5 * number, 255 - 5 * number, 128)
        Image.new("RGB", (8, 8), shade).save(folder / "posters" / f"{key}.png")
        lines.append(
            json.dumps({"item": key, "description": f"A square of the shade {shade}."}),
        )
    (folder / "image_descriptions.jsonl").write_text("\n".join(lines) + "\n")


def movielens(folder: Path) -> Path:
    folder.mkdir()
    ratings = [
        f"{user},{item},{rating}.0,{when}"
        for user, item, rating, when in interactions()
    ]
    (folder / "ratings.csv").write_text(
        "\n".join(["userId,movieId,rating,timestamp", *ratings]),
    )
    movies = ["movieId,title,genres"]
    for item in range(1, ITEMS + 1):
        f = facts(item)
        movies.append(f"{item},{f['title']} ({f['year']}),{f['genre']}")
    (folder / "movies.csv").write_text("\n".join(movies))
    (folder / "netflix_titles.csv").write_text(_listing())
    _pictures(folder, [str(item) for item in range(1, ITEMS + 1)])
    return folder


def netflix(folder: Path) -> Path:
    folder.mkdir()
    titles = [
        f"{item},{facts(item)['year']},{facts(item)['title']}"
        for item in range(1, ITEMS + 1)
    ]
    (folder / "movie_titles.csv").write_text("\n".join(titles) + "\n")
    lines: dict[int, list[str]] = {}
    for user, item, rating, when in interactions():
        # Days are all that the format has, so that no two ratings of a user share one.
        day = _day(when)
        lines.setdefault(item, []).append(f"{user},{rating},{day}")
    (folder / "combined_data_1.txt").write_text(
        "".join(
            f"{item}:\n" + "".join(f"{line}\n" for line in lines[item])
            for item in sorted(lines)
        ),
    )
    (folder / "netflix_titles.csv").write_text(_listing())
    _pictures(folder, [str(item) for item in range(1, ITEMS + 1)])
    return folder


def _day(when: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")


def amazon(folder: Path, year: int = 2018) -> Path:
    folder.mkdir()
    reviews = [
        json.dumps(
            {
                "reviewerID": f"A{user}",
                "asin": f"B{item:04d}",
                "overall": float(rating),
                "unixReviewTime": when,
                "style": {"Color:": f" {COLOURS[item % 6]}"},
            },
        )
        for user, item, rating, when in interactions()
    ]
    products = []
    for item in range(1, ITEMS + 1):
        path = [ROOTS[item % 5], f"Middle {item % 7}", f"Leaf {item % 11}"]
        record: dict[str, Any] = {
            "asin": f"B{item:04d}",
            "title": f"Thing {item}",
            "brand": BRANDS[item % 6],
        }
        record |= {"category": path} if year == 2018 else {"categories": [path]}
        products.append(json.dumps(record) if year == 2018 else repr(record))
    name = "All_Made_Up" if year == 2018 else "reviews_Made_Up"
    (folder / f"{name}_5.json.gz").write_bytes(
        gzip.compress("\n".join(reviews).encode()),
    )
    (folder / f"meta_{name.removeprefix('reviews_')}.json.gz").write_bytes(
        gzip.compress("\n".join(products).encode()),
    )
    _pictures(folder, [f"B{item:04d}" for item in range(1, ITEMS + 1)])
    return folder


def lastfm(folder: Path) -> Path:
    folder.mkdir()
    artists, plays, tagged = ["id\tname\turl"], ["userID\tartistID\tweight"], []
    for item in range(1, ITEMS + 1):
        artists.append(f"{item}\tBand {item}\thttp://x")
    for user, item, rating, when in interactions():
        plays.append(f"{user}\t{item}\t{rating * 100}")
        tagged.append(f"{user}\t{item}\t{item % 6}\t{1000 * (when + 10**8)}")
    (folder / "artists.dat").write_text("\n".join(artists) + "\n")
    (folder / "user_artists.dat").write_text("\n".join(plays) + "\n")
    (folder / "user_taggedartists-timestamps.dat").write_text(
        "\n".join(["userID\tartistID\ttagID\ttimestamp", *tagged]) + "\n",
    )
    tags = ["rock", "pop", "metal", "jazz", "folk", "soul"]
    (folder / "tags.dat").write_text(
        "\n".join(["tagID\ttagValue", *(f"{n}\t{tag}" for n, tag in enumerate(tags))])
        + "\n",
    )
    return folder


WORLDS = {
    "movielens": movielens,
    "netflix": netflix,
    "amazon": amazon,
    "lastfm": lastfm,
}
