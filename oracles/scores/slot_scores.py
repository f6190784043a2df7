"""Scores for the slots of an answer and for its format."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.scores.compliance import complies
from pytest_recsys_mt.oracles.scores.duplicates import duplicates
from pytest_recsys_mt.oracles.scores.hallucination import hallucination
from pytest_recsys_mt.oracles.scores.history_repeats import history_repeats
from pytest_recsys_mt.oracles.scores.out_of_candidate import out_of_candidate
from pytest_recsys_mt.oracles.scores.popularity_scores import Of, Scored, Span
from pytest_recsys_mt.oracles.scores.short_lists import short_list
from pytest_recsys_mt.oracles.scores.slots import (
    Slot,
    offer_of,
    slot_depth,
    slots_counted,
    slots_of,
)
from pytest_recsys_mt.requests import Recommendation


def _share(share: Callable[[Sequence[Slot], int], float]) -> Callable[[str], tuple[Of, Span]]:
    def make(name: str) -> tuple[Of, Span]:
        depth = slot_depth(name)

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            slots = slots_of(answer, asked, context)
            counted = slots_counted(slots, name, asked, depth)
            return (share(slots, counted) if counted else None), 0

        return of, _unit

    return make


def _format(
    fits: Callable[[Recommendation, Asked, Context, int], bool],
) -> Callable[[str], tuple[Of, Span]]:
    def make(name: str) -> tuple[Of, Span]:
        if "@" in name:
            raise OracleError(
                f"{name.partition('@')[0]} judges the whole answer and has no depth, got {name!r}"
            )

        def of(answer: Recommendation, asked: Asked, context: Context) -> Scored:
            demanded = min(asked.request.k, len(offer_of(asked, context)))
            return float(fits(answer, asked, context, demanded)), 0

        return of, _unit

    return make


def _complies(
    answer: Recommendation, asked: Asked, context: Context, demanded: int, *, strict: bool
) -> bool:
    prose = sum(entry.kind == "unparsed" for entry in answer.entries) if strict else 0
    return complies(len(slots_of(answer, asked, context)), prose, demanded)


def _short(answer: Recommendation, asked: Asked, context: Context, demanded: int) -> bool:
    return short_list(answer.items, demanded)


def _unit(asked: Asked, context: Context) -> tuple[float, float]:
    return 0.0, 1.0


SHARES: Mapping[str, Callable[[str], tuple[Of, Span]]] = MappingProxyType(
    {
        "hallucination": _share(hallucination),
        "out_of_candidate": _share(out_of_candidate),
        "history_repeats": _share(history_repeats),
        "duplicates": _share(duplicates),
    }
)
"""Shares of the first k slots for ``name@k``, of all requested slots for ``name``, or of all slots for
``name@full``."""

FORMATS: Mapping[str, Callable[[str], tuple[Of, Span]]] = MappingProxyType(
    {
        "short_lists": _format(_short),
        "compliance": _format(partial(_complies, strict=True)),
        "compliance_paper": _format(partial(_complies, strict=False)),
    }
)
"""1 or 0 per answer; an empty answer also has a format."""
