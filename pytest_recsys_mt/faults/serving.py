"""Faults in how a recommender serves users, and in
the state it keeps between requests.
"""

from collections.abc import Sequence

from pytest_recsys_mt.faults.cure import (
    Cure,
    different,
    each_answer,
    same,
    steady,
    under,
)
from pytest_recsys_mt.faults.fault import Ask, Fault, Known, content, having
from pytest_recsys_mt.faults.listing import Items, Popular
from pytest_recsys_mt.requests import Recommendation, Request

_REPEATED = steady(
    "same_seed_same_answer",
    "the_same_seed_gives_the_same_answer",
    "",
    "same_answer",
    "margin=0.05",
)
_ALONE = steady(
    "ask_alone",
    "who_else_asks_is_irrelevant",
    ", users=10",
    "same_ranking",
    'similarity="rbo", margin=0.15',
)


class _AtRandom(Fault):
    cure = under(
        "drop_history(1)",
        "few_users_are_hit_by_one_item",
        "low_churn",
        '"rbo", beyond=0.3, margin=0.05',
    )

    def hit(self, request: Request) -> bool:
        return self.hits(request.user)

    def answer(self, request: Request, items: Items) -> Items:
        if not items or not self.hit(request):
            return items
        offered = self.offered(request, items)
        order = self.rng(content(request)).permutation(len(offered))
        return tuple(offered[place] for place in order[: len(items)])


class OneUserInTen(_AtRandom):
    """A small share of the users gets any list, which hardly changes the mean."""

    does = "gives {share} of the users any list, another one for every detail of the request"
    strengths = (0.1, 0.2)


class GroupAtRandom(_AtRandom):
    """One group is served worse than the others."""

    does = "gives {share} of one half of the users (a group, if users have attributes) any list"
    strengths = (0.25, 0.5, 1.0)

    def hit(self, request: Request) -> bool:
        traits = sorted(request.attributes.items(), key=lambda each: str(each[0]))
        group = repr(traits[0]) if traits else request.user
        return self.chance("group", group) < 0.5 and self.hits(request.user)


class SwappedUsers(Fault):
    """Answers get to the wrong user."""

    does = "gives {share} of the users in a batch the answer of the next user in it"
    strengths = (0.25, 0.5, 1.0)
    cure = _ALONE

    def recommend(self, requests: Sequence[Request], ask: Ask) -> list[Recommendation]:
        answers = ask(requests)
        return [
            having(request, answer, answers[(at + 1) % len(answers)].items)
            if self.hits(request.user)
            else answer
            for at, (request, answer) in enumerate(zip(requests, answers, strict=True))
        ]


class BatchDependent(Fault):
    """The place in a batch decides on the list."""

    does = "turns the lists of {share} of the places in a batch round, never that of the first"
    strengths = (0.25, 0.5, 1.0)
    cure = _ALONE

    def recommend(self, requests: Sequence[Request], ask: Ask) -> list[Recommendation]:
        return [
            having(request, answer, answer.items[::-1])
            if at and self.hits(at)
            else answer
            for at, (request, answer) in enumerate(
                zip(requests, ask(requests), strict=True),
            )
        ]


class Memory(Fault):
    """Earlier requests are remembered."""

    does = "puts the first {strength:g} items of its last answer at the end of the next list, whoever asks"
    strengths = (1, 3)
    cure = Cure(
        "never_differs of what is asked after another request",
        """\
from pytest_recsys_mt.oracles import never_differs, same_ranking
from pytest_recsys_mt.relations import ask_after_another, ask_alone


def test_what_was_asked_before_is_irrelevant(recsys):
    source, followup = recsys.run(ask_alone), recsys.run(ask_after_another)
    if source.context.deterministic:
        assert never_differs(source, followup, users=10)
    else:
        assert same_ranking(source, followup, similarity="rbo", margin=0.15)
""",
    )

    _shown: Items = ()

    def answer(self, request: Request, items: Items) -> Items:
        fresh = [
            item for item in self.offered(request, items) if item not in self._shown
        ]
        late = [item for item in items if item in self._shown]
        self._shown = items[: int(self.strength)] or self._shown
        return tuple((*fresh, *late)[: len(items)])


class Haunted(Memory):
    """Items of the last user's list stand on top."""

    does = "puts {strength:g} items of its last answer on top of the next list, whoever asks"

    def answer(self, request: Request, items: Items) -> Items:
        offered = set(self.offered(request, items))
        shown = [item for item in self._shown if item in offered]
        self._shown = items[: int(self.strength)] or self._shown
        return tuple(dict.fromkeys((*shown, *items)))[: len(items)]


class Stale(Fault):
    """Earlier answers are kept by user and given again."""

    does = "answers a user it has answered before with that list, whatever the request"
    cure = different("swap_history", "another_history_changes_the_answer")

    def __init__(self, strength: float, known: Known) -> None:
        super().__init__(strength, known)
        self._kept: dict[str, Items] = {}

    def answer(self, request: Request, items: Items) -> Items:
        return self._kept.setdefault(request.user, items) if items else ()


class PopularityDrift(Popular):
    """Popularity weighs more with each request."""

    does = "ranks by popularity, with a weight that grows with each request and is whole after {strength:g}"
    strengths = (1000, 300)
    cure = _REPEATED

    _sent = 0

    def answer(self, request: Request, items: Items) -> Items:
        self._sent += 1
        return self.drifted(request, items, min(1.0, self._sent / self.strength))


class Unseeded(Fault):
    """All calls draw from one random stream."""

    does = "shuffles {share} of its answers, without a seed"
    strengths = (0.2, 0.5, 1.0)
    cure = _REPEATED
    deterministic = False

    _drawn = 0

    def answer(self, request: Request, items: Items) -> Items:
        self._drawn += 1
        if self.chance(self._drawn) >= self.strength:
            return items
        order = self.rng(self._drawn).permutation(len(items))
        return tuple(items[place] for place in order)


class SaysItIsDeterministic(Unseeded):
    """It declares itself deterministic and is not."""

    does = "declares itself deterministic, and turns {share} of its answers round"
    strengths = (0.05, 0.2, 0.5)
    deterministic = True

    def answer(self, request: Request, items: Items) -> Items:
        self._drawn += 1
        return items[::-1] if self.chance(self._drawn) < self.strength else items


class FallsSilent(Fault):
    """Some users get empty lists."""

    does = "gives {share} of the users an empty list"
    strengths = (0.2, 0.5)
    cure = each_answer("complete_list")

    def answer(self, request: Request, items: Items) -> Items:
        return () if self.hits(request.user) else items


class SpareParts(Fault):
    """Rare layouts of a request are answered with the most popular items."""

    does = "answers {share} of all requests with the most popular items, depending on their every detail"
    strengths = (0.2, 0.5)
    cure = same("reorder_history", "the_same_taste_gets_the_same_answer")

    def answer(self, request: Request, items: Items) -> Items:
        if not self.hits(content(request)):
            return items
        return tuple(self.by_popularity(self.offered(request, items))[: len(items)])
