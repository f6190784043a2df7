"""What the changed answers of a violated promise share: a trait of their users, or of the items that moved in them.

Users: Fisher's exact test of changed and unchanged lists by trait. Items: see `moved`. What is said is significant after
Holm's correction over the traits that were looked at, and large. It may be the cause, or go with the cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from pytest_recsys_mt.answers import Context, Pairs
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.moved import Look, looks_at_items
from pytest_recsys_mt.oracles.judging.traits import Mask, Trait, distinct, user_traits
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.verdict import SHARED

ALPHA = 0.01
"""How often random changes may be given a trait, over all traits together."""

MOST, HALF = 0.8, 0.5
"""The least share of the changed that must have a trait, and the largest of the others that may."""

NEARLY_ALL, FEW = 0.9, 0.25
"""Or: the least share of changed lists among the users with it, and the largest among the users without it."""

FEWEST_USERS = 8
FEWEST_CHANGED = 3

APART = 0.85
"""The least part of the variance of noisy effects that must lie between changed users and the others."""

TIE = 1e-9
"""An effect up to this is one of rounding."""

_SETS = (":overlap", ":jaccard")
"""Endings of the names of oracles that ignore the order of a list."""


@dataclass(frozen=True)
class Found:
    """A trait that stands out: its words, the p-value after the correction, and a sentence."""

    trait: str
    p_value: float
    text: str


@dataclass(frozen=True)
class Table:
    """So many of the marked users and of the others have a trait."""

    marked: int
    others: int
    marked_with: int
    others_with: int

    @classmethod
    def of(cls, mask: Mask, marked: Mask) -> Table:
        """Counted from who has the trait and who is marked, ``(n,)``."""
        hits, total = int((mask & marked).sum()), int(marked.sum())
        return cls(total, len(marked) - total, hits, int(mask.sum()) - hits)

    @property
    def tells(self) -> bool:
        """Whether most of the marked have the trait and few others."""
        return self.marked_with >= MOST * self.marked and self.others_with <= HALF * self.others

    @property
    def decides(self) -> bool:
        """Whether nearly all with the trait are marked, and few without it."""
        having = self.marked_with + self.others_with
        without = self.marked + self.others - having
        left = self.marked - self.marked_with
        return self.marked_with >= NEARLY_ALL * having and left <= FEW * without

    @property
    def exceptions(self) -> int:
        """Users whom the trait does not explain."""
        return self.marked - self.marked_with + self.others_with

    @property
    def p_value(self) -> float:
        """That of Fisher's exact test that the marked have it no more often than the others; 1 if they do not stand out."""
        return self._at_least(self.marked_with) if self.tells or self.decides else 1.0

    @property
    def least_p_value(self) -> float:
        """The smallest that so many marked users and users with the trait could have."""
        return self._at_least(min(self.marked, self.marked_with + self.others_with))

    def _at_least(self, hits: int) -> float:
        having, users = self.marked_with + self.others_with, self.marked + self.others
        some = np.arange(hits, min(having, self.marked) + 1)
        chance = _choose(having, some) + _choose(users - having, self.marked - some)
        return float(min(1.0, np.exp(chance - _choose(users, np.array([self.marked]))).sum()))

    def said(self, words: str, kind: str, other: str) -> str:
        """A sentence about the users with the trait, whose lists are of that kind or else the other."""
        if self.tells:
            first = "all" if self.marked_with == self.marked else f"{self.marked_with} of the"
            few = self.others_with
            rest = f"{few or 'none'} of the {self.others} {other} ones {'are' if few > 1 else 'is'}"
            return f"{first} {self.marked} {kind} lists are of users {words}; {rest}"
        having = self.marked_with + self.others_with
        first = "all" if not self.others_with else f"{self.marked_with} of the"
        left, without = self.marked - self.marked_with, self.marked + self.others - having
        return (
            f"{first} {having} users {words} have {kind} lists; {left} of the {without} others do"
        )


def with_shared(
    details: Mapping[str, Any], claim: Claim, effects: Effects, pairs: Pairs, context: Context
) -> Mapping[str, Any]:
    """The details of a violated verdict on how far lists moved, with what the lists that break the promise share."""
    if effects.mean is not None or effects.agreement is None or claim.promise == "within":
        return details
    unchanged = claim.changes or claim.promise == "at least"
    marked = None
    if context.deterministic:
        small = effects.effect <= TIE
        marked = small if claim.promise == "at least" else ~small
    elif not unchanged:
        marked = clearly_changed(effects.effect)
    if marked is None:
        return details
    ordered = not claim.oracle.endswith(_SETS)
    found = what_is_shared(marked, effects, pairs, context, unchanged=unchanged, ordered=ordered)
    return {**details, **found}


def clearly_changed(effect: Floats) -> Mask | None:
    """The users whose lists changed, from noisy effects ``(n,)``; None unless two groups are far apart.

    The groups are those with the most variance between them (Otsu 1979, IEEE Trans. SMC 9).
    """
    order = np.sort(effect)
    count = len(order)
    if count < FEWEST_USERS or order[-1] - order[0] <= TIE:
        return None
    low = np.arange(1, count)
    sums = np.cumsum(order)[:-1]
    means = sums / low, (order.sum() - sums) / (count - low)
    between = low * (count - low) / count**2 * (means[1] - means[0]) ** 2
    best = int(between.argmax())
    if between[best] < APART * order.var() or order[best + 1] <= 0:
        return None
    changed: Mask = effect > (order[best] + order[best + 1]) / 2
    return changed


def what_is_shared(
    marked: Mask,
    effects: Effects,
    pairs: Pairs,
    context: Context,
    *,
    unchanged: bool = False,
    ordered: bool = True,
) -> dict[str, Any]:
    """What stands out, as details of a verdict; empty if nothing does.

    Args:
        marked: The scored users whose lists changed, ``(n,)``, or did not.
        effects: Says which users these are.
        pairs: The answers.
        context: The facts of the run.
        unchanged: Whether they did not change.
        ordered: Whether the order of a list counts.
    """
    if len(marked) < FEWEST_USERS or marked.sum() < FEWEST_CHANGED:
        return {}
    source, followup = (
        [side[row] for row in effects.rows] for side in (pairs.source, pairs.followup)
    )
    users = [] if marked.all() else distinct(user_traits(source, context))
    looks: list[Look] = []
    if context.deterministic and not unchanged:
        looks = looks_at_items(source, followup, marked, context, ordered=ordered)
    tables = [Table.of(trait.mask, marked) for trait in users]
    # Users and items have one half of the error rate each.
    of_users = [min(1.0, 2 * p_value) for p_value in corrected(tables)]
    p_items = [look.p_value if _is_large(look) else 1.0 for look in looks]
    of_items = [min(1.0, 2 * p_value) for p_value in holm(p_items)]
    looked = len(tables) + len(looks)
    kinds = ("unchanged", "changed") if unchanged else ("changed", "unchanged")
    found = []
    best = _first(of_users, [table.exceptions for table in tables])
    item = _first(of_items, [each.elsewhere - _share(each) for each in looks])
    if best is not None:
        said = tables[best].said(users[best].words, *kinds)
        found.append(Found(users[best].words, of_users[best], said))
    if item is not None:
        look = looks[item]
        found.append(Found(look.words, of_items[item], _said(look)))
    elif best is not None:
        found += _further(users[best], users, marked, looked, kinds)
    return _told(found, looked)


def corrected(tables: Sequence[Table]) -> list[float]:
    """P-values after Holm's correction, only over those traits that could become significant with so many users.

    Which ones could depends on nothing but how many users are marked and have the trait (Tarone 1990, Biometrics 46).
    """
    least = sorted(table.least_p_value for table in tables)
    level = ALPHA / 2
    share = next((k for k in range(1, len(least)) if least[k] > level / k), max(1, len(least)))
    able = [at for at, table in enumerate(tables) if table.least_p_value <= level / share]
    found = [1.0] * len(tables)
    for at, p_value in zip(able, holm([tables[at].p_value for at in able]), strict=True):
        found[at] = p_value
    return found


def _first(adjusted: Sequence[float], misfit: Sequence[float]) -> int | None:
    """The significant trait that fits best; of equal ones the first, which is the simplest."""
    good = [at for at, p_value in enumerate(adjusted) if p_value <= ALPHA]
    return min(good, key=lambda at: misfit[at], default=None)


def _further(
    first: Trait, traits: Sequence[Trait], marked: Mask, looks: int, kinds: tuple[str, str]
) -> list[Found]:
    """A second trait, which tells the users with the first apart, or those without it."""
    found = []
    for inside, among in (
        (first.mask, f"among users {first.words}"),
        (~first.mask, "among the others"),
    ):
        if not 0 < marked[inside].sum() < inside.sum():
            continue
        tables = [Table.of(trait.mask[inside], marked[inside]) for trait in traits]
        adjusted = [min(1.0, 2 * looks * table.p_value) for table in tables]
        best = _first(adjusted, [table.exceptions for table in tables])
        if best is not None:
            said = f"{among}, {tables[best].said(traits[best].words, *kinds)}"
            found.append(Found(traits[best].words, adjusted[best], said))
    return sorted(found, key=lambda each: each.p_value)[:1]


def _share(look: Look) -> float:
    return look.having / look.changed


def _is_large(look: Look) -> bool:
    return _share(look) >= MOST and look.elsewhere <= HALF


def _said(look: Look) -> str:
    first = "all" if look.having == look.changed else f"{look.having} of the"
    rest = f"{look.elsewhere:.0%}" if look.elsewhere else "none"
    return f"{first} {look.changed} items that {look.what} {look.words}; {rest} of the others in these lists do"


def _told(found: Sequence[Found], looks: int) -> dict[str, Any]:
    if not found:
        return {}
    sentences = [f"{each.text[0].upper()}{each.text[1:]}." for each in found]
    p_value = max(each.p_value for each in found)
    text = f"{' '.join(sentences)} (p = {p_value:.2g}, corrected for {looks} traits looked at)"
    told: dict[str, Any] = {"text": text, "trait": found[0].trait, "p_value": found[0].p_value}
    if len(found) > 1:
        told["also"] = {"trait": found[1].trait, "p_value": found[1].p_value}
    return {SHARED: told}


def _choose(total: int, some: Any) -> Floats:
    """The logarithms of the numbers of ways to choose; minus infinity where there is none."""
    possible = (some >= 0) & (some <= total)
    inside = np.where(possible, some, 0)
    ways = gammaln(total + 1) - gammaln(inside + 1) - gammaln(total - inside + 1)
    return np.where(possible, ways, -np.inf)
