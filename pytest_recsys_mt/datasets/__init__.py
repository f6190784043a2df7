"""Datasets: by name, from a folder in an official format, or from a table."""

from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.datasets.loading import NAMES, load, obtained, unknown

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset
    from pytest_recsys_mt.datasets.mini import load_mini

__all__ = ["NAMES", "Dataset", "load", "load_mini", "obtained", "unknown"]


def __getattr__(name: str) -> Any:
    # Their modules import pandas, which callers that only need the names should not pay for.
    if name == "Dataset":
        from pytest_recsys_mt.datasets.dataset import Dataset

        return Dataset
    if name == "load_mini":
        from pytest_recsys_mt.datasets.mini import load_mini

        return load_mini
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
