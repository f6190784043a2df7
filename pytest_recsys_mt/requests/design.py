"""How requests are made from users' interactions, and the seeds of what is drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


PROMPT = "person"
"""The default template for text models."""

FOLDS = 5
"""Into how many folds users are divided, where a design names one."""

_LEAST = {
    "users": 2, "history": 0, "candidates": 0, "k": 1, "replicates": 1, "training_history": 0, "initialisation": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Design:
    """How requests are made from users' interactions.

    Attributes:
        users: Most users to sample.
        history: Most history items in a request (the latest ones); 0 shows none.
        candidates: Items to choose from, including the held-out one; 0 is the whole
            catalogue.
        k: Length of the answer.
        replicates: Calls per side for a recommender that is not deterministic.
        rated_above: Only interactions rated above this count as history; None takes
            all.
        prompt: The template for text models if ``--recsys-prompt`` names none; None is
            `PROMPT`.
        training_history: Latest interactions of each user that a recommender is fitted
            to; None is all that are not held out. Text models are not fitted.
        initialisation: Number of the seed that a recommender is fitted with, from 0.
            Text models are not fitted.
        refits: Whether each replicate is answered by a fit of its own, with another
            seed. The spread of the seeds is then a part of the noise. A test of a
            relation on training data has it by itself.
        trained_on: The relation on training data after which the recommender is fitted;
            set by ``recsys.run(relation)``.
        fold: Number of the fold of users who get requests, from 0 to `FOLDS` - 1: a
            fifth of the interactions of each of them is held out, drawn at random, and
            all others are for training. None holds out the latest interaction of every
            user.
        recall: Whether candidates come in turn from the top lists of ``recsys_recall``,
            which include a held-out item only if a list contains it; else they are
            drawn.
    """

    users: int = 200
    history: int = 20
    candidates: int = 20
    k: int = 10
    replicates: int = 2
    rated_above: float | None = None
    prompt: str | None = None
    training_history: int | None = None
    initialisation: int = 0
    recall: bool = False
    refits: bool = False
    trained_on: Hashable = None
    fold: int | None = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if name == "training_history" and value is None:
                continue
            if not isinstance(value, int) or value < least:
                raise ValueError(
                    f"{name} must be a whole number from {least}, got {value!r}",
                )
        if self.fold is not None and self.fold not in range(FOLDS):
            raise ValueError(
                f"fold must be a whole number from 0 to {FOLDS - 1}, got {self.fold!r}",
            )
        if self.fold is not None and self.recall:
            raise ValueError(
                "recall deals out what recommenders list that know the held-out items of a fold; leave out "
                "recall or fold",
            )
        if self.trained_on is not None and not self.refits:
            raise ValueError(
                f"{self.trained_on!r} changes the training data, and needs refits=True: without other "
                f"seeds, the noise of fitting is unknown",
            )
        if self.recall and not self.candidates:
            raise ValueError(
                "recall deals out candidates, got candidates=0, the whole catalogue",
            )
        if self.candidates and self.k > self.candidates:
            raise ValueError(
                f"k={self.k} asks for more items than the {self.candidates} candidates of a "
                f"request; lower k, or raise candidates (0 is the whole catalogue)",
            )


def generator(*parts: str | int) -> Generator:
    """A generator seeded only by `parts`: never by order, worker, process or the clock."""
    import numpy as np

    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
