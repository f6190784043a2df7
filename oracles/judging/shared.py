"""The common traits of the changed answers of a violated promise: of their users, or of
the items that moved in them.

Users: Fisher's exact test of changed and unchanged lists by trait. Items: see `moved`.
What is reported is significant after Holm's correction over the traits that were looked
at, and large. It may be the cause, or go with the cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.few_items import few_changed_items
from pytest_recsys_mt.oracles.judging.moved import Look, looks_at_items
from pytest_recsys_mt.oracles.judging.swapped import swapped_neighbours
from pytest_recsys_mt.oracles.judging.trait_table import HALF, MOST, Table
from pytest_recsys_mt.oracles.judging.traits import Mask, Trait, distinct
from pytest_recsys_mt.oracles.judging.traits_of_users import user_traits
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import SHARED

ALPHA = 0.01
"""How often random changes may be given a trait, over all traits together."""

FEWEST_USERS = 8
FEWEST_CHANGED = 3

APART = 0.85
"""The least part of the variance of noisy effects that must
lie between changed users and the others.
"""

RARE = 0.05
"""The largest share of the unchanged items that may have a trait which only half of the
changed ones have.
"""

TIE = 1e-9
"""An effect up to this is one of rounding."""

_SETS = (":overlap", ":jaccard")
"""Endings of the names of oracles that ignore the order of a list."""


@dataclass(frozen=True)
class Found:
    """A trait that stands out.

    Attributes:
        trait: Its words.
        p_value: After the correction.
        text: A sentence about it.
    """

    trait: str
    p_value: float
    text: str


def with_shared(
    details: Mapping[str, Any],
    claim: Claim,
    effects: Effects,
    pairs: Pairs,
    context: Context,
) -> Mapping[str, Any]:
    """The details of a violated verdict on how far lists moved, with the common
    traits of the lists that break the promise.

    Args:
        details: The details of the verdict so far.
        claim: The judged claim.
        effects: How far the lists of each user moved; other effects add nothing.
        pairs: The answers of both sides.
        context: The facts of the run.
    """
    if (
        effects.mean is not None
        or effects.agreement is None
        or claim.promise == "within"
    ):
        return details
    marked = _breaking_users(claim, effects, context)
    if marked is None:
        return details
    shared = what_is_shared(
        marked,
        effects,
        pairs,
        context,
        unchanged=claim.wants_change,
        ordered=not claim.oracle.endswith(_SETS),
    )
    return {**details, **shared}


def _breaking_users(claim: Claim, effects: Effects, context: Context) -> Mask | None:
    """The users whose lists break the promise; None if noise hides who they are."""
    if context.deterministic:
        is_small: Mask = effects.effect <= TIE
        return is_small if claim.promise == "at least" else ~is_small
    if claim.wants_change:
        return None
    return clearly_changed(effects.effect)


def clearly_changed(effect: Floats) -> Mask | None:
    """The users whose lists changed, from noisy effects ``(n,)``; None unless two
    groups are far apart.

    The groups are those with the most variance between them (Otsu 1979, IEEE Trans. SMC
    9).
    """
    ascending = np.sort(effect)
    count = len(ascending)
    if count < FEWEST_USERS or ascending[-1] - ascending[0] <= TIE:
        return None
    low_counts = np.arange(1, count)
    high_counts = count - low_counts
    low_sums = np.cumsum(ascending)[:-1]
    low_means = low_sums / low_counts
    high_means = (ascending.sum() - low_sums) / high_counts
    weights = low_counts * high_counts / count**2
    between = weights * (high_means - low_means) ** 2
    best = int(between.argmax())
    if between[best] < APART * ascending.var() or ascending[best + 1] <= 0:
        return None
    middle = (ascending[best] + ascending[best + 1]) / 2
    changed: Mask = effect > middle
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
    """The traits that stand out, as details of a verdict; empty without any.

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
    source = [pairs.source[row] for row in effects.rows]
    followup = [pairs.followup[row] for row in effects.rows]
    traits = [] if marked.all() else distinct(user_traits(source, context))
    looks: list[Look] = []
    if context.deterministic and not unchanged:
        looks = looks_at_items(source, followup, marked, context, ordered=ordered)
    kinds = ("changed", "unchanged")
    if unchanged:
        kinds = ("unchanged", "changed")
    look_count = len(traits) + len(looks)

    tables = [Table.of(trait.mask, marked) for trait in traits]
    user_p_values = [_halved_rate(p_value) for p_value in corrected(tables)]
    best_trait = _best_table(tables, user_p_values)

    item_p_values = _p_values_of(looks)
    misfits = [look.elsewhere - _share(look) for look in looks]
    best_look = _best_fit(item_p_values, misfits)

    found = []
    if best_trait is not None:
        words = traits[best_trait].words
        sentence = tables[best_trait].sentence(words, *kinds)
        found.append(Found(words, user_p_values[best_trait], sentence))
    if best_look is not None:
        look = looks[best_look]
        found.append(Found(look.words, item_p_values[best_look], _sentence(look)))
    elif best_trait is not None:
        found += _second_of_users(traits[best_trait], traits, marked, look_count, kinds)
    form = ""
    if context.deterministic and not unchanged:
        form = _form(source, followup, marked, context, ordered=ordered)
    return _as_details(found, look_count, form)


def _p_values_of(looks: Sequence[Look]) -> list[float]:
    """The p-values of traits of items after Holm's correction, at half of the error
    rate; 1 of a trait that too few of the changed items share.
    """
    raw = [look.p_value if _is_large(look) else 1.0 for look in looks]
    return [_halved_rate(p_value) for p_value in holm(raw)]


def _form(
    source: Sequence[Asked],
    followup: Sequence[Asked],
    marked: Mask,
    context: Context,
    *,
    ordered: bool,
) -> str:
    """How the changed lists differ as a whole, in a sentence; empty if nothing is said."""
    changed = np.flatnonzero(marked).tolist()
    before = [source[at] for at in changed]
    after = [followup[at] for at in changed]
    swapped = swapped_neighbours(before, after) if ordered else ""
    return swapped or few_changed_items(before, after, context, ordered=ordered)


def _halved_rate(p_value: float) -> float:
    """The p-value, since users and items have one half of the error rate each."""
    return min(1.0, 2 * p_value)


def corrected(tables: Sequence[Table]) -> list[float]:
    """P-values after Holm's correction, only over those traits that could become
    significant with so many users.

    Which ones could depends on nothing but how many users are marked and have the trait
    (Tarone 1990, Biometrics 46).
    """
    level = ALPHA / 2
    least_p_values = [table.least_p_value for table in tables]
    limit = level / _testable(sorted(least_p_values), level)
    testable = [at for at, least in enumerate(least_p_values) if least <= limit]
    adjusted = holm([tables[at].p_value for at in testable])
    p_values = [1.0] * len(tables)
    for at, p_value in zip(testable, adjusted, strict=True):
        p_values[at] = p_value
    return p_values


def _testable(least: Sequence[float], level: float) -> int:
    """Tarone's number of tests: the first so many that no more can be significant at
    `level` over that number.

    Args:
        least: The least p-values of all tests, ascending.
        level: The error rate of all tests together.
    """
    for count in range(1, len(least)):
        if least[count] > level / count:
            return count
    return max(1, len(least))


def _best_fit(adjusted: Sequence[float], misfit: Sequence[float]) -> int | None:
    """The significant trait that fits best; of equal ones
    the first, which is the simplest.
    """
    significant = [at for at, p_value in enumerate(adjusted) if p_value <= ALPHA]
    return min(significant, key=lambda at: misfit[at], default=None)


def _best_table(tables: Sequence[Table], adjusted: Sequence[float]) -> int | None:
    """The significant trait that leaves the fewest users unexplained."""
    return _best_fit(adjusted, [table.exceptions for table in tables])


def _second_of_users(
    first: Trait,
    traits: Sequence[Trait],
    marked: Mask,
    looks: int,
    kinds: tuple[str, str],
) -> list[Found]:
    """A second trait, which distinguishes the users with the
    first, or those without it; at most one.
    """
    with_first = _best_among(
        first.mask,
        f"among users {first.words}",
        traits,
        marked,
        looks,
        kinds,
    )
    without_first = _best_among(
        ~first.mask,
        "among the others",
        traits,
        marked,
        looks,
        kinds,
    )
    found = [each for each in (with_first, without_first) if each is not None]
    return sorted(found, key=lambda each: each.p_value)[:1]


def _best_among(
    inside: Mask,
    among: str,
    traits: Sequence[Trait],
    marked: Mask,
    looks: int,
    kinds: tuple[str, str],
) -> Found | None:
    """The trait that distinguishes some of the users.

    Args:
        inside: Which users these are, ``(n,)``.
        among: The same in words.
        traits: The traits of all users.
        marked: The users whose lists break the promise, ``(n,)``.
        looks: How many traits of users and items are looked at.
        kinds: The words for the lists of the marked users, and for those of the others.
    """
    marked_inside = marked[inside]
    if marked_inside.all() or not marked_inside.any():
        return None
    tables = [Table.of(trait.mask[inside], marked_inside) for trait in traits]
    # Bonferroni's correction, over twice the traits that were looked at.
    adjusted = [min(1.0, 2 * looks * table.p_value) for table in tables]
    best = _best_table(tables, adjusted)
    if best is None:
        return None
    words = traits[best].words
    sentence = f"{among}, {tables[best].sentence(words, *kinds)}"
    return Found(words, adjusted[best], sentence)


def _share(look: Look) -> float:
    """The share of the changed items that have the trait."""
    return look.having / look.changed


def _is_large(look: Look) -> bool:
    """Whether so many of the changed items have the trait, and so few of the others,
    that it explains the change.
    """
    share = _share(look)
    # An item that changed places with a neighbour takes the neighbour with it, so half of
    # the changed items may be bystanders.
    if share >= HALF and look.elsewhere <= RARE:
        return True
    return share >= MOST and look.elsewhere <= HALF


def _sentence(look: Look) -> str:
    """How many of the changed items have the trait, and what share of the others."""
    quantity = f"{look.having} of the"
    if look.having == look.changed:
        quantity = "all"
    rest = "none"
    if look.elsewhere:
        rest = f"{look.elsewhere:.0%}"
    return (
        f"{quantity} {look.changed} items that {look.what} {look.words}; "
        f"{rest} of the others in these lists do"
    )


def _as_details(found: Sequence[Found], looks: int, form: str) -> dict[str, Any]:
    """The details of a verdict on one trait or two, and on the form of the change; empty
    if there is none.
    """
    form_sentence = _capitalised(form) if form else ""
    if not found:
        return {SHARED: {"text": form_sentence}} if form else {}
    sentences = " ".join(_capitalised(each.text) for each in found)
    p_value = max(each.p_value for each in found)
    text = f"{sentences} (p = {p_value:.2g}, corrected for {looks} traits looked at)"
    if form:
        text = f"{form_sentence} {text}"
    shared: dict[str, Any] = {
        "text": text,
        "trait": found[0].trait,
        "p_value": found[0].p_value,
    }
    if len(found) > 1:
        shared["also"] = {"trait": found[1].trait, "p_value": found[1].p_value}
    return {SHARED: shared}


def _capitalised(text: str) -> str:
    """A text as a sentence, with a capital and a full stop."""
    first = text[0].upper()
    return f"{first}{text[1:]}."
