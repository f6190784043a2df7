"""Recommenders: the built-in ones, and the registry
that finds them and others by a spec.
"""

from typing import TYPE_CHECKING

from pytest_recsys_mt.recommenders.registry import (
    BUILT_IN,
    NAMES,
    class_at,
    describe,
    may_cost,
    resolve,
)

if TYPE_CHECKING:
    from pytest_recsys_mt.recommenders.baselines import MostPop, Random
    from pytest_recsys_mt.recommenders.bm25 import BM25
    from pytest_recsys_mt.recommenders.ease import EASE
    from pytest_recsys_mt.recommenders.ials import IALS
    from pytest_recsys_mt.recommenders.knn import ItemKNN, UserKNN
    from pytest_recsys_mt.recommenders.random_walk import RP3Beta

__all__ = [
    "BM25", "EASE", "IALS", "NAMES", "ItemKNN", "MostPop", "RP3Beta", "Random", "UserKNN", "describe", "may_cost", "resolve",
]  # fmt: skip

# They need pandas and SciPy, which a process that only finds out what exists need not
# import.
_PLACES = {place.partition(":")[2]: place for place in BUILT_IN.values()}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return class_at(_PLACES[name])
