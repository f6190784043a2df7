"""Checks of popularities, numbers of interactions of items, which the popularity bias
metrics share.

The metrics compare the items of an answer with the user's own (Lichtenberg, Buchholz
and Schwöbel 2024, Large Language Models as Recommender Systems: A Study of Popularity
Bias, https://arxiv.org/abs/2406.01285, section 3): 0 is no bias, and -1 is as far from
it as 1.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arguments import one_of
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import OracleError

Zero = Literal["error", "drop", "plus-one"]
"""How to treat items without any interaction, which have no logarithm: raise an
``error``, leave them out (``drop``), or add one interaction to *every* item
(``plus-one``). The last option gives a different metric, which depends on the unit of
popularity.
"""


def scores(metric: str, name: str, values: ArrayLike, zero: Zero = "error") -> Floats:
    """`values` as finite numbers above 0, ``(n,)``, n at least 1; an error if one is 0
    and `zero` is ``error``.
    """
    one_of(metric, "zero", zero, get_args(Zero))
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1:
        raise OracleError(
            f"{metric}: {name} must be a flat list of numbers, got {values!r}",
        )
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0))]
    if len(wrong):
        raise OracleError(
            f"{metric}: {name} contains {float(wrong[0])!r}; popularity must be a finite number of at least 0",
        )
    if zero == "plus-one":
        numbers = numbers + 1
    elif zero == "drop":
        numbers = numbers[numbers > 0]
    elif not numbers.all():
        raise OracleError(
            f"{metric}: {name} contains an item of popularity 0, which has no logarithm and no share; "
            f"choose how to treat such items: zero='drop' leaves them out, zero='plus-one' adds one "
            f"interaction to every item",
        )
    if not len(numbers):
        raise OracleError(
            f"{metric}: {name} needs the popularity of at least one item; a list without items has none",
        )
    return numbers
