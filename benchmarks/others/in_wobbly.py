"""wobbly: `order_invariant` for each of 40 users, with its own assertion for picks and
with that for texts.

The second takes a list as the vector of what is in it: then a list after a shuffle may
be as far from the lists before as these are from each other.
"""

from collections.abc import Sequence
from typing import Any

from experiment import ITEMS, Shop
from wobbly import check, equivalent, order_invariant


def vector(items: Sequence[int]) -> list[float]:
    """A list as a vector of its items."""
    return [float(item in items) for item in range(ITEMS)]


def ask(kind: str, seed: int) -> dict[str, Any]:
    """Of 40 users, with each assertion, how many broke."""
    shop = Shop(kind, seed)
    found = {}
    for name, assertion in (("pick", None), ("spread", equivalent(vector))):
        relation = order_invariant(field="candidates", assertion=assertion)
        reports = [
            check(
                lambda asked: shop.recommend(asked["user"], asked["candidates"]),
                {"user": user, "candidates": shop.offers[user]},
                [relation],
            )
            for user in range(40)
        ]
        broke = sum(report.broke for report in reports)
        samples = sum(
            stat.violations for report in reports for stat in report.relation_stats
        )
        found[name] = {"red": broke > 0, "users": broke, "samples": samples}
    return found
