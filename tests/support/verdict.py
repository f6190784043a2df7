"""What tests use of `verdict`."""

from pytest_recsys_mt.verdict.verdict import (
    FITS_NEEDED,
    NOT_ASKED,
    PART,
    SHARED,
    Example,
    Slice,
    Status,
)

__all__ = [
    "FITS_NEEDED",
    "NOT_ASKED",
    "PART",
    "SHARED",
    "Example",
    "Slice",
    "Status",
]
