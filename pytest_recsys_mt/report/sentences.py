"""A row of the record as one sentence that can be read aloud."""

from __future__ import annotations

from pytest_recsys_mt import wording
from pytest_recsys_mt.gate.comparison import name_of_row
from pytest_recsys_mt.gate.document import Row, state_of


def sentence(row: Row) -> str:
    """What was seen, against which limit, and how sure that is.

    Args:
        row: A row of the record; those of earlier records say less.

    Returns:
        For example ``scale_ratings(2) is violated: the loss of agreement beyond noise is 0.229 (0.157 to
        0.357; 20 users), but at most 0.05 is allowed; p = 0.00014.``
    """
    beside = f" against {row['against']}" if row.get("against") else ""
    return wording.sentence(f"{name_of_row(row)}{beside}", state_of(row), row)
