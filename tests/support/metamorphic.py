"""What tests use of `metamorphic`."""

from pytest_recsys_mt.metamorphic import UnnamedTransformation, name_of

__all__ = [
    "UnnamedTransformation",
    "name_of",
]
