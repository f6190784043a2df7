"""What tests use of `report.paper_tables`."""

from pytest_recsys_mt.report.paper_tables.command import filled
from pytest_recsys_mt.report.paper_tables.declared import read, tables_of

__all__ = [
    "filled",
    "read",
    "tables_of",
]
