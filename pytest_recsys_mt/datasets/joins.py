"""Facts that further files of a folder add to the items of a format."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_recsys_mt.datasets import berkeley, metadata
from pytest_recsys_mt.datasets.delimited import Layout, read
from pytest_recsys_mt.datasets.pictures import with_pictures
from pytest_recsys_mt.datasets.rows import Column
from pytest_recsys_mt.datasets.title_list import with_listing
from pytest_recsys_mt.requests import Item


def with_links(items: Mapping[str, Item], folder: Path) -> Mapping[str, Item]:
    """A catalogue with the facts about its films, by the IMDb numbers of MovieLens's ``links.csv``."""
    if not (folder / "links.csv").is_file():
        return items
    columns = (Column("item", "id", ("movieid",)), Column("imdb", "integer", ("imdbid",)))
    links = read(folder / "links.csv", Layout(columns))
    links.refuse_repeats("item")
    pairs = links.frame.itertuples(index=False)
    return metadata.with_metadata(
        items, {str(item): metadata.imdb_id(imdb) for item, imdb in pairs}
    )


JOINS: Mapping[str, Callable[[Mapping[str, Item], Path], Mapping[str, Item]]] = {
    "links": with_links,
    "listing": with_listing,
    "pictures": with_pictures,
    "berkeley": berkeley.joined,
}
