"""What all metrics of popularity bias share: the scores of items, and items without any.

Popularity is the raw score of an item: how many interactions it has. The metrics compare the items of
an answer with the user's own (Lichtenberg, Buchholz and Schwöbel 2024, Large Language Models as
Recommender Systems: A Study of Popularity Bias, https://arxiv.org/abs/2406.01285, section 3): 0 is
no bias, and -1 is as far from it as 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.arrays import Floats

Zero = Literal["error", "drop", "plus-one"]
"""What becomes of items without any interaction, which have no logarithm: an ``error``, left out
(``drop``), or one interaction more for *every* item (``plus-one``). The last is a metric of its own:
it depends on the unit of popularity."""


def scores(metric: str, name: str, values: ArrayLike, zero: Zero = "error") -> Floats:
    """`values` as numbers above 0, ``(n,)``.

    Args:
        metric: Name of the metric, for error messages.
        name: Of the list, for errors.
        values: Popularity of each item of a list.
        zero: What becomes of items without interactions.

    Raises:
        OracleError: If nothing is left, or a value is no finite number of at least 0, or is 0 and
            no policy says what to do with it.
    """
    if zero not in ("error", "drop", "plus-one"):
        raise OracleError(f"{metric}: zero is 'error', 'drop' or 'plus-one', got {zero!r}")
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1:
        raise OracleError(f"{metric}: {name} is a flat list of numbers, got {values!r}")
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0))]
    if len(wrong):
        raise OracleError(
            f"{metric}: {name} holds {float(wrong[0])!r}; popularity is a finite number above 0"
        )
    if zero == "plus-one":
        numbers = numbers + 1
    elif zero == "drop":
        numbers = numbers[numbers > 0]
    elif not numbers.all():
        raise OracleError(
            f"{metric}: {name} holds an item of popularity 0, which has no logarithm and no share; say "
            f"what becomes of such items: zero='drop' leaves them out, zero='plus-one' adds one "
            f"interaction to every item"
        )
    if not len(numbers):
        raise OracleError(
            f"{metric}: {name} needs the popularity of one item at least; a list without items has "
            f"none"
        )
    return numbers
