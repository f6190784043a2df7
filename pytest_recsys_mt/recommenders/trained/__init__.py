"""Recommenders trained by gradient descent; each module is imported when its model is first used.

They need PyTorch: ``pip install 'pytest-recsys-mt[train]'``.
"""

from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

__all__ = ["Trained"]


@runtime_checkable
class Trained(Protocol):
    """A recommender that is trained once and stored on disk.

    Attributes:
        folder: Folder of the networks; None is among the user's caches.
        stream: Stream to a terminal, for a progress bar; None takes standard error if it is a
            terminal.
    """

    folder: Path | None
    stream: TextIO | None
