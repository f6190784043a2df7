"""What the files of a format hold, and who reads them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_recsys_mt.datasets.options import Told
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.requests import Item, Scale


@dataclass(frozen=True)
class Content:
    """What the files of a format hold."""

    rows: Rows  # user, item, rating, timestamp
    items: Mapping[str, Item]  # by id
    scale: Scale
    family: str = ""
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    offered: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    thing: str = ""  # see `Dataset.thing`


@dataclass(frozen=True)
class Format:
    """A format of the files in a folder."""

    name: str  # in errors
    # Names, glob patterns, and alternatives of them between ``|``.
    files: tuple[str, ...]
    read: Callable[[Path, Told], Content]  # the files of a folder
    source: str  # where it is described
    # Whether the names of the files say too little to know a folder by.
    by_content: bool = False
