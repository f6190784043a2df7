"""How often written titles find their item, and never another one.

    python -m benchmarks.titles [--movielens FOLDER]

Prints Markdown: precision and recall on titles labelled by hand
(`tests/llm/answers/hard_titles.tsv`) by what makes them hard. With a folder of
MovieLens that has ``links.csv``, and the extra ``metadata``, also of all films of
Wikidata as Wikidata writes them, looked up among those of MovieLens; which is which is
known by the IMDb number, so nothing there is labelled by us. A film that either side
holds under two numbers counts as wrong there.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks import tables
from pytest_recsys_mt.datasets import load, metadata
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from tests.llm.hard_titles import Score, outcomes

HEAD = ("titles", "texts", "that mean an item", "wrong", "precision", "recall")


def line(name: str, score: Score) -> tuple[object, ...]:
    return (
        name,
        score.texts,
        score.meant,
        score.wrong,
        f"{score.precision:.4f}" if score.right + score.wrong else "",
        f"{score.recall:.3f}" if score.meant else "",
    )


def labelled() -> Iterator[str]:
    """The titles labelled by hand, by difficulty, and those missed."""
    found = outcomes()
    names = list(dict.fromkeys(one.case.difficulty for one in found))
    parts = [
        (name, Score.of(one for one in found if one.case.difficulty == name))
        for name in names
    ]
    yield from tables.table(
        HEAD,
        [line(*part) for part in [*parts, ("all", Score.of(found))]],
    )
    yield "\nMissed: " + "; ".join(
        f"{one.case.written} ({one.case.difficulty})" for one in found if one.missed
    )


def wikidata(folder: Path) -> Iterator[str]:
    """The films of Wikidata among those of a MovieLens
    folder, with their year and without.
    """
    items = load(folder).items
    links = pd.read_csv(folder / "links.csv", dtype={"movieId": str})
    numbers = zip(links["imdbId"], links["movieId"], strict=True)
    meant = {
        metadata.imdb_id(number): item for number, item in numbers if item in items
    }
    index = TitleIndex(items.values())
    lines = []
    for name, dated in (("Wikidata, with year", True), ("Wikidata, without", False)):
        right = wrong = 0
        films = metadata.films()
        for film in films:
            found = index.find(film.title, film.year if dated else None)
            right += found is not None and found.id == meant.get(film.id)
            wrong += found is not None and found.id != meant.get(film.id)
        total = sum(film.id in meant for film in films)
        lines.append(line(name, Score(len(films), total, right, wrong)))
    yield from tables.table(HEAD, lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--movielens", type=Path, help="a folder with links.csv")
    folder: Path | None = parser.parse_args().movielens
    print("\n".join(labelled()))
    if folder is not None:
        print("\n" + "\n".join(wikidata(folder)))


if __name__ == "__main__":
    main()
