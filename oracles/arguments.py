"""Checks of oracle arguments, so that all oracles report errors in the same words."""

import math
from typing import Any

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.errors import OracleError


def share(oracle: str, name: str, value: Any) -> float:
    """A number strictly between 0 and 1: margins of similarities and rates."""
    number = finite(oracle, name, value)
    if not 0 < number < 1:
        raise OracleError(
            f"{oracle}: {name} must lie between 0 and 1, both excluded, got {value!r}; 0.05 lets "
            f"the mean user change by a twentieth of the range"
        )
    return number


def not_negative(oracle: str, name: str, value: Any) -> float:
    """A finite number of at least 0: margins of scores."""
    number = finite(oracle, name, value)
    if number < 0:
        raise OracleError(f"{oracle}: {name} must be at least 0, got {value!r}")
    return number


def one_side(oracle: str, name: str, value: Any) -> Answers:
    """The answers of one side."""
    if not all(hasattr(value, part) for part in ("sample", "pair", "context", "label")):
        raise OracleError(
            f"{oracle}: {name} must be answers as a metamorphic test is given them (source, "
            f"followup) or as recsys.run() returns them, got {value!r}"
        )
    answers: Answers = value
    return answers


def two_sides(oracle: str, source: Any, followup: Any) -> None:
    """The answers of two different sides."""
    one_side(oracle, "source", source)
    one_side(oracle, "followup", followup)
    if source is followup:
        raise OracleError(
            f"{oracle}: source and followup are the same answers, {source!r}; compare "
            f"recsys.run() with recsys.run(a_transformation)"
        )


def finite(oracle: str, name: str, value: Any) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(number):
        raise OracleError(f"{oracle}: {name} must be a number, got {value!r}")
    return number
