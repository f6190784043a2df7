"""Recommenders trained by gradient descent; each module is imported when its model is
first used.

They need PyTorch: ``pip install 'pytest-recsys-mt[train]'``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["Trained"]


@runtime_checkable
class Trained(Protocol):
    """A recommender that is trained once and stored on disk."""

    folder: Path | None  # of the networks; None is among the user's caches
    told: (
        Callable[[str], None] | None
    )  # how far a training is, in words; None shows a bar
