"""What the methods of users' objects return, and what to say of anything else."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.redaction import redact
from pytest_recsys_mt.requests import Completion, Recommendation

_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 3
_SHORT.maxother = 80


def shown(found: object) -> str:
    """A short text that an object is known again by."""
    return redact(_SHORT.repr(found))


@dataclass(frozen=True)
class Contract:
    """What a method returns for what it is given.

    Attributes:
        call: The method as it is called.
        kind: Of each answer.
        one: What each answer is for.
        wrap: How to make an answer of what people return in its place, by the type of that.
    """

    call: str
    kind: type
    one: str
    wrap: Mapping[type, str]

    def __str__(self) -> str:
        return (
            f"it returns a list with one {self.kind.__name__} for each {self.one}, in their order"
        )

    def held(self, found: Any, asked: int) -> Sequence[Any]:
        """What the method returned, if it is as many answers as were asked for.

        Raises:
            RecommenderError: If it is not.
        """
        if isinstance(found, str | bytes | Mapping) or not hasattr(type(found), "__getitem__"):
            raise RecommenderError(
                f"{self.call} returned {shown(found)}; {self}{self._step(found)}"
            )
        if len(found) != asked:
            step = next(map(self._step, found), "")
            raise RecommenderError(
                f"{self.call} returned {len(found)} answers to {asked} {self.one}s, {shown(found)}; "
                f"{self}{step}"
            )
        return found  # type: ignore[no-any-return]

    def wrong(self, answer: object) -> str:
        """What to say of an answer that is of another kind."""
        return f"{self.call} returned {shown(answer)} as an answer; {self}{self._step(answer)}"

    def _step(self, found: object) -> str:
        """What to write in place of `found`, where that is a likely slip."""
        if isinstance(found, self.kind):
            return ""
        if hasattr(found, "__next__"):
            return ": make a list of the generator, list(...)"
        steps = (step for kind, step in self.wrap.items() if isinstance(found, kind))
        step = next(steps, "")
        return step and f": {step}"


IDS = "wrap the ids of each answer, Recommendation(tuple(ids))"
RECOMMEND = Contract(
    "recommend(requests)",
    Recommendation,
    "request",
    {str: IDS, int: IDS, list: IDS, tuple: IDS, type(None): "does it end without a return?"},
)
COMPLETE = Contract(
    "complete(prompts)",
    Completion,
    "prompt",
    {str: "wrap each text, Completion(text)", type(None): "does it end without a return?"},
)
