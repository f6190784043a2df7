"""What tests use of `former_names`."""

from pytest_recsys_mt.former_names import FORMER

__all__ = [
    "FORMER",
]
