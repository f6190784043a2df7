"""Titles, genres and tags in MovieLens's notation."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

_YEAR = re.compile(r"\s*\((\d{4})(?:[-\N{EN DASH}]\d{0,4})?\)\s*$")
_NO_GENRES = frozenset({"", "(no genres listed)", "unknown"})
MAX_TAGS = 10
"""Number of tags kept for an item, the most frequent ones."""


def split_title(text: str) -> tuple[str, int | None]:
    """A title and its year: ``"Matrix, The (1999)"`` is ``("Matrix, The", 1999)``.

    The article stays at its place in the file. Of a span of years ("(1983-1987)"), the first counts.
    """
    found = _YEAR.search(text)
    if found is None or not text[: found.start()].strip():
        return text.strip(), None
    return text[: found.start()].strip(), int(found[1])


def split_genres(text: str) -> tuple[str, ...]:
    """Genres from their list, ``"Comedy|Drama"``; none from ``"(no genres listed)"``."""
    return known_genres(name.strip() for name in text.split("|"))


def known_genres(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that say something."""
    return tuple(name for name in names if name not in _NO_GENRES)


def frequent_tags(tags: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The `MAX_TAGS` tags given most often to each item, in lower case, equally frequent ones by
    name.

    There is one row per tag that a user gave, with the columns item and tag.
    """
    cleaned = pd.DataFrame({"item": tags["item"], "tag": tags["tag"].str.strip().str.lower()})
    counts = cleaned[cleaned["tag"] != ""].groupby(["item", "tag"], observed=True).size()
    ordered = counts.reset_index(name="count").sort_values(
        ["item", "count", "tag"], ascending=[True, False, True]
    )
    kept = ordered.groupby("item", observed=True).head(MAX_TAGS)
    of_items = kept.groupby(kept["item"].astype(str), sort=False)["tag"]
    return {str(item): tuple(listed) for item, listed in of_items}
