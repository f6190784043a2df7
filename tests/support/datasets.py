"""What tests use of `datasets`."""

from pytest_recsys_mt.datasets import (
    NAMES,
    download,
    load_mini,
    metadata,
    neighbours,
    recordings,
)
from pytest_recsys_mt.datasets.archives import Limits, extract
from pytest_recsys_mt.datasets.catalogue import split_genres, split_title
from pytest_recsys_mt.datasets.dataset import COLUMNS
from pytest_recsys_mt.datasets.description import descriptions
from pytest_recsys_mt.datasets.download import data_directory, obtain
from pytest_recsys_mt.datasets.held_out import left_by_core, targets, training
from pytest_recsys_mt.datasets.joins import DESCRIPTIONS
from pytest_recsys_mt.datasets.json_lines import literal
from pytest_recsys_mt.datasets.lastfm import quantile_ratings
from pytest_recsys_mt.datasets.neighbours import Neighbours
from pytest_recsys_mt.datasets.options import Repeats
from pytest_recsys_mt.datasets.sources import SOURCES, Source

__all__ = [
    "COLUMNS",
    "DESCRIPTIONS",
    "NAMES",
    "SOURCES",
    "Limits",
    "Neighbours",
    "Repeats",
    "Source",
    "data_directory",
    "descriptions",
    "download",
    "extract",
    "left_by_core",
    "literal",
    "load_mini",
    "metadata",
    "neighbours",
    "obtain",
    "quantile_ratings",
    "recordings",
    "split_genres",
    "split_title",
    "targets",
    "training",
]
