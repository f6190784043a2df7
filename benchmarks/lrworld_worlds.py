"""Made-up data in the official formats of Amazon, Netflix and Last.fm, as awkward as
real ones.

Every fifth item has the title of another one, in another spelling; every seventh lacks
its facts; titles are in seven scripts; products share pictures, so that their
descriptions are equal.
"""

import gzip
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

USERS, ITEMS, TASTES = 420, 260, 6
WORDS = (
    ("Night", "River", "Stone", "Garden", "Winter", "Letter", "Harbour", "Crown"),
    ("Ночь", "Река", "Камень", "Сад", "Зима", "Письмо"),
    ("夜晚", "河流", "石头", "花园", "冬天", "书信"),
    ("よる", "かわ", "いし", "にわ", "ふゆ", "てがみ"),
    ("रात", "नदी", "पत्थर", "बाग", "सर्दी", "चिट्ठी"),
    ("ليلة", "نهر", "حجر", "حديقة", "شتاء", "رسالة"),
    ("Νύχτα", "Ποτάμι", "Πέτρα", "Κήπος", "Χειμώνας", "Γράμμα"),
)
GENRES = ("Drama", "Comedy", "Crime", "Horror", "Western", "Musical", "Sci-Fi", "War")
PEOPLE = tuple(
    f"{one} {two}"
    for one in ("Ann", "Bo", "Cý", "Di", "Eve")
    for two in ("Lee", "Ray", "Føx", "Ito")
)
COLOURS = ("Black", "White", "Red", "Blue", "Navy Blue", "Green")
BRANDS = ("Acme", "ACME", "Bolt", "Corus & Co", "Delta", "Echo", "Fern")
ROOTS = ("Home", "Garden", "Toys", "Books", "Sports")


def titles(seed: int) -> dict[int, str]:
    """The titles; every fifth item has that of the item before it, spelled otherwise."""
    rng = np.random.default_rng([seed, 1])
    found: dict[int, str] = {}
    for item in range(1, ITEMS + 1):
        words = WORDS[item % len(WORDS)]
        one, two = rng.choice(len(words), 2, replace=False)
        found[item] = f"{words[one]} {words[two]} {item % 40}"
        if item % 7 == 0:
            found[item] = f"The {found[item]}"
        if item % 5 == 0:
            twin = found[item - 1]
            if twin.startswith("The "):
                found[item] = f"{twin.removeprefix('The ')}, The"
            else:
                found[item] = (twin.upper(), twin.replace(" ", "-"), f"{twin}!")[
                    item % 3
                ]
    return found


def interactions(seed: int) -> list[tuple[int, int, int, int]]:
    """User, item, rating, time: tastes, a long tail of
    popularity, and short and long histories.
    """
    rng = np.random.default_rng([seed, 2])
    rows = []
    for user in range(1, USERS + 1):
        weights = 1 / (np.arange(1, ITEMS + 1) + 15) ** 0.8
        weights[np.arange(1, ITEMS + 1) % TASTES == user % TASTES] *= 6
        size = int(np.clip(rng.lognormal(2.6, 0.5), 4, 60))
        own = rng.choice(ITEMS, size, replace=False, p=weights / weights.sum()) + 1
        rows += [
            (
                user,
                int(item),
                int(rng.integers(1, 6)),
                1_200_000_000 + 86_400 * (70 * user + place),
            )
            for place, item in enumerate(own)
        ]
    return rows


def known(item: int) -> bool:
    """Whether the facts of an item are known."""
    return item % 7 != 3


def _pictures(folder: Path, names: Mapping[int, str]) -> None:
    """Descriptions of pictures; three products share one."""
    lines = [
        json.dumps({"item": name, "description": f"A picture of number {item // 3}."})
        for item, name in names.items()
        if known(item)
    ]
    (folder / "image_descriptions.jsonl").write_text(
        "\n".join(lines) + "\n",
        encoding="utf-8",
    )


def amazon(folder: Path, seed: int) -> Path:
    """Reviews and products of 2018, as JSON lines."""
    folder.mkdir()
    named = titles(seed)
    reviews = [
        {
            "reviewerID": f"A{user}",
            "asin": f"B{item:04d}",
            "overall": float(rating),
            "unixReviewTime": when,
            "style": {"Color:": f" {COLOURS[item % 6]}"} if known(item) else {},
        }
        for user, item, rating, when in interactions(seed)
    ]
    products: list[dict[str, Any]] = []
    for item, title in named.items():
        product: dict[str, Any] = {"asin": f"B{item:04d}", "title": title}
        if known(item):
            path = [ROOTS[item % 5], f"Middle {item % 9}", f"Leaf {item % 31}"]
            product |= {"brand": BRANDS[item % 7], "category": path}
        products.append(product)
    for name, rows in (("Made_Up_5", reviews), ("meta_Made_Up", products)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.json.gz").write_bytes(gzip.compress(text.encode()))
    _pictures(folder, {item: f"B{item:04d}" for item in named})
    return folder


def netflix(folder: Path, seed: int) -> Path:
    """Ratings by film and day, titles, and the list of
    films with directors, cast and loglines.
    """
    folder.mkdir()
    named = titles(seed)
    years = {item: 1960 + (item - (item % 5 == 0)) % 60 for item in named}
    (folder / "movie_titles.txt").write_text(
        "".join(f"{item},{years[item]},{title}\n" for item, title in named.items()),
        encoding="utf-8",
    )
    lines: dict[int, list[str]] = {}
    for user, item, rating, when in interactions(seed):
        day = datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")
        lines.setdefault(item, []).append(f"{user},{rating},{day}\n")
    (folder / "combined_data_1.txt").write_text(
        "".join(f"{item}:\n{''.join(lines[item])}" for item in sorted(lines)),
    )
    header = "show_id,type,title,director,cast,country,date_added,release_year,rating,duration"
    films = [f"{header},listed_in,description\n"]
    for item, title in named.items():
        if known(item):
            cast = f"{PEOPLE[(item + 3) % 20]}, {PEOPLE[(item * 7) % 20]}"
            genres = f"{GENRES[item % 8]}, {GENRES[(item * 3) % 8]}"
            films.append(
                f's{item},Movie,"{title}",{PEOPLE[item % 20]},"{cast}",,,{years[item]},,,"{genres}",'
                f"Someone loses {item // 2} things.\n",
            )
    (folder / "netflix_titles.csv").write_text("".join(films), encoding="utf-8")
    _pictures(folder, {item: str(item) for item in named})
    return folder


def lastfm(folder: Path, seed: int) -> Path:
    """Artists, counts of plays, and tags."""
    folder.mkdir()
    named = titles(seed)
    rows = interactions(seed)
    tables = {
        "artists.dat": [
            "id\tname\turl",
            *(f"{key}\t{name}\thttp://x" for key, name in named.items()),
        ],
        "user_artists.dat": [
            "userID\tartistID\tweight",
            *(f"{user}\t{item}\t{100 * rating}" for user, item, rating, _ in rows),
        ],
        "user_taggedartists-timestamps.dat": [
            "userID\tartistID\ttagID\ttimestamp",
            *(
                f"{user}\t{item}\t{item % 8}\t{1000 * when}"
                for user, item, _, when in rows
                if known(item)
            ),
        ],
        "tags.dat": [
            "tagID\ttagValue",
            *(f"{n}\t{tag}" for n, tag in enumerate(GENRES)),
        ],
    }
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


WORLDS: Mapping[str, Callable[[Path, int], Path]] = {
    "amazon": amazon,
    "netflix": netflix,
    "lastfm": lastfm,
}
