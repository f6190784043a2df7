"""Scores and aggregates by name."""

import pkgutil
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.scores.score import Score, score_named

__all__ = ["AGGREGATES"]

_MODULES = [
    import_module(f"{__package__}.{found.name}")
    for found in pkgutil.iter_modules([str(Path(__file__).parent)])
]

AGGREGATES: Mapping[str, Callable[[str], Aggregate]] = MappingProxyType(
    {
        name: make
        for at in _MODULES
        for name, make in getattr(at, "AGGREGATES", {}).items()
    },
)
"""Of the first k places for ``name@k``, or of all requested places for ``name``. The
modules of this folder declare them.
"""


Measure = str | Score | Aggregate
"""A score or an aggregate, or the name of one."""


def measure_named(name: Measure) -> Score | Aggregate:
    """The score or the aggregate of that name, such as
    ``item_coverage@10``, or the given one itself.
    """
    if isinstance(name, Aggregate):
        return name
    kind = str(name).partition("@")[0]
    if not isinstance(name, Score) and kind in AGGREGATES:
        return AGGREGATES[kind](str(name))
    return score_named(name, also=AGGREGATES)
