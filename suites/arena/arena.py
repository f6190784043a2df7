"""Two recommenders and one judge."""

import dataclasses
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace

from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Item
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.suites.arena.judge_runner import JudgeRunner
from pytest_recsys_mt.suites.arena.judging import ASPECTS, OVERALL, Aspect, Comparison
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs

LONGEST = 100
"""Most characters of a title outside every catalogue; a
recommender may write anything there.
"""


@dataclass(frozen=True)
class Arena:
    """The lists of two recommenders for the same users, and their judge.

    The recommenders answer the requests of every test, and learn nothing of the judge.
    If a recommender is asked several times, its first answer is judged.

    Attributes:
        ours: Answers of the recommender under test.
        theirs: Answers of the other recommender, to the same requests.
        judge_runner: Sends the comparisons.
        aspects: Judged besides the overall quality.
        seed: The seed of the run.
        names: Names of the two recommenders, for reports; no judge sees them.
        design: How the requests were made. With the names, it distinguishes these lists
            from all others that the same judge has judged.
    """

    ours: Answers
    theirs: Answers
    judge_runner: JudgeRunner
    aspects: tuple[Aspect, ...] = ASPECTS
    seed: int = 0
    names: tuple[str, str] = ("A", "B")
    design: Hashable = None

    def __post_init__(self) -> None:
        *named, _ = self.judged
        if len(set(named)) < len(named) or OVERALL in named:
            raise OracleError(
                f"aspects have different names, none of which is {OVERALL!r}, got {named!r}",
            )

    @property
    def judged(self) -> tuple[str, ...]:
        """The names that can be judged: those of the aspects, and ``overall``."""
        return (*(aspect.name for aspect in self.aspects), OVERALL)

    @property
    def users(self) -> int:
        """How many users both can serve."""
        return min(self.ours.applicable(), self.theirs.applicable())

    @property
    def context(self) -> Context:
        """The rules of this run, as for a stochastic recommender: a clear verdict stops
        early and saves the judge's further calls.
        """
        return dataclasses.replace(self.ours.context, deterministic=False)

    def pairs(self, users: int) -> Pairs:
        """The answers of both for the first `users` users."""
        ours, theirs = self.ours.sample(users), self.theirs.sample(users)
        other = {asked.user: asked for asked in theirs.asked}
        both = [
            (asked, other[asked.user]) for asked in ours.asked if asked.user in other
        ]
        theirs_all = {asked.user: asked for asked in (*theirs.asked, *theirs.unread)}
        unread = [
            (asked, theirs_all[asked.user])
            for asked in (*ours.asked, *ours.unread)
            if asked.user in theirs_all
            and (asked.unread or theirs_all[asked.user].unread)
        ]
        shared = set(ours.order) & set(theirs.order)
        lost = {each.user: each for each in (*theirs.lost, *ours.lost)}
        return Pairs(
            tuple(one for one, _ in both),
            tuple(two for _, two in both),
            Counter(ours.not_applicable) | Counter(theirs.not_applicable),
            tuple(
                replace(each, source=None)
                for each in lost.values()
                if each.user in shared
            ),
            Counter(ours.unasked) | Counter(theirs.unasked),
            unread=tuple(unread),
            order=tuple(user for user in ours.order if user in shared),
        )

    def items(self, asked: Asked) -> tuple[Item, ...]:
        """The list for a judge: the first answer, each item once."""
        answer = asked.answers[0]
        written = {
            entry.item: entry.text for entry in reversed(answer.entries) if entry.item
        }
        known = self.ours.context.items
        return tuple(
            known[item]
            if item in known
            else Item(
                item,
                written.get(item, item.removeprefix(UNKNOWN_PREFIX))[:LONGEST],
            )
            for item in dict.fromkeys(answer.items)
        )

    def comparison(
        self,
        asked: Asked,
        a: tuple[Item, ...],
        b: tuple[Item, ...],
    ) -> Comparison:
        """Two lists for the user of a request, which is shown without the candidates."""
        shown = asked.request.replace(candidates=None, instruction="", edits=())
        return Comparison(shown, a, b, self.aspects)

    def orders(
        self,
        asked: Asked,
        a: tuple[Item, ...],
        b: tuple[Item, ...],
    ) -> list[Comparison]:
        """The comparison of two lists in both orders."""
        shown = self.comparison(asked, a, b)
        return [shown, shown.turned]

    def require(self, oracle: str, aspect: str) -> None:
        """Check the name of an aspect.

        Raises:
            OracleError: If there is no such aspect; the text lists the names.
        """
        if aspect not in self.judged:
            raise OracleError(
                f"{oracle}: there is no aspect {aspect!r}; {choices(aspect, self.judged)}",
            )

    def __repr__(self) -> str:
        return f"<arena: {self.names[0]} against {self.names[1]} judged by {self.judge_runner.name}>"
