"""The questions to a judge and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

from pytest_recsys_mt.requests import Item, Request

Winner = Literal["A", "B", "tie"]
"""Which of two lists is better."""

OVERALL = "overall"
"""The name of the overall judgement, next to the names of aspects."""

GENRES = ("genres", "categories")
"""Attributes of items for the judge; the first existing one is shown."""

_OTHER: Mapping[Winner | None, Winner | None] = {
    "A": "B",
    "B": "A",
    "tie": "tie",
    None: None,
}


@dataclass(frozen=True, slots=True)
class Aspect:
    """One quality of a list.

    Attributes:
        name: One word or a few, unlike `OVERALL`.
        statement: A user's statement about a list that is good in this aspect.
    """

    name: str
    statement: str


ASPECTS: tuple[Aspect, ...] = (
    Aspect("accuracy", "The list fits what I am interested in."),
    Aspect("satisfaction", "I am content with what the service recommends."),
    Aspect(
        "inspiration",
        "The list gives me ideas, makes me curious, and makes me want to look further.",
    ),
    Aspect("content quality", "What is recommended is well made."),
    Aspect(
        "transparency",
        "I can see which fact about me, or which item of my history, a recommendation follows from.",
    ),
    Aspect("impact on users", "What the list does to me is good."),
)
"""The six aspects of "RecSys Arena" (https://arxiv.org/abs/2412.11068), section 2.2."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two lists for one user, in the order in which a judge sees them.

    Attributes:
        request: The request of the user, with the history, the rating scale and the
            known facts. It contains held-out items only among the candidates.
        a: The list shown first, best item first.
        b: The list shown second.
        aspects: Judged one by one, besides the overall quality.
        replicate: The same comparison with another number is judged again.
        names: Names of the systems behind the lists, only for the judge's own tests.
            Otherwise both are empty: a judge does not know whose list it sees.
    """

    request: Request
    a: tuple[Item, ...]
    b: tuple[Item, ...]
    aspects: tuple[Aspect, ...] = ASPECTS
    replicate: int = 0
    names: tuple[str, str] = ("", "")

    @property
    def turned(self) -> Comparison:
        """The same two lists in the other order."""
        return replace(self, a=self.b, b=self.a, names=self.names[::-1])


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer to a comparison.

    Attributes:
        overall: The better list; None if the answer does not say.
        verdicts: The better list by the name of the aspect; a missing one counts as
            None.
        reasons: In words, by the name of the aspect, if the judge gives any.
        text: The raw answer of a language model.
        error: Why there is no judgement: the call failed.
        refused: Whether the judge declined to say; then `overall` is None.
    """

    overall: Winner | None
    verdicts: Mapping[str, Winner | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    error: str | None = None
    refused: bool = False

    def winner(self, aspect: str = OVERALL) -> Winner | None:
        """The better list in one aspect, or overall."""
        return self.overall if aspect == OVERALL else self.verdicts.get(aspect)

    @property
    def turned(self) -> Judgement:
        """The same judgement as if the lists had been shown in the other order."""
        verdicts = {name: _OTHER[winner] for name, winner in self.verdicts.items()}
        return replace(self, overall=_OTHER[self.overall], verdicts=verdicts)


@dataclass(frozen=True, slots=True)
class Showing:
    """One list for one user, to be scored alone.

    Attributes:
        request: The request of the user.
        items: Best first.
        aspects: Scored one by one, besides the overall quality.
        replicate: The same list with another number is scored again.
    """

    request: Request
    items: tuple[Item, ...]
    aspects: tuple[Aspect, ...] = ASPECTS
    replicate: int = 0


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Scores of one list.

    Attributes:
        overall: From 0 to 1, where 1 is best; None if the answer does not say.
        scores: The scores by the name of the aspect.
        text: The raw answer of a language model.
        error: Why there is no score: the call failed.
    """

    overall: float | None
    scores: Mapping[str, float | None] = field(default_factory=dict)
    text: str | None = None
    error: str | None = None

    def score(self, aspect: str = OVERALL) -> float | None:
        """The score in one aspect, or overall."""
        return self.overall if aspect == OVERALL else self.scores.get(aspect)


@runtime_checkable
class Judge(Protocol):
    """Anything that compares lists, a batch at a time, in the order of the batch.

    Optional attributes: ``deterministic: bool`` (False; True avoids a second question
    for its noise floor), ``apart: bool`` (False; True if aspects do not affect each
    other's judgement, so that the judge's own tests leave them out), ``name: str``, and
    ``rate(showings) -> Sequence[Appraisal]`` for scores of single lists.
    """

    def judge(self, comparisons: Sequence[Comparison], /) -> Sequence[Judgement]:
        """The judgements, one per comparison, in their order."""
        ...


def genres_of(item: Item) -> tuple[str, ...]:
    """The genres or categories of an item for a judge; empty if unknown."""
    found = next(
        (item.attributes[name] for name in GENRES if item.attributes.get(name)),
        (),
    )
    return (found,) if isinstance(found, str) else tuple(map(str, found))
