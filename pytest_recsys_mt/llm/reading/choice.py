"""Which list of an answer is the list that was asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_recsys_mt.llm.reading.blocks import _BECAUSE, _GRADED, Block
from pytest_recsys_mt.llm.reading.names import ASIDE, Role, is_plain
from pytest_recsys_mt.requests import UNKNOWN_PREFIX


@dataclass(frozen=True)
class Contents:
    """What was read in one block."""

    block: Block
    items: tuple[str, ...]  # what its entries name, each once, in their order
    offered: int  # how many of them were offered
    restated: bool  # whether it is the offered items once more, in their order
    begins: bool  # whether it begins as the offered items do


@dataclass(frozen=True)
class Choice:
    """Which blocks are the answer, by their places, and why; or which have equal claims."""

    chosen: tuple[int, ...]
    rule: str
    ambiguous: tuple[int, ...] = ()


_CLAIMS: dict[Role, int] = {
    "final": 4, "ranking": 3, "more": 2, "": 2, "scores": 1, "candidates": 1,
}  # fmt: skip


def choose(read: Sequence[Contents], k: int, *, truncated: bool) -> Choice:
    """The blocks that are the answer; the one rule for all answers.

    What is `ASIDE` is never the answer. A block named as final comes before one named as a ranking,
    that before one without such a name, that before scores. Of several the only one with `k` items
    is the answer; blocks that share nothing and have `k` items together are parts of one list.
    """
    roles: list[Role] = [each.block.role for each in read]
    listed = [at for at, each in enumerate(read) if each.items]
    kept = [at for at in listed if roles[at] not in ASIDE]
    if truncated:  # "Let me consider each film in turn. 1. ..." is no ranking yet
        kept = [
            at
            for at in kept
            if (not read[at].begins or len(read[at].items) == k)
            and not any(piece.score is not None for piece in read[at].block.pieces)
        ]
    if any(read[at].offered for at in kept):  # the history once more is none
        kept = [
            at
            for at in kept
            if read[at].offered
            or any(each.startswith(UNKNOWN_PREFIX) for each in read[at].items)
            or roles[at] in ("final", "ranking")
        ]
    if len(kept) > 1 or truncated:
        kept = [
            at
            for at in kept
            if not (
                (read[at].restated and roles[at] in ("", "candidates", "scores"))
                or (read[at].begins and roles[at] == "candidates")
            )
            or (len(kept) == 1 and roles[at] != "candidates")
            or (read[at].restated and not _has_other(read, kept, at))
        ]
    elif len(kept) == 1 and read[kept[0]].begins and roles[kept[0]] == "candidates":
        kept = []  # Without a name, it may be the ranking of a model that keeps the offered order.
    if not kept and len(listed) == 1 and not truncated:
        only = read[listed[0]]
        reasons = roles[listed[0]] == "reasons" or _BECAUSE.match(only.block.name)
        if reasons and 2 * only.offered >= len(only.items) and not only.begins:
            return Choice((listed[0],), "the only list")  # "Because of your history:"
    if not kept:
        return Choice((), "no part of it is a final list" if listed else "")
    for first, second in pairwise(listed):
        if _goes_on(read[first], read[second], k):
            return Choice((first, second), "the parts of one list")
    most = max(_CLAIMS[roles[at]] for at in kept)
    best = [at for at in kept if _CLAIMS[roles[at]] == most]
    whole = [at for at in kept if len(read[at].items) == k > 1]
    if most >= _CLAIMS["ranking"] and whole and not {*whole} & {*best}:
        # A list of k entries, and "You might also like: ..." or "Top pick: ..." beside it.
        inside = all({*read[at].items} < {*read[whole[0]].items} for at in best)
        if len(whole) > 1 or (most == _CLAIMS["final"] and not inside):
            return Choice((), "several lists with equal claims", (*whole, *best))
        best, most = whole, _CLAIMS[roles[whole[0]]]
    rivals = [at for at in listed if _is_rival(read, best, at, k)]
    if rivals and most < _CLAIMS["final"]:
        return Choice((), "several lists with equal claims", (*best, *rivals))
    for places in (kept, best):
        if len(places) == 1:
            rule = "the only list that is no draft, reason or repetition"
            if len(listed) == 1:
                rule = "the only list"
            elif roles[places[0]]:
                rule = f"named {read[places[0]].block.name!r}"
            return Choice((places[0],), rule)
        if _are_parts(read, places, k):
            return Choice(tuple(places), "the parts of one list")
    longest = max(best, key=lambda at: (min(len(read[at].items), k), -at))
    counted = [read[at].items[:k] for at in best]
    if all(each == read[longest].items[: len(each)] for each in counted):
        return Choice((longest,), "all lists say the same")
    if most == _CLAIMS["final"]:
        return Choice((best[-1],), f"the last one named {read[best[-1]].block.name!r}")
    grades = [at for at in best if _GRADED.search(read[at].block.name)]
    full = [at for at in best if len(grades) < 2 and len(read[at].items) == k]
    if len(full) == 1 and k > 1:
        return Choice((full[0],), f"the only list with {k} entries")
    return Choice((), "several lists with equal claims", tuple(best))


def _goes_on(first: Contents, second: Contents, k: int) -> bool:
    """Whether a list that begins with place 2 stands behind a single item: ``Top pick: Heat``."""
    number = next(
        (piece.number for piece in second.block.pieces if piece.place == "numbered"), None
    )
    alone = len(first.items) == 1 and first.items[0] not in second.items
    return alone and number == len(first.items) + 1 and len(second.items) == k - 1


def _is_rival(read: Sequence[Contents], best: Sequence[int], at: int, k: int) -> bool:
    role, items = read[at].block.role, read[at].items
    if at in best or role in ("avoid", "draft", "history", "candidates") or read[at].begins:
        return False
    if len(items) < k or 2 * read[at].offered < len(items) or k < 2:
        return False
    plain = all(is_plain(read[each].block.name) for each in best)
    # The key of a list is no heading: it says nothing of a list in words beside it.
    plain = plain and (
        read[best[0]].block.kind == read[at].block.kind or read[best[0]].block.kind != "data"
    )
    if plain and read[best[0]].block.role == "ranking":
        return False
    return all(read[each].items[:k] != items[:k] for each in best)


def _has_other(read: Sequence[Contents], kept: Sequence[int], at: int) -> bool:
    return any(other != at and read[other].offered and not read[other].restated for other in kept)


def _are_parts(read: Sequence[Contents], places: Sequence[int], k: int) -> bool:
    roles = [read[at].block.role for at in places]
    later = [read[at].block.name for at in places[1:] if not read[at].block.role]
    if any(any(map(str.isalpha, name)) and not any(map(str.isdigit, name)) for name in later):
        return False  # "Too violent:"
    if all(role == "more" for role in roles[1:]) and len(roles) > 1:
        return True
    items = [item for at in places for item in read[at].items]
    if len(set(items)) < len(items) or "scores" in roles or "candidates" in roles:
        return False
    if any(2 * read[at].offered < len(read[at].items) for at in places):
        return False
    if roles[0] == "more":
        return False  # "Also worth a look:" before "Top picks:"
    labels = {read[at].block.name: None for at in places if not read[at].block.role}
    labels.pop("", None)
    if len(labels) > 1 and not _are_counted(list(labels)):
        return False  # "Crime:" and "Science fiction:", which nothing orders
    return len(items) <= k or all(len(read[at].items) < k for at in places)


def _are_counted(labels: Sequence[str]) -> bool:
    """Whether names begin alike and with a number that goes up by one: ``Tier 2``, ``Tier 3 (good)``."""
    begun = [re.match(r"(\D*)(\d+)", label) for label in labels]
    numbers = [int(each[2]) for each in begun if each]
    stems = {each[1].casefold() for each in begun if each}
    counted = numbers == [numbers[0] + at for at in range(len(labels))] if numbers else False
    return len(stems) == 1 and counted
