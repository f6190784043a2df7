"""Which list of an answer is the requested one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_recsys_mt.llm.reading.blocks import BECAUSE, GRADED, Block
from pytest_recsys_mt.llm.reading.names import ASIDE, Role, is_plain
from pytest_recsys_mt.requests import UNKNOWN_PREFIX


@dataclass(frozen=True)
class Contents:
    """The contents of one block, as read."""

    block: Block
    items: tuple[str, ...]  # what its entries name, each once, in their order
    offered: int  # how many of them were offered
    restated: bool  # whether it is the offered items once more, in their order
    begins: bool  # whether it begins as the offered items do

    @property
    def role(self) -> Role:
        """The role that the name of the block gives."""
        return self.block.role


@dataclass(frozen=True)
class Choice:
    """Which blocks are the answer, by their places, and
    why; or which have equal claims.
    """

    chosen: tuple[int, ...]
    rule: str
    ambiguous: tuple[int, ...] = ()


_CLAIMS: dict[Role, int] = {
    "final": 4, "ranking": 3, "more": 2, "": 2, "scores": 1, "candidates": 1,
}  # fmt: skip

_EQUAL_CLAIMS = "several lists with equal claims"

_PARTS = "the parts of one list"


def choose(read: Sequence[Contents], k: int, *, truncated: bool) -> Choice:
    """The blocks that are the answer; the one rule for all answers.

    A block with a role in `ASIDE` is never the answer. A block named as final comes
    before one named as a ranking, that before one without such a name, that before
    scores. Of several the only one with `k` items is the answer; blocks that share
    nothing and have `k` items together are parts of one list.

    Args:
        read: The contents of each block, in the order of the answer.
        k: The number of requested items.
        truncated: Whether the model was cut off.

    Returns:
        The choice. Nothing is chosen where no block is a list, or several have equal
        claims.
    """
    lists = [at for at, contents in enumerate(read) if contents.items]
    possible = _possible_answers(read, lists, k, truncated=truncated)
    if not possible:
        return _without_an_answer(read, lists, truncated=truncated)
    for first, second in pairwise(lists):
        if _goes_on(read[first], read[second], k):
            return Choice((first, second), _PARTS)

    strongest = max(_claim(read[at]) for at in possible)
    best = [at for at in possible if _claim(read[at]) == strongest]
    complete = [at for at in possible if len(read[at].items) == k > 1]
    if complete and strongest >= _CLAIMS["ranking"] and set(complete).isdisjoint(best):
        # A list of k entries, and "You might also like: ..." or "Top pick: ..." with
        # it.
        all_items = set(read[complete[0]].items)
        extracts = all(set(read[at].items) < all_items for at in best)
        contradicted = strongest == _CLAIMS["final"] and not extracts
        if len(complete) > 1 or contradicted:
            return Choice((), _EQUAL_CLAIMS, (*complete, *best))
        best = complete
        strongest = _claim(read[complete[0]])

    best_contents = [read[at] for at in best]
    others = [at for at in lists if at not in best]
    rivals = [at for at in others if _is_rival(read[at], best_contents, k)]
    if rivals and strongest < _CLAIMS["final"]:
        return Choice((), _EQUAL_CLAIMS, (*best, *rivals))
    for places in (possible, best):
        if len(places) == 1:
            rule = _rule_for_one(read[places[0]], lists)
            return Choice((places[0],), rule)
        if _are_parts([read[at] for at in places], k):
            return Choice(tuple(places), _PARTS)
    return _of_several(read, best, k)


def _claim(contents: Contents) -> int:
    return _CLAIMS[contents.role]


# ---- which lists may be the answer ----


def _possible_answers(
    read: Sequence[Contents],
    lists: Sequence[int],
    k: int,
    *,
    truncated: bool,
) -> list[int]:
    """The lists without those that are aside,
    unfinished, or a repetition of the prompt.
    """
    possible = [at for at in lists if read[at].role not in ASIDE]
    if truncated:
        possible = [at for at in possible if _is_finished(read[at], k)]
    if any(read[at].offered for at in possible):
        possible = [at for at in possible if not _repeats_history(read[at])]
    if len(possible) > 1 or truncated:
        return _without_repeated_offers(read, possible)
    # Without a name, a single one may be the ranking of a model that keeps the offered
    # order.
    return [at for at in possible if not _is_named_as_offer(read[at])]


def _is_finished(contents: Contents, k: int) -> bool:
    """Whether a list of a cut-off answer may be its ranking.

    "Let me consider each film in turn. 1. ..." is no ranking yet, and scores come
    before one.
    """
    if contents.begins and len(contents.items) != k:
        return False
    return all(piece.score is None for piece in contents.block.pieces)


def _repeats_history(contents: Contents) -> bool:
    """Whether a list names known items alone, none of which is offered."""
    if contents.offered or contents.role in ("final", "ranking"):
        return False
    return not any(item.startswith(UNKNOWN_PREFIX) for item in contents.items)


def _is_named_as_offer(contents: Contents) -> bool:
    return contents.begins and contents.role == "candidates"


def _without_repeated_offers(
    read: Sequence[Contents],
    possible: Sequence[int],
) -> list[int]:
    """The lists without those that are the offered items
    once more, if there is a better one.
    """
    rankings = [at for at in possible if read[at].offered and not read[at].restated]
    kept = []
    for at in possible:
        contents = read[at]
        alone = len(possible) == 1 and contents.role != "candidates"
        only_restated = contents.restated and not rankings
        if alone or only_restated or not _repeats_offer(contents):
            kept.append(at)
    return kept


def _repeats_offer(contents: Contents) -> bool:
    restated = contents.restated and contents.role in ("", "candidates", "scores")
    return restated or _is_named_as_offer(contents)


def _without_an_answer(
    read: Sequence[Contents],
    lists: Sequence[int],
    *,
    truncated: bool,
) -> Choice:
    """The choice where no list may be the answer: the only
    one, if it names its items as reasons.
    """
    if len(lists) == 1 and not truncated:
        only = read[lists[0]]
        # "Because of your history:"
        reasons = only.role == "reasons" or BECAUSE.match(only.block.name)
        mostly_offered = 2 * only.offered >= len(only.items)
        if reasons and mostly_offered and not only.begins:
            return Choice((lists[0],), "the only list")
    return Choice((), "no part of it is a final list" if lists else "")


# ---- how lists stand to each other ----


def _goes_on(first: Contents, second: Contents, k: int) -> bool:
    """Whether a list that begins with place 2 stands behind
    a single item: ``Top pick: Heat``.
    """
    if len(first.items) != 1 or first.items[0] in second.items:
        return False
    numbers = [
        piece.number for piece in second.block.pieces if piece.place == "numbered"
    ]
    begins_with_2 = bool(numbers) and numbers[0] == 2
    return begins_with_2 and len(second.items) == k - 1


def _is_rival(contents: Contents, best: Sequence[Contents], k: int) -> bool:
    """Whether a list that is none of the best is complete, and names other items first."""
    if contents.begins or contents.role in ("avoid", "draft", "history", "candidates"):
        return False
    if k < 2 or len(contents.items) < k:
        return False
    if _names_little_offered(contents) or _is_plain_ranking(best, contents):
        return False
    first_items = contents.items[:k]
    return all(other.items[:k] != first_items for other in best)


def _names_little_offered(contents: Contents) -> bool:
    return 2 * contents.offered < len(contents.items)


def _is_plain_ranking(best: Sequence[Contents], other: Contents) -> bool:
    """Whether the best lists are rankings by plain names, and `other` is none."""
    block = best[0].block
    if block.role != "ranking":
        return False
    if not all(is_plain(contents.block.name) for contents in best):
        return False
    # The key of a list is no heading: it does not describe another list in words.
    return block.kind == other.block.kind or block.kind != "data"


def _are_parts(lists: Sequence[Contents], k: int) -> bool:
    """Whether several lists are the parts of one, in their order."""
    roles = [contents.role for contents in lists]
    later_labels = [contents.block.name for contents in lists[1:] if not contents.role]
    if any(_is_only_words(label) for label in later_labels):
        return False  # "Too violent:"
    if len(roles) > 1 and all(role == "more" for role in roles[1:]):
        return True
    if roles[0] == "more":
        return False  # "Also worth a look:" before "Top picks:"
    if "scores" in roles or "candidates" in roles:
        return False
    items = [item for contents in lists for item in contents.items]
    if len(set(items)) < len(items):
        return False
    if any(_names_little_offered(contents) for contents in lists):
        return False
    labels = [contents.block.name for contents in lists if not contents.role]
    distinct_labels = list(dict.fromkeys(filter(None, labels)))
    if len(distinct_labels) > 1 and not _are_counted(distinct_labels):
        return False  # "Crime:" and "Science fiction:", which nothing orders
    return len(items) <= k or all(len(contents.items) < k for contents in lists)


def _is_only_words(name: str) -> bool:
    has_letters = any(map(str.isalpha, name))
    return has_letters and not any(map(str.isdigit, name))


def _are_counted(labels: Sequence[str]) -> bool:
    """Whether names begin alike, with a number that goes up
    by one: ``Tier 2``, ``Tier 3 (good)``.
    """
    stems = set()
    numbers = []
    for label in labels:
        match = re.match(r"(\D*)(\d+)", label)
        if match is None:
            return False
        stems.add(match[1].casefold())
        numbers.append(int(match[2]))
    first = numbers[0]
    return len(stems) == 1 and numbers == list(range(first, first + len(numbers)))


# ---- one of several ----


def _rule_for_one(contents: Contents, lists: Sequence[int]) -> str:
    if len(lists) == 1:
        return "the only list"
    if contents.role:
        return f"named {contents.block.name!r}"
    return "the only list that is no draft, reason or repetition"


def _of_several(read: Sequence[Contents], best: Sequence[int], k: int) -> Choice:
    """The choice among lists that have the same claim and are not parts of one list."""
    # Of lists of one length the first.
    longest = max(best, key=lambda at: (min(len(read[at].items), k), -at))
    beginnings = [read[at].items[:k] for at in best]
    all_items = read[longest].items
    if all(items == all_items[: len(items)] for items in beginnings):
        return Choice((longest,), "all lists say the same")
    last = read[best[-1]]
    if last.role == "final":
        return Choice((best[-1],), f"the last one named {last.block.name!r}")
    grades = [at for at in best if GRADED.search(read[at].block.name)]
    complete = [at for at in best if len(read[at].items) == k]
    if k > 1 and len(complete) == 1 and len(grades) < 2:
        return Choice((complete[0],), f"the only list with {k} entries")
    return Choice((), _EQUAL_CLAIMS, tuple(best))
