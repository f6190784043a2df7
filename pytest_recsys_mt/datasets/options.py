"""The types of arguments of `load`."""

from collections.abc import Callable
from typing import Literal

Report = Callable[[str], None]
"""Receives a note: a sentence on changes to the rows of a file."""

Repeats = Literal["latest", "count", "refuse"]
"""The treatment of rows of a table that repeat a user and an item: the latest is kept;
or their number is the rating, if there is none; or they are an error.
"""
