"""What tests use of `cli.starter`."""

from pytest_recsys_mt.cli import starter
from pytest_recsys_mt.cli.starter import CI

__all__ = [
    "CI",
    "starter",
]
