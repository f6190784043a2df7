"""Datasets: by name, from a folder in an official format, or from a table."""

from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.datasets.loading import NAMES, load, load_mini, obtained, place, unknown

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset

__all__ = ["NAMES", "Dataset", "load", "load_mini", "obtained", "place", "unknown"]


def __getattr__(name: str) -> Any:
    if name != "Dataset":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # It imports pandas, which callers that only need the names should not pay for.
    from pytest_recsys_mt.datasets.dataset import Dataset

    return Dataset
