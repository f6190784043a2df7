"""Invalid recommendations: malformed, already seen, unknown or outside the catalogue.

The popularity paper counts them together (section 4.3 of https://arxiv.org/abs/2406.01285), as ``invalid`` does.
Repeats do not count as invalid; `no_repeats` finds them.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.popularity_scores import Of
from pytest_recsys_mt.oracles.scores.slots import kind_of
from pytest_recsys_mt.requests import EntryKind, Recommendation

_CLASS_OF: Mapping[EntryKind, str] = MappingProxyType(
    {
        "unparsed": "malformed",
        "history": "already_seen",
        "unknown": "unknown_title",
        "outside": "outside_catalogue",
        # In the catalogue, but not among the candidates of the request.
        "catalogue": "outside_catalogue",
    }
)


def invalid_entries(answer: Recommendation, asked: Asked, context: Context) -> Counter[str]:
    """How many of the first k entries are invalid, by class; an answer without entries is judged by its items."""
    k = asked.request.k
    kinds: list[EntryKind] = [entry.kind for entry in answer.entries[:k]]
    if not answer.entries:
        kinds = [kind_of(item, asked, context) for item in answer.items[:k]]
    return Counter(_CLASS_OF[kind] for kind in kinds if kind in _CLASS_OF)


def _count(*names: str) -> Of:
    def of(answer: Recommendation, asked: Asked, context: Context) -> tuple[float, int]:
        found = invalid_entries(answer, asked, context)
        return float(sum(found[name] for name in names)), 0

    return of


def _span(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, float(asked.request.k)


SCORES = {"invalid": (_count(*{*_CLASS_OF.values()}), _span)} | {
    name: (_count(name), _span) for name in dict.fromkeys(_CLASS_OF.values())
}
