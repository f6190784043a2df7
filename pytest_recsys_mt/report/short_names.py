"""The names of tests in tables, and their longest length."""

from __future__ import annotations

from pytest_recsys_mt.gate.document import Row


def test_of_row(row: Row) -> str:
    """The test, without its parameters."""
    test, _, _ = row["nodeid"].rpartition("::")[2].partition("[")
    return test.removeprefix("test_")


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
