"""Invalid recommendations: malformed, already seen, unknown or outside the catalogue.

The popularity paper counts them together (section 4.3 of https://arxiv.org/abs/2406.01285), as ``invalid`` does.
Repeats do not count as invalid; `no_repeats` finds them.
"""

from collections.abc import Mapping

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.popularity_scores import Of
from pytest_recsys_mt.oracles.scores.slots import kind_of
from pytest_recsys_mt.requests import EntryKind, Recommendation

_CLASS_OF: Mapping[EntryKind, str] = {
    "unparsed": "malformed",
    "history": "already_seen",
    "unknown": "unknown_title",
    "outside": "outside_catalogue",
    # In the catalogue, but not among the candidates of the request.
    "catalogue": "outside_catalogue",
}


def _count(*classes: str) -> Of:
    """How many of the first k entries are of these classes; an answer without entries is judged by its items."""

    def of(answer: Recommendation, asked: Asked, context: Context) -> tuple[float, int]:
        k = asked.request.k
        kinds: list[EntryKind] = [entry.kind for entry in answer.entries[:k]]
        if not answer.entries:
            kinds = [kind_of(item, asked, context) for item in answer.items[:k]]
        return float(sum(_CLASS_OF.get(kind) in classes for kind in kinds)), 0

    return of


def _span(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, float(asked.request.k)


SCORES = {"invalid": (_count(*{*_CLASS_OF.values()}), _span)} | {
    name: (_count(name), _span) for name in dict.fromkeys(_CLASS_OF.values())
}
