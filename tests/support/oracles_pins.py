"""What tests use of `oracles.pins`."""

from pytest_recsys_mt.oracles.pins.current_lists import updated
from pytest_recsys_mt.oracles.pins.entries import read
from pytest_recsys_mt.oracles.pins.text import rendered, rewritten

__all__ = [
    "read",
    "rendered",
    "rewritten",
    "updated",
]
