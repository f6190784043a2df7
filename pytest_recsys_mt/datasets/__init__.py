"""Datasets: by name, from a folder in an official format, or from a table."""

from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.datasets.loading import NAMES as NAMES
from pytest_recsys_mt.datasets.loading import load
from pytest_recsys_mt.datasets.loading import load_mini as load_mini
from pytest_recsys_mt.datasets.loading import named as named
from pytest_recsys_mt.datasets.loading import obtained as obtained
from pytest_recsys_mt.datasets.loading import place as place
from pytest_recsys_mt.datasets.loading import place_of_code as place_of_code
from pytest_recsys_mt.datasets.loading import unknown as unknown

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset

__all__ = ["Dataset", "load"]


def __getattr__(name: str) -> Any:
    if name != "Dataset":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # It imports pandas, which callers that only need the names should not pay for.
    from pytest_recsys_mt.datasets.dataset import Dataset

    return Dataset
