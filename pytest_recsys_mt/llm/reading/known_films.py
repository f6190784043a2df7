"""Existing films, to distinguish a title outside the catalogue from an invented one."""

from collections.abc import Iterable
from functools import cached_property

from pytest_recsys_mt.llm.reading.spelling import normalise, split_brackets, split_year
from pytest_recsys_mt.requests import Item

LEAST_SHARE = 0.2
"""Least share of known films in a catalogue of films. It is 73 % of MovieLens
(ml-latest-small), 52 % of its films since 2010; a book or a song seldom has the title
of a film of the same year.
"""

MOST_ASKED = 1000
"""Number of items, evenly over the catalogue, from which that share is estimated."""


class KnownFilms:
    """The films of `pytest_recsys_mt.datasets.metadata`, read at first use, if the
    catalogue is one of films.

    Loaders do not say what their items are: at least `LEAST_SHARE` of those with a year
    are known films.
    """

    def __init__(self, catalogue: Iterable[Item]) -> None:
        self._catalogue = tuple(catalogue)

    def hold(self, title: str, year: int) -> bool:
        """Whether there is a film of that year with that title in normal form.

        A film with the director and the year of an item is that item under another
        name: False.
        """
        directors = self._films.get((normalise(title), year))
        return directors is not None and not (
            directors and (directors, year) in self._directed
        )

    @cached_property
    def _films(self) -> dict[tuple[str, int], frozenset[str]]:
        from pytest_recsys_mt.datasets import metadata

        films = {
            (normalise(film.title), film.year): frozenset(film.attributes["directors"])
            for film in metadata.films()
            if film.year is not None
        }
        dated = [item for item in self._catalogue if item.year is not None]
        asked = dated[:: max(1, len(dated) // MOST_ASKED)]
        shared = sum(
            (normalise(split_brackets(split_year(item.title)[0])[0]), item.year)
            in films
            for item in asked
        )
        return films if asked and shared >= LEAST_SHARE * len(asked) else {}

    @cached_property
    def _directed(self) -> frozenset[tuple[frozenset[str], int | None]]:
        names = (
            (item.attributes.get("directors") or (), item.year)
            for item in self._catalogue
        )
        return frozenset((frozenset(directors), year) for directors, year in names)
