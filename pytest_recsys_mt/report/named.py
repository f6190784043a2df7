"""What rows of the record are called in tables, and how long a name may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_recsys_mt.metamorphic import slug


def name_of_row(row: Mapping[str, Any]) -> str:
    """The relation, or for tests without one the test and its own parameters."""
    if row["relation"] and row.get("metric") is None:
        return str(row["relation"])
    test, _, parameters = row["nodeid"].rpartition("::")[2].partition("[")
    own = parameters.removesuffix("]").removeprefix(slug(row["model"])).removeprefix("-")
    name = test.removeprefix("test_")
    return f"{name} {own}" if own else str(name)


def test_of_row(row: Mapping[str, Any]) -> str:
    """The test, without its parameters."""
    test, _, _ = row["nodeid"].rpartition("::")[2].partition("[")
    return str(test.removeprefix("test_"))


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
