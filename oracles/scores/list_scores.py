"""Novelty, popularity and diversity of one list, as scores with a depth."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import NotApplicable, OracleError
from pytest_recsys_mt.oracles.scores.aplt import aplt
from pytest_recsys_mt.oracles.scores.arp import arp
from pytest_recsys_mt.oracles.scores.intra_list_diversity import intra_list_diversity
from pytest_recsys_mt.oracles.scores.metrics import NOTHING_HELD_OUT, depth_of, leading, places
from pytest_recsys_mt.oracles.scores.popularity_groups import Threshold, by_popularity, long_tail_of
from pytest_recsys_mt.oracles.scores.popularity_scores import Of, Scored, Span
from pytest_recsys_mt.oracles.scores.self_information import Unseen, self_information
from pytest_recsys_mt.oracles.scores.serendipity import serendipity, unexpectedness
from pytest_recsys_mt.requests import Recommendation

Listed = Callable[[Sequence[str], Asked, Context, int], Scored]
"""From the items in the counted places, and the number of these places, to a score."""


def _score(listed: Listed, span: Span) -> Callable[[str], tuple[Of, Span]]:
    def make(name: str) -> tuple[Of, Span]:
        depth = depth_of(name)

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            items = leading(name, answer, asked, depth)
            return listed(items, asked, context, places(name, asked, depth))

        return of, span

    return make


def _known(items: Sequence[str], context: Context) -> list[str]:
    return [item for item in items if item in context.items or item in context.popularity]


def _self_information(
    items: Sequence[str], asked: Asked, context: Context, depth: int, *, unseen: Unseen
) -> Scored:
    known = _known(items, context)
    counts = [context.popularity.get(item, 0) for item in known]
    left_out = len(items) - len(known)
    if unseen == "drop":
        left_out += counts.count(0)
    return self_information(counts, _users(context), unseen=unseen, places=depth), left_out


def _users(context: Context) -> int:
    if not context.users:
        raise OracleError(
            "self_information needs the number of training users, which these answers do not give; "
            "pass it to their Context(users=...)"
        )
    return context.users


def _popular(asked: Asked, context: Context, depth: int) -> list[str]:
    """The list of the most popular items, from the same offer."""
    candidates = asked.request.candidates
    if candidates is not None:
        ids = dict.fromkeys(item.id for item in candidates)
        return sorted(ids, key=lambda item: (-context.popularity.get(item, 0), item))[:depth]
    known = asked.request.known
    unseen = (item for item in by_popularity(context) if item not in known)
    return [item for item, _ in zip(unseen, range(depth), strict=False)]


def _serendipity(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    if not asked.relevant:
        raise NotApplicable(NOTHING_HELD_OUT)
    return serendipity(items, _popular(asked, context, depth), asked.relevant), 0


def _unexpectedness(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    return unexpectedness(items, _popular(asked, context, depth), depth), 0


def _arp(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    known = _known(items, context)
    return arp([context.popularity.get(item, 0) for item in known]), len(items) - len(known)


def _arp_paper(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    return sum(context.popularity.get(item, 0) for item in items) / depth, 0


def _aplt(
    items: Sequence[str], asked: Asked, context: Context, depth: int, *, threshold: Threshold
) -> Scored:
    return aplt(items, long_tail_of(context, threshold), depth), 0


def _diversity(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    offered = {item.id: item for item in asked.request.candidates or ()}
    known = [offered.get(item) or context.items.get(item) for item in items]
    genres = [tuple(item.attributes.get("genres", ())) if item else () for item in known]
    return intra_list_diversity(genres), sum(not of_item for of_item in genres)


def _unit(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, 1.0


def _bits(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, math.log2(_users(context))


def _capped_bits(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, math.log2(2 * _users(context))


def _counts(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, float(max(context.popularity.values(), default=0))


SCORES: Mapping[str, Callable[[str], tuple[Of, Span]]] = MappingProxyType(
    {
        "self_information": _score(partial(_self_information, unseen="drop"), _bits),
        "self_information_capped": _score(partial(_self_information, unseen="cap"), _capped_bits),
        "self_information_paper": _score(partial(_self_information, unseen="paper"), _bits),
        "serendipity": _score(_serendipity, _unit),
        "unexpectedness": _score(_unexpectedness, _unit),
        "arp": _score(_arp, _counts),
        "arp_paper": _score(_arp_paper, _counts),
        "aplt": _score(partial(_aplt, threshold="rank"), _unit),
        "aplt_by_value": _score(partial(_aplt, threshold="value"), _unit),
        "intra_list_diversity": _score(_diversity, _unit),
    }
)
