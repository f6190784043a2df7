"""Corrections for the number of claims in a family."""

from collections.abc import Sequence
from itertools import accumulate


def holm(p_values: Sequence[float], weights: Sequence[float] = ()) -> list[float]:
    """Holm's step-down adjustment: reject if the adjusted p is at most alpha.

    Then the probability of any false rejection is at most alpha, under any dependence
    between the tests (Holm 1979, Scandinavian Journal of Statistics 6, 65-70). With
    weights above 0, a test of weight w gets the share of alpha that w is of the weights
    of all tests not rejected yet.

    Args:
        p_values: The p-values of the tests.
        weights: Their weights; by default all are equal.

    Returns:
        The adjusted p-values, in the order of the tests.
    """
    weights = weights or [1.0] * len(p_values)
    order = sorted(
        range(len(p_values)),
        key=lambda place: p_values[place] / weights[place],
    )
    # For each test in this order, the weights of itself and of all that follow it.
    sums_from_the_end = list(accumulate(weights[place] for place in reversed(order)))
    weights_left = reversed(sums_from_the_end)
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, weight_left in zip(order, weights_left, strict=True):
        scaled = min(1.0, weight_left / weights[place] * p_values[place])
        # No test is rejected before one with a smaller p-value.
        largest = max(largest, scaled)
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Step-up adjustment of Benjamini and Hochberg: list findings whose adjusted p is
    at most a rate.

    Then the expected share of false findings among the listed ones is at most that
    rate, if the tests are independent or positively dependent, as for relations that
    share their source answers (Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57,
    289-300).

    Args:
        p_values: The p-values of the tests.

    Returns:
        The adjusted p-values, in the order of the tests.
    """
    # As scipy.stats.false_discovery_control, whose import takes half a second of each
    # run.
    count = len(p_values)
    order = sorted(range(count), key=p_values.__getitem__)
    adjusted = [0.0] * count
    smallest = 1.0
    for rank in range(count, 0, -1):
        place = order[rank - 1]
        smallest = min(smallest, count / rank * p_values[place])
        adjusted[place] = smallest
    return adjusted
