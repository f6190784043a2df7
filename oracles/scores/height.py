"""How high items stand in the answers to a request."""

from collections.abc import Collection

from pytest_recsys_mt.answers import Asked


def mean_height(asked: Asked, items: Collection[str], k: int) -> float:
    """The mean height of items in k places, as a share of the largest they can have.

    The height of an item is 1 in the first place, 1/k in the last, 0 outside an answer.
    """
    largest = sum(k - place for place in range(min(len(items), k))) / k
    heights = [
        (k - place) / k
        for answer in asked.answers
        for place, each in enumerate(list(dict.fromkeys(answer.items))[:k])
        if each in items
    ]
    return sum(heights) / len(asked.answers) / largest
