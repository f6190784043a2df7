"""Checks of the arguments of relations; each check returns a plain Python value.

Plain values (never numpy scalars) keep names stable and edits serialisable.
"""

import math
import operator
from collections.abc import Sequence
from typing import SupportsIndex

from pytest_recsys_mt.safety.errors import RelationError, meant


def number(relation: str, name: str, value: float) -> float:
    """`value` as a finite float."""
    try:
        plain = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        plain = math.nan
    if not math.isfinite(plain):
        raise RelationError(
            f"{relation}: {name} must be a finite number, got {value!r}",
        )
    return plain


def count(relation: str, name: str, value: SupportsIndex) -> int:
    """`value` as an integer of at least 1."""
    try:
        plain = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        plain = 0
    if plain < 1:
        raise RelationError(
            f"{relation}: {name} must be an integer of at least 1, got {value!r}",
        )
    return plain


def share(relation: str, name: str, value: float) -> float:
    """`value` as a float in (0, 1]."""
    plain = number(relation, name, value)
    if not 0 < plain <= 1:
        raise RelationError(
            f"{relation}: {name} must be above 0 and at most 1 (the share of places to change), "
            f"got {value!r}",
        )
    return plain


def choice(relation: str, name: str, value: str, valid: Sequence[str]) -> str:
    """`value`, if it is one of `valid`."""
    if value in valid:
        return value
    options = " or ".join(repr(option) for option in valid)
    raise RelationError(
        f"{relation}: {name} must be {options}, got {value!r}{meant(str(value), valid)}",
    )
