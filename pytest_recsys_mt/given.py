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
        during: For what part of the run it gives one object: the id of a test, class or module.
    """

    where: str
    parameters: tuple[str, ...]
    during: str

    def place(self, fingerprint: object) -> str:
        """What tells a recommender from others of its name.

        Args:
            fingerprint: Of the recommender; one that has it is the same wherever it is given.
        """
        during = f" during {self.during}" if fingerprint is None and self.during else ""
        return f"{self.where}[{','.join(self.parameters)}]{during}"


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
    where = f"{fixture.baseid}::{function.__module__}.{function.__qualname__}"
    return Given(where, told, _during(item, fixture.scope))


def _during(item: pytest.Item, scope: str) -> str:
    """The id of the part of the tests around `item` for which a fixture of `scope` is set up once."""
    if scope == "function":
        return item.nodeid
    kinds: dict[str, type[pytest.Collector]] = {
        "class": pytest.Class,
        "module": pytest.Module,
        "package": pytest.Package,
    }
    around = [node for node in item.listchain() if isinstance(node, kinds.get(scope, ()))]
    return around[-1].nodeid if around else ""
