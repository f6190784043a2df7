"""How high items stand in the answers to a request."""

from collections.abc import Collection

from pytest_recsys_mt.answers import Asked


def mean_height(asked: Asked, item: str, k: int) -> float:
    """The mean height of an item: 1 in the first place of k, 1/k in the last, 0 outside an answer."""
    return sum(_heights(asked, {item}, k)) / len(asked.answers)


def mean_height_of(asked: Asked, items: Collection[str], k: int) -> float:
    """The mean height of several items in k places, as a share of the largest they can have."""
    largest = sum(k - place for place in range(min(len(items), k))) / k
    return sum(_heights(asked, items, k)) / len(asked.answers) / largest


def _heights(asked: Asked, items: Collection[str], k: int) -> list[float]:
    """The height of each of `items` that an answer names, over all answers."""
    return [
        (k - place) / k
        for answer in asked.answers
        for place, each in enumerate(list(dict.fromkeys(answer.items))[:k])
        if each in items
    ]
