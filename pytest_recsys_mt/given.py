"""What gives a test its recommender, before any fixture is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Given:
    """What gives a test its recommender: the same for tests of one recommender, on every worker.

    Attributes:
        where: The fixture, by its place and function.
        parameters: Of the fixture and of those that it depends on, in the order of their names.
    """

    where: str
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.where}[{','.join(self.parameters)}]"


def recommender_of(item: pytest.Item) -> Given | None:
    """What gives a test its recommender, known before any fixture is set up; None without one."""
    info = getattr(item, "_fixtureinfo", None)  # pytest offers no public way to a test's fixtures
    known = getattr(info, "name2fixturedefs", {})
    if not known.get("recommender"):
        return None
    wanted, names = ["recommender"], set[str]()
    while wanted:
        name = wanted.pop()
        if name not in names and known.get(name):
            names.add(name)
            wanted += known[name][-1].argnames
    callspec = getattr(item, "callspec", None)
    parameters: dict[str, Any] = getattr(callspec, "params", {})
    told = tuple(
        str(parameters[name])
        if isinstance(parameters[name], str | int | float | None)
        else f"{name}{getattr(callspec, 'indices', {}).get(name, '')}"  # as pytest's own ids
        for name in sorted(names & parameters.keys())
    )
    fixture = known["recommender"][-1]
    function = fixture.func
    return Given(f"{fixture.baseid}::{function.__module__}.{function.__qualname__}", told)
