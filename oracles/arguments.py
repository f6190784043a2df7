"""Checks of oracle arguments, so that all oracles report errors in the same words."""

import math
from collections.abc import Sequence, Sized
from numbers import Integral
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers


def share(oracle: str, name: str, value: Any) -> float:
    """A number strictly between 0 and 1: margins of similarities and rates."""
    number = finite(oracle, name, value)
    if not 0 < number < 1:
        raise OracleError(
            f"{oracle}: {name} must lie between 0 and 1, both excluded, got {value!r}; 0.05 lets "
            f"the mean user change by a twentieth of the range",
        )
    return number


def not_negative(oracle: str, name: str, value: Any) -> float:
    """A finite number of at least 0: margins of scores."""
    number = finite(oracle, name, value)
    if number < 0:
        raise OracleError(f"{oracle}: {name} must be at least 0, got {value!r}")
    return number


SIDES = "answers as a metamorphic test is given them (source, followup) or as recsys.run() returns them"


def one_side(oracle: str, name: str, value: Any) -> Answers:
    """The answers of one side."""
    if not all(hasattr(value, part) for part in ("sample", "pair", "context", "label")):
        raise OracleError(f"{oracle}: {name} must be {SIDES}, got {value!r}")
    answers: Answers = value
    return answers


def two_sides(oracle: str, source: Any, followup: Any) -> None:
    """The answers of two different sides."""
    one_side(oracle, "source", source)
    one_side(oracle, "followup", followup)
    if source is followup:
        raise OracleError(
            f"{oracle}: source and followup are the same answers, {source!r}; compare "
            f"recsys.run() with recsys.run(a_transformation)",
        )


def two_sides_that_may_differ(oracle: str, source: Any, followup: Any) -> None:
    """Two sides for an oracle that wants them to differ.

    Raises:
        OracleError: If they are not two sides of a run.
        NotApplicable: If the recommender declares that it does not read what is changed
            between them.
    """
    two_sides(oracle, source, followup)
    if reason := source.context.ignored(source, followup):
        raise NotApplicable(reason)


def flat(oracle: str, name: str, values: Any, least: float = -math.inf) -> Floats:
    """A flat list of finite numbers, none below `least`."""
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1:
        raise OracleError(
            f"{oracle}: {name} must be a flat list of numbers, got {values!r}",
        )
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= least))]
    if len(wrong):
        bound = "" if least == -math.inf else f" of at least {least:g}"
        raise OracleError(
            f"{oracle}: {name} contains {float(wrong[0])!r}; each must be a finite number{bound}: leave out users or "
            f"items without one",
        )
    return numbers


def whole(oracle: str, name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise OracleError(
            f"{oracle}: {name} must be a whole number from {least}, got {value!r}",
        )
    return int(value)


def one_of(oracle: str, name: str, value: Any, valid: Sequence[str]) -> None:
    """One of these words."""
    if value not in valid:
        choices = " or ".join(map(repr, valid)).replace(" or ", ", ", len(valid) - 2)
        raise OracleError(f"{oracle}: {name} must be {choices}, got {value!r}")


def as_many(oracle: str, recommended: Sized, offered: Sized) -> None:
    """As many lists as offers."""
    if len(recommended) != len(offered):
        raise OracleError(
            f"{oracle}: recommended and offered each need one entry a user, got {len(recommended)} and {len(offered)}",
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
