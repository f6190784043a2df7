"""The types of what callers of `load` choose."""

from collections.abc import Callable
from typing import Literal

Told = Callable[[str], None]
"""Told in a sentence what was done to the rows of a file."""

Repeats = Literal["latest", "count", "refuse"]
"""What becomes of rows of a table that repeat a user and an item: the latest is kept;
or their number is the rating, where there is none; or they are an error.
"""
