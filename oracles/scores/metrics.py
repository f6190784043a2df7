"""Accuracy of one answer, measured by the items held out for its user."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked

NOTHING_HELD_OUT = "no item was held out"

_Of = Callable[[Sequence[str], Collection[str], int], float]


@dataclass(frozen=True)
class Metric:
    """An accuracy metric, such as ``ndcg@10``, at a depth;
    None counts all requested places.
    """

    name: str
    depth: int | None
    _of: _Of

    def of(self, answer: Recommendation, asked: Asked) -> float:
        """The metric of one answer, in [0, 1]; repeats count at their first place."""
        depth = places(self.name, asked, self.depth)
        return self._of(leading(self.name, answer, asked, depth), asked.relevant, depth)


def metric_named(name: str) -> Metric:
    """The metric ``hit@k``, ``ndcg@k`` or ``mrr@k``; without
    ``@k`` at the depth of the request.
    """
    kind = str(name).partition("@")[0]
    if kind not in METRICS:
        raise OracleError(
            f"there is no accuracy metric {name!r}; {choices(kind, METRICS)}, with or without @k; for other scores "
            f"of two answers take same_score",
        )
    return Metric(str(name), depth_of(name), METRICS[kind])


def depth_of(name: str) -> int | None:
    """The number after the @ of a name, at least 1; None if there is no @."""
    _, at, depth = str(name).partition("@")
    if at and not (depth.isascii() and depth.isdigit() and int(depth) > 0):
        raise OracleError(
            f"the depth of a metric must be a number of at least 1, got {name!r}",
        )
    return int(depth) if at else None


def places(name: str, asked: Asked, depth: int | None) -> int:
    """How many places of an answer count: `depth`, or all
    requested places, which must not be fewer.
    """
    k = asked.request.k
    if depth is not None and depth > k:
        raise OracleError(
            f"{name} needs {depth} places, but the requests ask for {k}; ask for more "
            f"(--recsys-k={depth}) or use a smaller depth",
        )
    return k if depth is None else depth


def leading(
    name: str,
    answer: Recommendation,
    asked: Asked,
    depth: int | None,
) -> list[str]:
    """The items in the counted places, best first; repeats count at their first place."""
    return list(dict.fromkeys(answer.items))[: places(name, asked, depth)]


def auc(
    ranking: Sequence[str],
    candidates: Collection[str],
    relevant: Collection[str],
) -> float | None:
    """The area under the ROC curve of one ranking: the share of pairs in the right
    order.

    A pair is a relevant candidate and an irrelevant one. It is in the right order if
    the relevant one stands first. Candidates that the ranking leaves out are tied after
    all others, and a tied pair counts half (Hanley and McNeil 1982, Radiology 143(1)).
    Repeats count at their first place, and items that were not offered do not count.
    None if there is no pair, because all candidates or none are relevant.
    """
    offered = set(candidates)
    wanted = offered & set(relevant)
    others = len(offered) - len(wanted)
    if not wanted or not others:
        return None
    ahead = 0  # irrelevant candidates so far
    right = 0.0
    missing = set(wanted)
    for item in dict.fromkeys(ranking):
        if item in missing:
            missing.remove(item)
            right += others - ahead
        elif item in offered:
            ahead += 1
    right += len(missing) * (others - ahead) / 2
    return right / (len(wanted) * others)


def ndcg(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float | None:
    """The nDCG of one ranking at a depth, in [0, 1], as in the metric ``ndcg@depth``;
    None if no item is relevant.
    """
    if not relevant:
        return None
    return _ndcg(list(dict.fromkeys(ranking))[:depth], relevant, depth)


def _hit(items: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Hit rate: 1 if a held-out item is in the list, else 0."""
    return float(any(item in relevant for item in items))


def _mrr(items: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Reciprocal rank (MRR): one over the first place that
    holds a held-out item; 0 if none does.
    """
    return next(
        (1 / rank for rank, item in enumerate(items, 1) if item in relevant),
        0.0,
    )


def _ndcg(items: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Normalised discounted cumulative gain (nDCG): how near the top held-out items
    stand, up to 1. Jarvelin and Kekalainen 2002, ACM TOIS 20(4), with gain 1 and
    discount log2(rank + 1).
    """
    gain = [
        1 / math.log2(rank + 1)
        for rank, item in enumerate(items, 1)
        if item in relevant
    ]
    ideal = [
        1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), depth) + 1)
    ]
    return math.fsum(gain) / math.fsum(ideal)


METRICS: Mapping[str, _Of] = MappingProxyType({"hit": _hit, "ndcg": _ndcg, "mrr": _mrr})
