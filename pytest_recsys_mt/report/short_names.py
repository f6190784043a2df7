"""The names of tests in tables, and their longest length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def test_of_row(row: Mapping[str, Any]) -> str:
    """The test, without its parameters."""
    test, _, _ = row["nodeid"].rpartition("::")[2].partition("[")
    return str(test.removeprefix("test_"))


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
