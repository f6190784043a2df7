"""How high items stand in the answers to a request."""

from collections.abc import Collection

from pytest_recsys_mt.answers import Asked


def rise(before: Asked, after: Asked, items: Collection[str]) -> float:
    """By how much the mean height of items is larger in the answers to the second request, among the places of both."""
    k = min(before.request.k, after.request.k)
    return mean_height(after, items, k) - mean_height(before, items, k)


def mean_height(asked: Asked, items: Collection[str], k: int) -> float:
    """The mean height of items (1 in the first of k places, 1/k in the last) as a share of the largest they can have."""
    largest = sum(k - place for place in range(min(len(items), k))) / k
    heights = [
        (k - place) / k
        for answer in asked.answers
        for place, each in enumerate(list(dict.fromkeys(answer.items))[:k])
        if each in items
    ]
    return sum(heights) / len(asked.answers) / largest
