"""How high an item stands in the answers to a request."""

from pytest_recsys_mt.answers import Asked


def mean_height(asked: Asked, item: str, k: int) -> float:
    """The mean height of an item: 1 in the first place of k, 1/k in the last, 0 outside an answer."""
    total = 0.0
    for answer in asked.answers:
        items = list(dict.fromkeys(answer.items))[:k]
        total += (k - items.index(item)) / k if item in items else 0.0
    return total / len(asked.answers)
