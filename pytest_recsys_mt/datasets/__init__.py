"""Datasets: by name, from a folder in an official format, or from a table."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.datasets.loading import NAMES, load, obtained, place, unknown

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset
    from pytest_recsys_mt.datasets.mini import load_mini

__all__ = ["NAMES", "Dataset", "load", "load_mini", "obtained", "place", "unknown"]


# These modules import pandas, which callers that only need the names should not pay for.
_LATER = {"Dataset": "dataset", "load_mini": "mini"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
