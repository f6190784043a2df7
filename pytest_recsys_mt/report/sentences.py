"""A row of the record as one sentence that can be read aloud."""

from __future__ import annotations

from pytest_recsys_mt import wording
from pytest_recsys_mt.gate.comparison import name_of_row
from pytest_recsys_mt.gate.document import Row, state_of


def sentence(row: Row) -> str:
    """What was seen, against which limit, and how sure that is: ``shuffle(0) is violated: the ... is 0.229 (...)``."""
    beside = f" against {row['against']}" if row.get("against") else ""
    return wording.sentence(f"{name_of_row(row)}{beside}", state_of(row), row)
