"""MovieLens as CSV, as https://files.grouplens.org/datasets/movielens/ml-25m-README.html describes
it, and optional facts about the films.
"""

from pathlib import Path

from pytest_recsys_mt.datasets import films, metadata
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.interactions import checked
from pytest_recsys_mt.datasets.loading import Format
from pytest_recsys_mt.datasets.pictures import with_pictures
from pytest_recsys_mt.datasets.rows import Column, Layout, read
from pytest_recsys_mt.datasets.title_list import with_listing
from pytest_recsys_mt.requests import Item, Scale

SCALE = Scale(0.5, 5.0)

_MOVIE = ("movieid",)
_RATINGS = Layout(
    (
        Column("user", "integer", ("userid",)),
        Column("item", "integer", _MOVIE),
        Column("rating", "number"),
        Column("timestamp", "integer"),
    )
)
_MOVIES = Layout(
    (Column("item", "integer", _MOVIE), Column("title", "text"), Column("genres", "text"))
)
_TAGS = Layout((Column("item", "integer", _MOVIE), Column("tag", "text")))
_LINKS = Layout((Column("item", "integer", _MOVIE), Column("imdb", "integer", ("imdbid",))))


def load(folder: Path, name: str) -> Dataset:
    """Read a folder of this format, as `loading.Format` says."""
    items = _catalogue(folder)
    if (folder / "links.csv").is_file():
        items = metadata.with_metadata(items, _links(folder / "links.csv"))
    items = with_pictures(with_listing(items, folder), folder)
    ratings = read(folder / "ratings.csv", _RATINGS)
    return Dataset(name, items, checked(ratings, items, SCALE), SCALE, family="movielens")


def _catalogue(folder: Path) -> dict[str, Item]:
    movies = read(folder / "movies.csv", _MOVIES)
    tags = {}
    if (folder / "tags.csv").is_file():
        tags = films.frequent_tags(read(folder / "tags.csv", _TAGS).frame)
    return films.catalogue(movies, tags)


def _links(path: Path) -> dict[str, str]:
    links = read(path, _LINKS)
    links.refuse_repeats("item")
    return {str(item): metadata.imdb_id(imdb) for item, imdb in links.frame.itertuples(index=False)}


FORMATS = (Format("MovieLens as CSV", ("ratings.csv", "movies.csv"), load),)
