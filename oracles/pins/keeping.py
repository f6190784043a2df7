"""In how many of its answers each list has the pinned items, and the status by that."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, comb, log2

from pytest_recsys_mt.oracles.pins.current_lists import named
from pytest_recsys_mt.oracles.pins.entries import Pin, offer
from pytest_recsys_mt.requests import Recommendation, Request
from pytest_recsys_mt.verdict.answers import Asked, Context
from pytest_recsys_mt.verdict.verdict import Status

NAMED = 3
"""Users whose lists a verdict names; the others are counted."""


def few(texts: Sequence[str]) -> str:
    """The first texts, and how many more there are."""
    rest = len(texts) - NAMED
    return ", ".join(texts[:NAMED]) + (f" and {rest} more" if rest > 0 else "")


@dataclass(frozen=True)
class Kept:
    """In how many of its answers a list had the pinned items,
    and the mistake of the first other one.
    """

    user: str
    kept: int
    of: int
    strict: bool
    why: str

    @property
    def words(self) -> str:
        """Such as ``user 'u7' lacks Heat (1995) ('i9')``."""
        times = "" if self.of == 1 else f" (kept in {self.kept} of {self.of} answers)"
        return f"user {self.user!r} {self.why}{times}"


def kept_in(asked: Asked, pin: Pin, context: Context) -> Kept:
    """In how many of its answers a user's list has the pinned items."""
    whys = [_broken_by(pin, asked.request, answer, context) for answer in asked.answers]
    breaking = [why for why in whys if why]
    kept = len(whys) - len(breaking)
    strict = pin.strict or context.deterministic
    return Kept(asked.user, kept, len(whys), strict, next(iter(breaking), ""))


def _broken_by(
    pin: Pin,
    request: Request,
    answer: Recommendation,
    context: Context,
) -> str:
    """The missing or excess items of a list; empty if it has the pinned ones."""
    name = partial(named, items=context.items)
    found = answer.items
    parts = []
    if lacking := [item for item in pin.wanted if item not in found]:
        parts.append(f"lacks {name(lacking)}")
    if excluded := [item for item in found if item in pin.excludes]:
        parts.append(f"has {name(excluded)}, which is excluded")
    if pin.equals and (more := [item for item in found if item not in pin.equals]):
        parts.append(f"has {name(more)}, which is not pinned")
    wanted = pin.equals or pin.begins
    pairs = list(zip(found, wanted, strict=False))
    places = [place for place, (one, other) in enumerate(pairs, 1) if one != other]
    if places and not parts:
        one, other = pairs[places[0] - 1]
        parts.append(f"has {name([one])} at place {places[0]}, not {name([other])}")
    elif pin.equals and not parts and found != pin.equals:
        parts.append("names an item twice")
    return ", ".join(parts)


def too_few(asked: Asked, context: Context) -> str:
    """How many items the shortest list of a user has, if it has too few; empty if not."""
    length = min(asked.request.k, len(offer(asked.request, context.items)))
    shortest = min(len(answer.items) for answer in asked.answers)
    return f"{asked.user!r} got {shortest} of {length}" if shortest < length else ""


def _majority(count: int, of: int) -> float:
    """The chance of so many answers or more if they are no majority."""
    ways = sum(comb(of, more) for more in range(count, of + 1))
    return float(ways / 2**of)


def status_of(results: Sequence[Kept], context: Context) -> tuple[Status, str, float]:
    """The status of the lists that are known, in words, and its p-value."""
    noisy = [each for each in results if not each.strict]
    if context.made_up and noisy:
        context.unsure()  # so that these calls are planned too
    level = context.alpha / max(1, len(noisy))
    p_by_user = {each.user: _majority(each.of - each.kept, each.of) for each in noisy}
    surely = [each for each in results if each.why and each.strict]
    mostly = [each for each in noisy if p_by_user[each.user] <= level]
    doubt = context.unsure() if mostly and not surely else ""
    broken = surely + ([] if doubt else mostly)
    among = f"of {len(results)} pinned lists"
    if broken:
        words = _few_in_words(broken)
        p_value = 0.0 if surely else min(1.0, len(noisy) * min(p_by_user.values()))
        verb = "is" if len(broken) == 1 else "are"
        return "violated", f"{len(broken)} {among} {verb} broken: {words}", p_value
    unclear = [
        each
        for each in noisy
        if each.why and _majority(each.kept, each.of) > context.alpha
    ]
    if unclear:
        needed = ceil(log2(len(noisy) / context.alpha))
        step = doubt or (
            f"more answers show whether most keep it (--recsys-replicates={max(needed, 2 * unclear[0].of)}), and "
            f"strict = true makes one a violation"
        )
        return (
            "inconclusive",
            f"{len(unclear)} {among} not kept in all answers: {_few_in_words(unclear)}; {step}",
            1.0,
        )
    often = max((each.of for each in results), default=1)
    times = (
        ""
        if often == 1
        else f" in {'most' if any(r.why for r in results) else 'all'} of its {often} answers"
    )
    return "holds", f"each {among} was kept{times}", 1.0


def _few_in_words(results: Sequence[Kept]) -> str:
    rest = len(results) - NAMED
    words = "; ".join(each.words for each in results[:NAMED])
    return words + (f"; and {rest} more" if rest > 0 else "")
