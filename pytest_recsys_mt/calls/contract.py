"""The return values of the methods of users' objects, and the errors for anything else."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_recsys_mt.requests import Completion, Recommendation
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import redact

_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 3
_SHORT.maxother = 80


def shown(found: object) -> str:
    """A short text that identifies an object."""
    return redact(_SHORT.repr(found))


@dataclass(frozen=True)
class Contract:
    """The return value that a method owes for its input.

    Attributes:
        call: The method as it is called, for messages.
        kind: The type of each answer.
        one: The input that each answer is for, in a word.
        wrap: How to fix a wrong return value, by its type.
    """

    call: str
    kind: type
    one: str
    wrap: Mapping[type, str]

    def __str__(self) -> str:
        return f"it returns a list with one {self.kind.__name__} for each {self.one}, in their order"

    def held(self, found: Any, asked: int) -> Sequence[Any]:
        """The return value of the method, if it has as many answers as inputs.

        Raises:
            RecommenderError: If it is no sequence, or has another number of answers.
        """
        is_sequence = hasattr(type(found), "__getitem__")
        if isinstance(found, str | bytes | Mapping) or not is_sequence:
            raise RecommenderError(
                f"{self.call} returned {shown(found)}; {self}{self._step(found)}",
            )
        if len(found) != asked:
            step = ""
            for first in islice(found, 1):
                step = self._step(first)
            raise RecommenderError(
                f"{self.call} returned {len(found)} answers to {asked} {self.one}s, {shown(found)}; "
                f"{self}{step}",
            )
        return found  # type: ignore[no-any-return]

    def wrong(self, answer: object) -> str:
        """The error text for an answer of another type."""
        return f"{self.call} returned {shown(answer)} as an answer; {self}{self._step(answer)}"

    def _step(self, found: object) -> str:
        """The advice on a wrong return value, behind a
        colon; empty where there is no advice.
        """
        if isinstance(found, self.kind):
            return ""
        if hasattr(found, "__next__"):
            return ": make a list of the generator, list(...)"
        for kind, step in self.wrap.items():
            if isinstance(found, kind):
                return f": {step}"
        return ""


IDS = "wrap the ids of each answer, Recommendation(tuple(ids))"
RECOMMEND = Contract(
    "recommend(requests)",
    Recommendation,
    "request",
    {
        str: IDS,
        int: IDS,
        list: IDS,
        tuple: IDS,
        type(None): "does it end without a return?",
    },
)
COMPLETE = Contract(
    "complete(prompts)",
    Completion,
    "prompt",
    {
        str: "wrap each text, Completion(text)",
        type(None): "does it end without a return?",
    },
)
