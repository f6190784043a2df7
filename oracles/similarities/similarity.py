"""The similarities by name, each in [0, 1], as verdicts use them."""

import difflib
import pkgutil
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import OracleError

Similarity = Callable[[ArrayLike, ArrayLike], Floats]
"""From integer lists ``(n, k)`` and ``(n, k')`` to
similarities in [0, 1]; NaN only if a list is empty.
"""

_MODULES = {
    found.name: import_module(f"{__package__}.{found.name}")
    for found in pkgutil.iter_modules([str(Path(__file__).parent)])
}

SIMILARITIES: Mapping[str, Similarity] = MappingProxyType(
    {name: at.SIMILARITY for name, at in _MODULES.items() if hasattr(at, "SIMILARITY")},
)
"""The ``SIMILARITY`` that each module of this folder
declares, by the name of the module.
"""

METRICS: frozenset[Similarity] = frozenset(
    at.SIMILARITY for at in _MODULES.values() if getattr(at, "METRIC", False)
)
"""Similarities s of lists of equal length for which 1 - s is a metric of negative type:
a squared distance in some Euclidean space. Their modules declare ``METRIC = True``.
This is known for overlap and Jaccard. Extrapolated RBO and average overlap are mixtures
of overlaps of the first places. Kendall on the union and Fagin's K^(p) break the
triangle inequality.
"""


def least_effect(similarity: Similarity) -> float:
    """The smallest possible value of "agreement within sides minus agreement between
    them": -1/2 for `METRICS`, else -1.

    If the distance d = 1 - s satisfies the triangle inequality, two answers of one side
    are at most as far apart as the sum of their distances to any answer of the other
    side: ``mean d(s, s') <= 2 mean d(s, f)``. So agreement between sides exceeds the
    agreement within either side by at most 1/2, for any number of answers of one depth.
    For a similarity without a proof, agreements are only known to lie between 0 and 1.
    """
    return -0.5 if similarity in METRICS else -1.0


def similarity_named(
    name: str,
    among: Collection[str] = tuple(SIMILARITIES),
) -> Similarity:
    """The similarity of that name."""
    if name not in among:
        raise OracleError(
            f"there is no similarity {name!r} here; {choices(name, among)}",
        )
    return SIMILARITIES[name]


def choices(name: object, among: Collection[str]) -> str:
    """The valid names and the nearest match, as part of a sentence."""
    nearest = difflib.get_close_matches(str(name), among, n=1, cutoff=0.5)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return f"choose from {', '.join(among)}{hint}"
