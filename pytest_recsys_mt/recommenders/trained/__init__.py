"""Recommenders trained by gradient descent; each module is imported when its model is first named.

They need PyTorch: ``pip install 'pytest-recsys-mt[train]'``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

__all__ = ["Trained"]


@runtime_checkable
class Trained(Protocol):
    """A recommender that is trained once and kept on disk.

    Attributes:
        folder: Where networks are kept; None among the user's caches.
        stream: Of a terminal, for a progress bar; None takes standard error if it is a terminal.
    """

    folder: Path | None
    stream: TextIO | None
