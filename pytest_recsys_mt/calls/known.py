"""The answers that a run knows: a million of them take a few hundred bytes each beside their texts."""

from __future__ import annotations

from typing import Any, cast

from pytest_recsys_mt.calls.answer import Answer

_SHORT = 64
"""Characters of a string that may well stand in many answers: names, ids, reasons."""


class Known:
    """Answers by the key of their call.

    Most answers of a run have the same fields, and the same model, run and counts of tokens. So the names
    of the fields, short strings and what stands in flat lists are kept once for all answers.
    """

    def __init__(self) -> None:
        self._answers: dict[str, tuple[Any, ...]] = {}
        self._same: dict[Any, Any] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __setitem__(self, key: str, answer: Answer) -> None:
        names = tuple(answer)
        packed = (self._same.setdefault(names, names), *map(self._packed, answer.values()))
        self._answers[key] = packed

    def get(self, key: str) -> Answer | None:
        """The answer to a call; None if it is not known."""
        packed = self._answers.get(key)
        if packed is None:
            return None
        values = [list(value) if type(value) is tuple else value for value in packed[1:]]
        return cast("Answer", dict(zip(packed[0], values, strict=True)))

    def _packed(self, value: Any) -> Any:
        if type(value) is str and len(value) <= _SHORT:
            return self._same.setdefault(value, value)
        if type(value) is list and all(type(each) in (str, int) for each in value):
            return tuple(self._same.setdefault(each, each) for each in value)
        return value
