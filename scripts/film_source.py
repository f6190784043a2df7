"""The table of film facts from which the package's own files are made.

It is ``movies.db`` of the package ``bokeh_sampledata`` 2026.1: 17,472 films, retrieved
from Wikidata on 18 October 2026 (CC0; the package says so in
``licenses/datasets.json``). Older versions hold another table, from OMDb (CC BY-NC
4.0), which must not be shipped; so the file is known by its digest.
"""

import hashlib
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

INSTALL = "pip install bokeh_sampledata==2026.1"
SHA256 = "1d9c6a02e488d0354b2309e16130c58820a91ac2ce417e814c5964f9579a65ac"


def rows(query: str) -> list[tuple[Any, ...]]:
    """The rows that a query of the table ``omdb`` gives.

    Raises:
        ModuleNotFoundError: If ``bokeh_sampledata`` is not installed.
        ValueError: If its table is another one.
    """
    package = find_spec("bokeh_sampledata")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "no package bokeh_sampledata",
            name="bokeh_sampledata",
        )
    path = Path(package.origin).with_name("_data") / "movies.db"
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        raise ValueError(f"{str(path)!r} is not the CC0 table of Wikidata; {INSTALL}")
    # An immutable file is read without a lock, so a read-only installation serves too.
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as table:
        return table.execute(query).fetchall()


def names_in(text: str | None) -> tuple[str, ...]:
    """Names from their list, ``"Ann Lee, Bo Lu"``."""
    return tuple(name for part in (text or "").split(",") if (name := part.strip()))
