"""The account of a verdict adds up: every drawn user is in one part of it."""

from collections.abc import Mapping
from typing import Any

MISSING = ("unread", "failed", "refused", "undefined")
"""Who was asked and counts at both ends of what is possible."""


def add_up(record: Mapping[str, Any]) -> None:
    """Check the account of every verdict of a record."""
    for row in record.get("results", []):
        account = row["account"]
        if not account:  # a test that made no verdict
            assert row["users"] == row["errors"] == 0, row["nodeid"]
            continue
        assert min(account.values()) >= 0, (row["nodeid"], account)
        missing = sum(account[part] for part in MISSING)
        asked = account["answered"] + missing + account["left_out"]
        assert account["both_ends"] == missing, (row["nodeid"], account)
        assert account["asked"] == asked, (row["nodeid"], account)
        drawn = account["not_applicable"] + account["not_asked"] + asked
        assert account["drawn"] == drawn, (row["nodeid"], account)
