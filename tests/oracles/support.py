from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import (
    Answers,
    Asked,
    Context,
    Lost,
    Pairs,
    Sample,
)
from tests.support.oracles_statistics import Times

Lists = Sequence[Sequence[Sequence[str]]]
"""Users x replicates x items."""


@dataclass
class FakeAnswers:
    """Answers that were given beforehand; users that failed
    count as seen from the first look.
    """

    asked: Sequence[Asked]
    context: Context = field(default_factory=Context)
    label: str = ""
    same_seed: bool = False
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> tuple[Lost, ...]:
        """The users of whom a call failed."""
        reasons = [
            reason for reason, count in self.errors.items() for _ in range(count)
        ]
        return tuple(
            Lost(f"lost{number}", "failed", reason)
            for number, reason in enumerate(reasons)
        )

    def applicable(self, followup: Answers | None = None, /) -> int:
        return len(self.asked)

    def sample(self, users: int | None = None) -> Sample:
        return Sample(tuple(self.asked)[:users], self.not_applicable, self.lost)

    def times(self) -> Times:
        return Times((0.1,) * len(self.asked))

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        theirs = followup.sample(users)
        return Pairs(
            tuple(self.asked)[:users],
            theirs.asked,
            theirs.not_applicable,
            theirs.lost,
        )

    def pair_anew(
        self,
        followup: Answers,
        /,
        users: int,
        *,
        without: Collection[str] = (),
        alone: bool = False,
    ) -> None:
        return None


class FakeNamed:
    """Asks no user: the lists of those whom a file names
    were given beforehand, as all others.
    """

    rewrites = False

    def __init__(self, *users: str, k: int = 5) -> None:
        self.users = users
        self.design = (k, 0)

    def side(
        self,
        answers: Answers,
        users: Sequence[str],
        k: int,
        candidates: int,
        /,
    ) -> tuple[Answers, Mapping[str, Request], Mapping[str, str]]:
        assert isinstance(answers, FakeAnswers)
        asked = [
            replace(each, request=each.request.replace(k=k))
            for each in answers.asked
            if each.user in users
        ]
        known = {user: Request(user, (), Scale(), None, k) for user in users}
        return replace(answers, asked=asked), known, {}

    def written(self, file: Path, /) -> str:
        return ""

    def write(self, file: Path, text: str, told: str, /) -> None:
        raise AssertionError("nothing is written here")


def items(*ids: str) -> tuple[Item, ...]:
    return tuple(Item(name, f"Film {name}", 2000) for name in ids)


def ask(
    lists: Lists,
    k: int = 5,
    candidates: Sequence[str] | None = None,
    relevant: Sequence[str] = (),
) -> list[Asked]:
    offered = None if candidates is None else items(*candidates)
    return [
        Asked(
            Request(f"u{place}", (), Scale(), offered, k),
            tuple(Recommendation(tuple(answer)) for answer in answers),
            frozenset(relevant),
        )
        for place, answers in enumerate(lists)
    ]


def sides(
    source: Lists,
    followup: Lists,
    context: Context | None = None,
    k: int = 5,
    **facts: object,
) -> tuple[FakeAnswers, FakeAnswers]:
    context = context or Context()
    return (
        FakeAnswers(ask(source, k), context),
        FakeAnswers(ask(followup, k), context, "changed(1)", **facts),  # type: ignore[arg-type]
    )


DETERMINISTIC = Context(deterministic=True)


def plackett_luce(
    utilities: np.ndarray,
    replicates: int,
    temperature: float,
    rng: np.random.Generator,
    k: int,
) -> Lists:
    """Rankings ``(users, replicates, k)`` drawn by adding Gumbel noise to utilities."""
    users, catalogue = utilities.shape
    noise = rng.gumbel(size=(users, replicates, catalogue)) * temperature
    order = np.argsort(-(utilities[:, None, :] + noise), axis=2)[:, :, :k]
    return [
        [[f"i{item}" for item in answer] for answer in answers] for answers in order
    ]
