"""Invalid recommendations: malformed, already seen, unknown or outside the catalogue.

The popularity paper counts them together (section 4.3 of
https://arxiv.org/abs/2406.01285), as ``invalid`` does.

Counted are the first k places of the list. A place is an entry that names something: an
item, offered or not, a title of no item, or a repeat of either (see `slots.slots_of`).
An introduction, a comment or a line that names nothing takes no place, and is not
counted. ``malformed`` is 1 for an answer of which nothing could be read, else 0.

Repeats take a place and do not count as invalid; `no_repeats` finds them. Missing
places do not count either; `complete_list` finds them.
"""

from collections.abc import Mapping

from pytest_recsys_mt.oracles.scores.popularity_scores import Of
from pytest_recsys_mt.oracles.scores.slots import slots_of
from pytest_recsys_mt.requests import EntryKind, Recommendation
from pytest_recsys_mt.verdict.answers import Asked, Context

_MALFORMED = "malformed"
_CLASS_OF: Mapping[EntryKind, str] = {
    "history": "already_seen",
    "unknown": "unknown_title",
    "outside": "outside_catalogue",
    # In the catalogue, but not among the candidates of the request.
    "catalogue": "outside_catalogue",
}


def _count(*classes: str) -> Of:
    """How many of the first k places are of these classes."""

    def of(answer: Recommendation, asked: Asked, context: Context) -> tuple[float, int]:
        if answer.unread:
            return float(_MALFORMED in classes), 0
        slots = slots_of(answer, asked, context)[: asked.request.k]
        found = [_CLASS_OF.get(slot.kind) for slot in slots if not slot.repeated]
        return float(sum(each in classes for each in found)), 0

    return of


def _span(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, float(asked.request.k)


_CLASSES = tuple(dict.fromkeys((_MALFORMED, *_CLASS_OF.values())))
SCORES = {"invalid": (_count(*_CLASSES), _span)} | {
    name: (_count(name), _span) for name in _CLASSES
}
