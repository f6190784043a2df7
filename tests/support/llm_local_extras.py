"""What tests use of `llm.local` that needs extra packages."""

from pytest_recsys_mt.llm.local import decoding
from pytest_recsys_mt.llm.local.decoding import SeededSampling, is_listed

__all__ = [
    "SeededSampling",
    "decoding",
    "is_listed",
]
