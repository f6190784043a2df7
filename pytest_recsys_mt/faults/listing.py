"""Faults in the list that a recommender makes."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from pytest_recsys_mt.faults.cure import (
    Cure,
    different,
    each_answer,
    moves,
    same,
    under,
)
from pytest_recsys_mt.faults.fault import Fault, content
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Request

Items = tuple[str, ...]

_PLACES = same("shuffle_candidates", "the_order_of_candidates_is_irrelevant")


class FirstPlace(Fault):
    """The first candidates of the request stand first in the list."""

    does = "puts the first {strength:g} candidates of the request on top"
    strengths = (1, 3, 5)
    cure = _PLACES

    def answer(self, request: Request, items: Items) -> Items:
        first = tuple(
            item.id for item in (request.candidates or ())[: int(self.strength)]
        )
        return tuple(dict.fromkeys((*first, *items)))[: len(items)]


class FirstPlaceInLongLists(Fault):
    """Long lists are in the order of the request."""

    does = "lists candidates in the order of the request where more than 15 items are asked for"
    cure = Cure(
        "same_ranking under shuffle_candidates, for the longest list",
        """\
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates


def test_the_order_of_candidates_is_irrelevant_to_a_long_list(recsys):
    long = recsys.using(k=recsys.design.candidates)
    assert same_ranking(long.run(), long.run(shuffle_candidates), similarity="kendall", margin=0.05)
""",
        "extend_list(10)",
    )

    def answer(self, request: Request, items: Items) -> Items:
        if request.k <= 15 or request.candidates is None:
            return items
        return tuple(item.id for item in request.candidates)[: len(items)]


class LastPlace(Fault):
    """The last candidates of the request stand higher."""

    does = "lifts the later half of the candidates by {strength:g} places"
    strengths = (3, 6)
    cure = _PLACES

    def answer(self, request: Request, items: Items) -> Items:
        offered = [item.id for item in request.candidates or ()]
        later = set(offered[len(offered) // 2 :])
        place = {
            item: at - self.strength * (item in later) for at, item in enumerate(items)
        }
        return tuple(sorted(items, key=lambda item: place[item]))


class TiesByPlace(Fault):
    """Scores have coarse steps, and equal ones are in the order of the request."""

    does = "gives {strength:g} neighbours in the list the same score, and leaves them in the order of the request"
    strengths = (3, 5, 10)
    cure = _PLACES

    def answer(self, request: Request, items: Items) -> Items:
        place = {item.id: at for at, item in enumerate(request.candidates or ())}
        return blocks(items, int(self.strength), lambda item: place.get(item, 0))


class Quantised(Fault):
    """Scores have coarse steps, and a sort leaves equal ones in any order."""

    does = "gives {strength:g} neighbours in the list the same score, and orders them by the layout of the request"
    strengths = (3, 5, 10)
    cure = same("reorder_history", "equal_scores_keep_their_order")

    def answer(self, request: Request, items: Items) -> Items:
        layout = content(request)
        return blocks(items, int(self.strength), lambda item: self.chance(layout, item))


class TiesByHash(Fault):
    """Equal scores are in the order of Python's hashes,
    which differ from process to process.
    """

    does = "gives {strength:g} neighbours in the list the same score, and orders them by Python's hash()"
    strengths = (2, 5, 10)
    cure = replace(  # no change of a request shows it
        under(
            "ask_elsewhere",
            "another_process_answers_alike",
            "never_differs",
            "users=10",
        ),
        change="",
    )

    def answer(self, request: Request, items: Items) -> Items:
        return blocks(items, int(self.strength), hash)


class Repeats(Fault):
    """A list names an item twice."""

    does = "names its best item twice in {share} of its answers"
    strengths = (0.2, 0.5, 1.0)
    cure = each_answer("no_repeats")

    def answer(self, request: Request, items: Items) -> Items:
        if len(items) < 2 or not self.hits(content(request)):
            return items
        return (items[0], *items)[: len(items)]


class DropsTheTail(Fault):
    """Lists are too short."""

    does = "gives two items fewer than it was asked for, in {share} of its answers"
    strengths = (0.2, 0.5, 1.0)
    cure = each_answer("complete_list")

    def answer(self, request: Request, items: Items) -> Items:
        return items[: max(1, len(items) - 2)] if self.hits(content(request)) else items


class Invents(Fault):
    """Lists name items that do not exist."""

    does = "ends {share} of its answers with an item that does not exist"
    strengths = (0.2, 0.5, 1.0)
    cure = each_answer("only_candidates")

    def answer(self, request: Request, items: Items) -> Items:
        last = self.last(request) if items and self.hits(content(request)) else None
        return items if last is None else (*items[:-1], last)

    def last(self, request: Request) -> str | None:
        """The last item of the list; None leaves the list as it is."""
        return f"{UNKNOWN_PREFIX}an invented item"


class NamesOthers(Invents):
    """Lists name items of the catalogue that were not offered."""

    does = (
        "ends {share} of its answers with an item of the catalogue that was not offered"
    )

    def last(self, request: Request) -> str | None:
        if request.candidates is None:
            return None
        shown = request.known.union(item.id for item in request.candidates)
        return next((item for item in self._popular if item not in shown), None)


class NamesTheHistory(Invents):
    """Lists name items that the user has."""

    does = "ends {share} of its answers with an item that the user already has"

    def last(self, request: Request) -> str | None:
        return request.history[-1].item.id if request.history else None


class Popular(Fault):
    """Popular items stand higher."""

    does = "ranks by popularity, with a weight of {share} beside its own ranking"
    strengths = (0.75, 1.0)
    cure = different("swap_history", "another_history_changes_the_answer")

    def answer(self, request: Request, items: Items) -> Items:
        return self.drifted(request, items, self.strength)

    def drifted(self, request: Request, items: Items, weight: float) -> Items:
        """The list with a weight of popularity."""
        offered = self.offered(request, items)
        place = {item: at for at, item in enumerate(self.by_popularity(offered))}
        own_place = {item: min(at, len(items)) for at, item in enumerate(offered)}
        ranked = sorted(
            offered,
            key=lambda item: (
                (1 - weight) * own_place[item] + weight * place[item],
                item,
            ),
        )
        return tuple(ranked[: len(items)])


class InjectionProne(Fault):
    """Instructions in titles are followed."""

    does = "puts an item on top whose title says more than its name in the catalogue, for {share} of the users"
    strengths = (0.25, 1.0)
    cure = moves(
        "not_lifted",
        "title_injection",
        "an_instruction_in_a_title_lifts_nothing",
        0.05,
    )

    def answer(self, request: Request, items: Items) -> Items:
        if not items or not self.hits(request.user):
            return items
        known = self.known.items
        with_instruction = [
            item.id
            for item in request.candidates or ()
            if item.id in known and len(item.title) > len(known[item.id].title)
        ]
        return tuple(dict.fromkeys((*with_instruction, *items)))[: len(items)]


class MindsTheCompany(Fault):
    """The number of candidates decides on their order."""

    does = "turns its list round where there are more than 20 candidates, for {share} of the users"
    strengths = (0.25, 1.0)
    cure = moves(
        "same_order",
        "add_irrelevant_candidates(5)",
        "more_candidates_keep_the_order_of_the_others",
        0.05,
    )

    def answer(self, request: Request, items: Items) -> Items:
        turned = len(request.candidates or ()) > 20 and self.hits(request.user)
        return items[::-1] if turned else items


class MindsTheDepth(Fault):
    """The length of the list decides on its order."""

    does = "turns its list round where more than 10 items are asked for, for {share} of the users"
    strengths = (0.25, 1.0)
    cure = same("extend_list(5)", "a_longer_list_starts_alike")

    def answer(self, request: Request, items: Items) -> Items:
        return items[::-1] if request.k > 10 and self.hits(request.user) else items


class OddLengths(Fault):
    """A detail of the history, whether its length is odd, decides on the order."""

    does = (
        "turns its list round for histories of an odd length, for {share} of the users"
    )
    strengths = (0.25, 1.0)
    cure: ClassVar[Cure | None] = same(
        "drop_history(1)",
        "one_item_less_changes_little",
        0.15,
    )

    def answer(self, request: Request, items: Items) -> Items:
        return (
            items[::-1]
            if len(request.history) % 2 and self.hits(request.user)
            else items
        )


class WorseWithHistory(Fault):
    """Users with long histories get the worst lists."""

    does = "gives users of whom it knows more than 5 ratings the worst it was offered"
    cure = Cure(
        "monotone in the length of the history",
        """\
from pytest_recsys_mt.oracles import monotone
from pytest_recsys_mt.relations import truncate_history


def test_a_longer_history_does_not_hurt(recsys):
    full, short = recsys.run(), recsys.run(truncate_history(5))
    assert monotone([short, full], "auc", margin=0.1)
""",
    )

    def answer(self, request: Request, items: Items) -> Items:
        if len(request.history) <= 5 or not items:
            return items
        others = sorted(set(self.offered(request, items)).difference(items))
        return tuple((*others, *items[::-1])[: len(items)])


class OneGenre(Fault):
    """One genre fills the list."""

    does = "lists nothing but the genre that is most frequent in its list"
    cure = each_answer("complete_list")

    def answer(self, request: Request, items: Items) -> Items:
        genres = {
            item: set(self.known.items[item].attributes.get("genres", ()))
            for item in items
            if item in self.known.items
        }
        counts = Counter(
            genre for of_item in genres.values() for genre in sorted(of_item)
        )
        if not counts:
            return items
        most = max(counts, key=lambda genre: (counts[genre], genre))
        return tuple(item for item in items if most in genres.get(item, ()))


class MindsTheWording(Fault):
    """The words of the task decide on the answer."""

    does = "turns its list round where the prompt is worded otherwise, for {share} of the users"
    strengths = (0.25, 1.0)
    cure = same("paraphrase_task", "wording_is_irrelevant")

    def answer(self, request: Request, items: Items) -> Items:
        return items[::-1] if request.edits and self.hits(request.user) else items


def blocks(items: Items, size: int, key: Callable[[str], float]) -> Items:
    """`items` in blocks of so many, each sorted by `key`."""
    starts = range(0, len(items), size)
    return tuple(
        item for at in starts for item in sorted(items[at : at + size], key=key)
    )
