"""What tests use of `oracles.similarities`."""

from pytest_recsys_mt.oracles.similarities import kernel
from pytest_recsys_mt.oracles.similarities.fagin import fagin_similarity
from pytest_recsys_mt.oracles.similarities.kendall import kendall_similarity
from pytest_recsys_mt.oracles.similarities.similarity import (
    METRICS,
    SIMILARITIES,
    least_effect,
    similarity_named,
)

__all__ = [
    "METRICS",
    "SIMILARITIES",
    "fagin_similarity",
    "kendall_similarity",
    "kernel",
    "least_effect",
    "similarity_named",
]
