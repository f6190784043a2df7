"""Questions whose answer follows only from
interactions: association and personalization.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
from pytest_recsys_mt.suites.lrworld.histories import (
    Counts,
    Floats,
    Histories,
    Ints,
    Mask,
)
from pytest_recsys_mt.suites.lrworld.question import Kind
from pytest_recsys_mt.suites.lrworld.rules import Indices, mine
from pytest_recsys_mt.suites.lrworld.standing import NOBODY, Behind
from pytest_recsys_mt.suites.lrworld.wrong_options import (
    Draft,
    LackingError,
    choose,
    matched_of,
)

TRIED = 10
"""Most targets to try for each requested question."""

LEAST_TRIED = 1000
"""Least number of targets to try, for few requested questions."""

CELLS = 2**24
"""Cells of a block of similarities: 192 MiB if none is 0."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """How right every option is, for one target, which is not among them."""

    target: int
    options: Ints
    scores: Floats  # shape (options,), the greater the more right; equal to the bit if equal

    def top(self, rng: np.random.Generator) -> int:
        """Place among `options` of one with the greatest score."""
        return int(rng.choice(np.flatnonzero(self.scores == self.scores.max())))

    def below(self, place: int) -> Ints:
        """Places among `options` of those less right than the one at `place`."""
        return np.flatnonzero(self.scores < self.scores[place])


def rule_questions(
    histories: Histories,
    kind: Kind,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[Draft]:
    """Which item goes with another one: one rule of each antecedent, then a second one;
    no wrong option is in any.
    """
    found = mine(histories, settings.support, settings.confidence)
    asked = histories.asked_items
    usable = np.flatnonzero(asked[found.antecedent] & asked[found.consequent])
    if not len(usable):
        raise LackingError(
            f"no rule between two items has a support of {settings.support:g} and a confidence of "
            f"{settings.confidence:g}",
        )
    starts = np.searchsorted(found.antecedent, np.arange(len(asked) + 1))
    text, matched = histories.item_text, matched_of(settings, histories.popularity)
    for row in usable[_rounds(found.antecedent[usable], rng)]:
        item, right = int(found.antecedent[row]), int(found.consequent[row])
        pool = asked.copy()
        pool[found.consequent[starts[item] : starts[item + 1]]] = pool[item] = False
        rule = _Rule([item], right, found.together[row], found.confidence[row], pool)
        for _ in range(
            rng.integers(settings.antecedent) if settings.antecedent > 1 else 0,
        ):
            longer = _longer(rule, histories, settings, found.users, rng)
            if longer is None:
                break
            rule = longer
        shown = tuple(map(text, rule.antecedent))
        offer = choose(
            rng,
            kind.options,
            rule.consequent,
            np.flatnonzero(rule.pool),
            text,
            taken=shown,
            matched=matched,
        )
        if offer is not None:
            options, rows = offer
            popularity = histories.popularity[rule.consequent]
            yield {
                **options,
                "behind": behind_items(np.array(rule.antecedent), rows),
                "shown": {"target": shown},
                "popularity": float(popularity),
                "evidence": {
                    "support": float(rule.together / found.users),
                    "confidence": float(rule.confidence),
                    "lift": float(rule.confidence * found.users / popularity),
                },
            }


@dataclass(frozen=True, eq=False)
class _Rule:
    """Users who have some items have another one too.

    Attributes:
        antecedent: The items.
        consequent: The other one.
        together: How many users have all of them.
        confidence: The share of the users with the antecedent who have both.
        pool: The items that may be wrong options: no rule leads from the antecedent to
            them.
    """

    antecedent: list[int]
    consequent: int
    together: float
    confidence: float
    pool: Mask


def _longer(
    rule: _Rule,
    histories: Histories,
    settings: Settings,
    users: int,
    rng: np.random.Generator,
) -> _Rule | None:
    """A rule from all items of a given one to one more, drawn at random; None if there
    is no such rule.
    """
    whole = [*rule.antecedent, rule.consequent]
    asked = histories.asked_items
    holders = np.flatnonzero(histories.by_user[:, whole].sum(axis=1) == len(whole))
    counts = np.asarray(histories.by_user[holders].sum(axis=0), dtype=np.int64)
    enough = max(settings.support * users, settings.confidence * len(holders))
    ruled = counts >= max(1, enough * (1 - 1e-12))
    ruled[whole] = False
    if not (ruled & asked).any():
        return None
    right = int(rng.choice(np.flatnonzero(ruled & asked)))
    pool = asked & ~ruled
    pool[whole] = False
    return _Rule(whole, right, counts[right], counts[right] / len(holders), pool)


def similar_items(
    histories: Histories,
    kind: Kind,
    settings: Settings,
    count: int,
    rng: np.random.Generator,
) -> Iterator[Draft]:
    """Which item the same users have."""
    targets = _targets(histories.asked_items, count, rng)
    by_item, text = histories.by_user.T.tocsr(), histories.item_text
    least, known = settings.similarity, histories.popularity
    matching = {"popularity": known, "matched": matched_of(settings, known)}
    for ranked in similarities(by_item, targets, histories.asked_items):
        target, behind = (
            text(ranked.target),
            partial(behind_items, np.array([ranked.target])),
        )
        shown = {"target": target}
        yield from ask(
            ranked,
            kind,
            least,
            rng,
            shown,
            text,
            behind=behind,
            taken=[target],
            **matching,
        )


def similar_users(
    histories: Histories,
    kind: Kind,
    settings: Settings,
    count: int,
    rng: np.random.Generator,
) -> Iterator[Draft]:
    """Which user has the same items; they are shown as their latest ones."""
    targets = _targets(histories.asked_users, count, rng)
    least, matched = settings.similarity, matched_of(settings, histories.lengths)
    text = partial(histories.user_text, length=settings.history)
    for ranked in similarities(histories.by_user, targets, histories.asked_users):
        shown = {"history": histories.user_texts(ranked.target, settings.history)}
        latest, taken = (
            histories.latest(ranked.target, settings.history),
            [text(ranked.target)],
        )
        behind = partial(behind_users, histories, settings.history, latest)
        yield from ask(
            ranked,
            kind,
            least,
            rng,
            shown,
            text,
            behind=behind,
            taken=taken,
            matched=matched,
        )


def ask(
    ranked: Ranked,
    kind: Kind,
    least: float,
    rng: np.random.Generator,
    shown: Draft,
    text: Callable[[int], str],
    *,
    behind: Callable[[tuple[int, ...]], Behind],
    taken: Collection[str] = (),
    popularity: Ints | None = None,
    matched: Ints | None = None,
) -> Iterator[Draft]:
    """The question about one target, if there is one.

    Two users may show the same text, so no wrong option has that of another user who is
    as right.
    """
    if not len(ranked.options):
        return
    place = ranked.top(rng)
    if ranked.scores[place] < least:
        return
    right = int(ranked.options[place])
    tied = ranked.options[ranked.scores == ranked.scores[place]]
    equals = [
        same
        for row in tied.tolist()
        if row != right and (same := text(row)) != text(right)
    ]
    pool = ranked.options[ranked.below(place)]
    offer = choose(
        rng,
        kind.options,
        right,
        pool,
        text,
        taken=(*taken, *equals),
        matched=matched,
    )
    if offer is not None:
        options, rows = offer
        rest = np.isin(ranked.options, rows) & (ranked.options != right)
        yield {
            **options,
            "behind": behind(rows),
            "shown": shown,
            "popularity": None if popularity is None else float(popularity[right]),
            "evidence": {
                "right": float(ranked.scores[place]),
                "best_of_the_rest": float(ranked.scores[rest].max()),
            },
        }


def similarities(matrix: Counts, targets: Ints, allowed: Mask) -> Iterator[Ranked]:
    """Cosines of some rows, one-hot vectors, to all allowed ones, one target at a time,
    in their order.

    The vector of an item has a one for every user who has it; that of a user, for every
    item. Their cosine is c / sqrt(a b) with c in common and a and b each (the paper,
    section 3).
    """
    lengths = np.diff(matrix.indptr).astype(np.float64)
    options = np.flatnonzero(allowed)
    by_feature = matrix[options].T.tocsr()
    height = max(1, CELLS // max(1, len(options)))
    for start in range(0, len(targets), height):
        block = targets[start : start + height]
        common = matrix[block] @ by_feature
        for row, target in enumerate(block):
            scores = np.zeros(len(options))
            part = slice(common.indptr[row], common.indptr[row + 1])
            places = common.indices[part]
            # First the root of c^2 / b, then that of a: divisions round correctly, so
            # options of equal similarity have equal bits.
            scores[places] = np.sqrt(
                common.data[part].astype(np.float64) ** 2 / lengths[options[places]],
            )
            others = options != target
            yield Ranked(
                int(target),
                options[others],
                scores[others] / np.sqrt(lengths[target]),
            )


def behind_items(shown: Ints, rows: tuple[int, ...]) -> Behind:
    """Options that are items."""
    return Behind(shown, tuple((np.array([row]),) for row in rows))


def behind_users(
    histories: Histories,
    length: int,
    shown: Ints,
    rows: tuple[int, ...],
    without: int = NOBODY,
) -> Behind:
    """Options that are users, described by their latest items."""
    own = (histories.latest(row, length, without)[:, None] for row in rows)
    return Behind(shown, tuple(map(tuple, own)), users=rows)


def _targets(asked: Mask, count: int, rng: np.random.Generator) -> Ints:
    targets = np.flatnonzero(asked)
    tried = max(LEAST_TRIED, TRIED * count)
    return rng.choice(targets, min(tried, len(targets)), replace=False)


def _rounds(keys: Indices, rng: np.random.Generator) -> Ints:
    chance = rng.random(len(keys))
    return np.lexsort((chance, pd.Series(chance).groupby(keys).rank("first")))
