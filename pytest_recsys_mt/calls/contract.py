"""The return values of the methods of users' objects, and the errors for anything else."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.requests import Completion, Recommendation
from pytest_recsys_mt.safety.redaction import redact

_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 3
_SHORT.maxother = 80


def shown(found: object) -> str:
    """A short text that identifies an object."""
    return redact(_SHORT.repr(found))


@dataclass(frozen=True)
class Contract:
    """The return value that a method owes for its input."""

    call: str
    kind: type
    one: str  # the input that each answer is for
    wrap: Mapping[type, str]  # how to fix a wrong return value, by its type

    def __str__(self) -> str:
        return (
            f"it returns a list with one {self.kind.__name__} for each {self.one}, in their order"
        )

    def held(self, found: Any, asked: int) -> Sequence[Any]:
        """The return value of the method, if it has as many answers as inputs."""
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
        """The error text for an answer of another type."""
        return f"{self.call} returned {shown(answer)} as an answer; {self}{self._step(answer)}"

    def _step(self, found: object) -> str:
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
