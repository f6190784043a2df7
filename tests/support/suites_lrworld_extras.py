"""What tests use of `suites.lrworld` that needs extra packages."""

from pytest_recsys_mt.suites.lrworld import neural
from pytest_recsys_mt.suites.lrworld.neural import (
    Embeddings,
    Factors,
    cosines,
    learn,
    prototypes,
)

__all__ = [
    "Embeddings",
    "Factors",
    "cosines",
    "learn",
    "neural",
    "prototypes",
]
