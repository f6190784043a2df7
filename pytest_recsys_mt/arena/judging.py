"""What a judge is asked and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, Protocol, runtime_checkable

from pytest_recsys_mt.requests import Item, Request

Winner = Literal["A", "B", "tie"]
"""Which of two lists is better."""

OVERALL = "overall"
"""Stands beside the names of aspects for the judgement as a whole."""

GENRES = ("genres", "categories")
"""Attributes of items that a judge is shown, the first that there is."""

_OTHER: Mapping[Winner | None, Winner | None] = MappingProxyType(
    {"A": "B", "B": "A", "tie": "tie", None: None}
)


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing that a list can be better in.

    Attributes:
        name: One word or a few, unlike `OVERALL`.
        statement: What a user would say of a list that is good in it.
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
    """Two lists for one user, in the order in which a judge is shown them.

    Attributes:
        request: Whose lists they are, with the history, the rating scale and what is known of the
            user. What was held out is nowhere in it but among the candidates.
        a: The list shown first, best item first.
        b: The list shown second.
        aspects: To be judged one by one, besides the whole.
        replicate: The same comparison with another number is judged anew.
        names: What the systems behind the lists are called, for the judge's own tests. Everywhere
            else both are empty: a judge is not told whose list it sees.
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
    """What a judge says of a comparison.

    Attributes:
        overall: The better list; None where that cannot be read from the answer.
        verdicts: The same by the name of the aspect; what is missing counts as None.
        reasons: In words, by the name of the aspect, where the judge gives any.
        text: The raw answer of a language model.
        error: Why there is no judgement: the call failed.
    """

    overall: Winner | None
    verdicts: Mapping[str, Winner | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    error: str | None = None

    def winner(self, aspect: str = OVERALL) -> Winner | None:
        """The better list in one aspect, or as a whole."""
        return self.overall if aspect == OVERALL else self.verdicts.get(aspect)

    @property
    def turned(self) -> Judgement:
        """The same judgement as if the lists had been shown in the other order."""
        verdicts = {name: _OTHER[winner] for name, winner in self.verdicts.items()}
        return replace(self, overall=_OTHER[self.overall], verdicts=verdicts)


@dataclass(frozen=True, slots=True)
class Showing:
    """One list for one user, to be given a score by itself.

    Attributes:
        request: Whose list it is.
        items: Best first.
        aspects: To be scored one by one, besides the whole.
        replicate: The same list with another number is scored anew.
    """

    request: Request
    items: tuple[Item, ...]
    aspects: tuple[Aspect, ...] = ASPECTS
    replicate: int = 0


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Scores of one list.

    Attributes:
        overall: From 0 to 1, 1 the best; None where it cannot be read from the answer.
        scores: The same by the name of the aspect.
        text: The raw answer of a language model.
        error: Why there is no score: the call failed.
    """

    overall: float | None
    scores: Mapping[str, float | None] = field(default_factory=dict)
    text: str | None = None
    error: str | None = None

    def score(self, aspect: str = OVERALL) -> float | None:
        """The score in one aspect, or as a whole."""
        return self.overall if aspect == OVERALL else self.scores.get(aspect)


@runtime_checkable
class Judge(Protocol):
    """Anything that compares lists, a batch at a time, in the order of the batch.

    Optional attributes: ``deterministic: bool`` (False; True saves asking it twice for its noise
    floor), ``apart: bool`` (False; True where no aspect has a part in the judgement of another, which
    saves asking for them in its own tests), ``name: str``, and
    ``rate(showings) -> Sequence[Appraisal]`` for scores of single lists.
    """

    def judge(self, comparisons: Sequence[Comparison], /) -> Sequence[Judgement]:
        """The judgements, one a comparison, in their order."""
        ...


def genres_of(item: Item) -> tuple[str, ...]:
    """The genres or categories of an item, as a judge reads them; none where they are not known."""
    found = next((item.attributes[name] for name in GENRES if item.attributes.get(name)), ())
    return (found,) if isinstance(found, str) else tuple(map(str, found))
