"""The content of files in one format, and the format with its reader."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.datasets.splits import Cut
from pytest_recsys_mt.requests import Item, Scale


@dataclass(frozen=True)
class Content:
    """The content of the files of a format."""

    rows: Rows  # user, item, rating, timestamp
    items: Mapping[str, Item]  # by id
    scale: Scale
    family: str = ""
    users: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    offered: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    thing: str = ""  # see `Dataset.thing`
    cut: Cut | None = None  # which rows are kept from training, if the data say so


@dataclass(frozen=True)
class Format:
    """A format of the files in a folder."""

    name: str  # in errors
    # Names, glob patterns, and alternatives of them between ``|``.
    files: tuple[str, ...]
    read: Callable[[Path, Report], Content]  # the files of a folder
    source: str  # where it is described
    # Whether the names of the files do not identify the format.
    by_content: bool = False
