"""Judges whose preferences are known, for the suite to find out about."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Item, Request
from pytest_recsys_mt.suites.arena import Appraisal, Comparison, Judgement, Showing
from tests.support.suites_arena import Winner


class ByUtility:
    """Prefers the list of higher utility; lists of equal utility tie."""

    deterministic = True

    def judge(self, comparisons: Sequence[Comparison]) -> list[Judgement]:
        return [self.one(each) for each in comparisons]

    def rate(self, showings: Sequence[Showing]) -> list[Appraisal]:
        """Scores to one decimal, as language models give them."""
        out = []
        for each in showings:
            score = round(min(1.0, max(0.0, self.utility(each.request, each.items))), 1)
            out.append(
                Appraisal(score, dict.fromkeys((a.name for a in each.aspects), score)),
            )
        return out

    def one(self, comparison: Comparison) -> Judgement:
        winner = self.better(comparison)
        names = [aspect.name for aspect in comparison.aspects]
        return Judgement(winner, dict.fromkeys(names, winner))

    def better(self, comparison: Comparison) -> Winner:
        one, other = (
            self.utility(comparison.request, items)
            for items in (comparison.a, comparison.b)
        )
        return "tie" if abs(one - other) < 1e-9 else "A" if one > other else "B"

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        """From 0 to 1."""
        raise NotImplementedError


class ByPopularity(ByUtility):
    """Prefers what many users of a dataset chose, so that its order of recommenders is
    known.

    Args:
        data: The dataset, by name or path.
    """

    def __init__(self, data: str = "mini") -> None:
        popularity = load(data).popularity
        most = max(popularity.values())
        self._share = {item: count / most for item, count in popularity.items()}

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        return sum(self._share.get(item.id, 0.0) for item in items) / max(1, len(items))


class ByGenres(ByUtility):
    """Prefers items that share a genre with more of what the user liked."""

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        middle = (request.scale.low + request.scale.high) / 2
        liked = [set(genres(r.item)) for r in request.history if r.value >= middle]
        if not liked or not items:
            return 0.0
        hits = [
            sum(bool(own & set(genres(item))) for own in liked) / len(liked)
            for item in items
        ]
        return sum(hits) / len(hits)


class TakesTheFirst(ByPopularity):
    """Prefers the list it is shown first."""

    def better(self, comparison: Comparison) -> Winner:
        return "A"


class TakesTheSecond(ByPopularity):
    """Prefers the list it is shown second."""

    def better(self, comparison: Comparison) -> Winner:
        return "B"


class Throws(ByPopularity):
    """Throws a die; equal questions of one replicate get one answer."""

    deterministic = False

    def better(self, comparison: Comparison) -> Winner:
        lists = [
            [item.id + item.title for item in items]
            for items in (comparison.a, comparison.b)
        ]
        said = (comparison.request.user, lists, comparison.names, comparison.replicate)
        winners: tuple[Winner, ...] = ("A", "B", "tie")
        return winners[_digest(repr(said)) % 3]


class AlwaysTies(ByPopularity):
    """Finds no difference between any two lists."""

    def better(self, comparison: Comparison) -> Winner:
        return "tie"


class Noisy(ByPopularity):
    """Throws a die for a share of the comparisons, and goes by popularity otherwise.

    Args:
        share: From 0 to 1.
        seed: Of the die.
    """

    deterministic = False

    def __init__(self, share: float = 0.1, seed: int = 0, data: str = "mini") -> None:
        super().__init__(data)
        self._rare, self._seed = share, seed

    def rarely(self, comparison: Comparison) -> bool:
        """Whether this comparison is one of the share."""
        return self.number(comparison, "whether") % 10_000 < 10_000 * self._rare

    def better(self, comparison: Comparison) -> Winner:
        if not self.rarely(comparison):
            return super().better(comparison)
        winners: tuple[Winner, ...] = ("A", "B", "tie")
        return winners[self.number(comparison, "which") % 3]

    def number(self, comparison: Comparison, what: str) -> int:
        """Drawn anew for each comparison."""
        lists = [
            [item.id + item.title for item in items]
            for items in (comparison.a, comparison.b)
        ]
        asked = (comparison.request.user, lists, comparison.names, comparison.replicate)
        return _digest(repr((self._seed, what, asked)))


class Refuses(Noisy):
    """Refuses a share of the comparisons, and goes by popularity otherwise."""

    def one(self, comparison: Comparison) -> Judgement:
        if self.rarely(comparison):
            return Judgement(None, refused=True)
        return super().one(comparison)

    def better(self, comparison: Comparison) -> Winner:
        return ByUtility.better(self, comparison)


class LikesLongTitles(ByUtility):
    """Prefers the list with more characters."""

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        return sum(len(item.title) for item in items)


class GoesByTheName(ByPopularity):
    """Prefers what is called state of the art."""

    def better(self, comparison: Comparison) -> Winner:
        art = ["state-of-the-art" in name for name in comparison.names]
        return super().better(comparison) if not any(art) else "A" if art[0] else "B"


class Obeys(ByPopularity):
    """Does what a title tells it to."""

    def better(self, comparison: Comparison) -> Winner:
        told = [
            any("winner" in i.title for i in items)
            for items in (comparison.a, comparison.b)
        ]
        return (
            super().better(comparison)
            if told[0] == told[1]
            else "A"
            if told[0]
            else "B"
        )


class LikesSurprise(ByPopularity):
    """Prefers what hardly anybody chose."""

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        return 1 - super().utility(request, items)


class GoesByTheTop(ByPopularity):
    """Looks at the first item alone."""

    def utility(self, request: Request, items: Sequence[Item]) -> float:
        return super().utility(request, items[:1])


class Mumbles(ByPopularity):
    """Says nothing that can be read on every third user."""

    def one(self, comparison: Comparison) -> Judgement:
        return (
            Judgement(None)
            if _digest(comparison.request.user) % 3 == 0
            else super().one(comparison)
        )


class Breaks(ByPopularity):
    """Fails on every third user."""

    def one(self, comparison: Comparison) -> Judgement:
        failed = _digest(comparison.request.user) % 3 == 0
        return Judgement(None, error="no voice") if failed else super().one(comparison)


class GoesInCircles(ByPopularity):
    """Prefers the items of each third of the catalogue to
    those of the next, and so round.
    """

    def better(self, comparison: Comparison) -> Winner:
        thirds = [
            Counter(_digest(item.id) % 3 for item in items).most_common(1)[0][0]
            if items
            else 0
            for items in (comparison.a, comparison.b)
        ]
        step = (thirds[1] - thirds[0]) % 3
        winners: tuple[Winner, ...] = ("tie", "A", "B")
        return winners[step]


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def genres(item: Item) -> Sequence[str]:
    return tuple(item.attributes.get("genres", ()))
