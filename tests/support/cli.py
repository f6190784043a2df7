"""What tests use of `cli`."""

from pytest_recsys_mt import cli
from pytest_recsys_mt.cli import arguments, main
from pytest_recsys_mt.cli.arguments import read_arguments

__all__ = [
    "arguments",
    "cli",
    "main",
    "read_arguments",
]
