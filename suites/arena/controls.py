"""Positive controls: planted bad lists that a judge must distinguish from the
user's real choices.

A judge that sees no difference between them cannot show that two recommenders are
alike; in trials this is called assay sensitivity (ICH E10, 2000, section 1.5).
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from pytest_recsys_mt.oracles.arguments import share
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import Item, Request
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.judging import OVERALL, Comparison, genres_of
from pytest_recsys_mt.suites.arena.questioning import (
    Points,
    explained,
    verdict_on_judge,
)
from pytest_recsys_mt.verdict.answers import Asked
from pytest_recsys_mt.verdict.verdict import Verdict

LEAST_LIKED = 2
"""Fewest liked items of a user: one to show, one to hide."""

Items = tuple[Item, ...]

Planted = Callable[[Items, Arena, Asked, Generator], Items]
"""Makes the bad list of a user from the good one."""


@dataclass(frozen=True)
class Control:
    """A planted bad list, in words: the user's own choices win against it."""

    bad: str
    planted: Planted


def own_choices(asked: Asked, seed: int) -> tuple[Request, Items]:
    """The request without half of the liked items (rated no lower than the user's
    mean), and that half, best first.
    """
    history = asked.request.history
    mean = float(np.mean([rating.value for rating in history])) if history else 0.0
    liked = [at for at, rating in enumerate(history) if rating.value >= mean - 1e-9]
    if len(liked) < LEAST_LIKED:
        raise NotApplicable(
            f"the history shows fewer than {LEAST_LIKED} items that the user liked",
        )
    size = min(asked.request.k, len(liked) // 2)
    rng = generator(seed, asked.user, "own choices")
    hidden = {liked[int(at)] for at in rng.permutation(len(liked))[:size]}
    chosen = sorted(hidden, key=lambda at: (-history[at].value, -at))
    shown = tuple(rating for at, rating in enumerate(history) if at not in hidden)
    return asked.request.replace(history=shown), tuple(
        history[at].item for at in chosen
    )


def against(
    planted: Planted,
) -> Callable[[Arena, Asked, Asked, Generator], list[Comparison]]:
    """Makes the comparisons of a user's own choices with
    a planted list, in both orders.
    """

    def make(
        arena: Arena,
        ours: Asked,
        theirs: Asked,
        rng: Generator,
    ) -> list[Comparison]:
        request, good = own_choices(ours, arena.seed)
        bad = planted(good, arena, ours, rng)
        return arena.orders(dataclasses.replace(ours, request=request), good, bad)

    return make


def good_wins(points: Points) -> float:
    """How far the list that stands first in the first
    comparison is preferred, over both orders.
    """
    return (points[0] - points[1]) / 2


def upside_down(good: Items, arena: Arena, asked: Asked, rng: Generator) -> Items:
    """The good list, the least liked item first."""
    rated = {rating.item.id: rating.value for rating in asked.request.history}
    if len({rated[item.id] for item in good}) < 2:
        raise NotApplicable("the user liked all items of the list alike")
    return good[::-1]


def _random(good: Items, arena: Arena, asked: Asked, rng: Generator) -> Items:
    return _drawn(len(good), sorted(arena.ours.context.items), arena, asked, rng)


def _off_topic(good: Items, arena: Arena, asked: Asked, rng: Generator) -> Items:
    known = arena.ours.context.items
    history = [
        known.get(rating.item.id, rating.item) for rating in asked.request.history
    ]
    met = {genre for item in history for genre in genres_of(item)}
    genres = {name: genres_of(item) for name, item in known.items()}
    others = [
        name for name in sorted(genres) if genres[name] and met.isdisjoint(genres[name])
    ]
    return _drawn(len(good), others, arena, asked, rng)


def _repeated(good: Items, arena: Arena, asked: Asked, rng: Generator) -> Items:
    if len(good) < 2:
        raise NotApplicable("the user's list has fewer than 2 items")
    return good[:1] * len(good)


def _drawn(
    size: int,
    names: Sequence[str],
    arena: Arena,
    asked: Asked,
    rng: Generator,
) -> Items:
    met = asked.request.known.union(asked.past, asked.relevant)
    order = (names[int(at)] for at in rng.permutation(len(names)))
    found = list(islice((name for name in order if name not in met), size))
    if len(found) < size:
        raise NotApplicable("the catalogue has too few other items for a bad list")
    return tuple(arena.ours.context.items[name] for name in found)


CONTROLS: Mapping[str, Control] = MappingProxyType(
    {
        "random_items": Control("random items", _random),
        "off_topic": Control("items of other genres", _off_topic),
        "repeated_item": Control("one item repeated", _repeated),
    },
)


def judge_sees(
    arena: Arena,
    control: str,
    aspect: str = OVERALL,
    *,
    least: float,
) -> Verdict:
    """The judge prefers what users chose to a planted bad list.

    Users whose judgement cannot be read are left out.

    Args:
        arena: The arena with the judge; its users and its catalogue make the lists.
        control: Name of one of `CONTROLS`.
        aspect: Name of one of the arena's aspects, or ``overall``.
        least: Smallest mean preference, in (0, 1).

    Returns:
        A verdict, reported; ``estimate`` is the power of the judge on this control.
    """
    return arena.context.report(sees(arena, control, aspect, least))


def sees(arena: Arena, control: str, aspect: str, least: float) -> Verdict:
    """As `judge_sees`, without a report."""
    arena.require("judge_sees", aspect)
    if control not in CONTROLS:
        raise OracleError(
            f"there is no control {control!r} of judges; {choices(control, CONTROLS)}",
        )
    given = CONTROLS[control]
    of_aspect, within = (
        ("", "") if aspect == OVERALL else (f":{aspect}", f" in {aspect}")
    )
    least = share("judge_sees", "least", least)
    measures = f"preference for users' own choices over {given.bad}"
    claim = Claim(
        f"judge_sees:{control}{of_aspect}",
        "at least",
        least,
        measures=measures,
    )
    effects = lambda answered: answered.effects((-1.0, 1.0), aspect, effect=good_wins)
    verdict = verdict_on_judge(
        arena,
        claim,
        control,
        against(given.planted),
        effects,
        aspect=aspect,
    )
    power = verdict.estimate or 0.0
    if power <= -least:
        return explained(verdict, f"it prefers {given.bad}{within}, by {-power:.2f}")
    return explained(
        verdict,
        f"it does not tell users' own choices from {given.bad}{within}: its preference is {power:.2f}",
    )
