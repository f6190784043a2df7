"""What is known of a test before its setup: its recommender, its design, its questions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from pytest_recsys_mt.design import Design
from pytest_recsys_mt.metamorphic import MARK, changes_training


def design_of(item: pytest.Item, design: Design) -> Design:
    """How a test's requests are made: by options, its marks ``recsys_design`` (whose users are the most), its relation."""
    users = design.users
    for mark in reversed(list(item.iter_markers("recsys_design"))):
        design = replace(design, **mark.kwargs)
    if item.config.getoption("recsys_users", None) or item.config.getini("recsys_users"):
        design = replace(design, users=min(users, design.users))
    return replace(design, refits=True) if changes_training(relation_of(item)) else design


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    """The values that a test is parametrized with, by name."""
    return dict(getattr(getattr(item, "callspec", None), "params", {}))


def relation_of(item: pytest.Item) -> Any:
    """The transformation of a metamorphic test; None for another test."""
    relational = item.get_closest_marker(MARK) is not None
    return parameters_of(item).get("followup") if relational else None


def suite_of(item: pytest.Item) -> str:
    """The name of the folder that a test lies in."""
    return Path(item.path).parent.name


def fixtures_of(item: pytest.Item) -> set[str]:
    """The names of the fixtures that a test uses."""
    return set(getattr(item, "fixturenames", ()))


def plain_parameters(item: pytest.Function) -> set[str]:
    """The parameters of a test that no fixture of the user makes something of."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return {
        name
        for name in parameters_of(item)
        if not known.get(name) or known[name][-1].func.__module__.startswith("_pytest.")
    }


OUR_FIXTURES = frozenset({"recsys", "recsys_model", "recommender", "request", "pytestconfig"})
"""The fixtures of every test of a recommender."""


def own_fixtures(item: pytest.Function) -> set[str]:
    """The names of the fixtures that pytest sets up for a test beside `OUR_FIXTURES`, setup methods among them."""
    return fixtures_of(item) - OUR_FIXTURES - plain_parameters(item)


def surroundings_of(item: pytest.Function) -> tuple[str, ...]:
    """What pytest sets up for a test: equal for tests with the same fixtures, which have the same parameters."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return tuple(
        f"{known[name][-1].baseid if known.get(name) else ''}::{name}[{_told(item, name)}]"
        for name in sorted(own_fixtures(item))
    )


def names_in(function: Callable[..., object]) -> set[str]:
    """The global names and attributes that the code of a function has."""
    code = getattr(function, "__code__", None)
    return set() if code is None else _names(code)


def _names(code: CodeType) -> set[str]:
    inner = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {part for name in code.co_names for part in name.split(".")}.union(*inner)


def asks_two_sides(item: pytest.Item) -> bool:
    """Whether a test is metamorphic and its questions are known beforehand."""
    return item.get_closest_marker(MARK) is not None and not is_drawn(item)


def is_drawn(item: pytest.Item) -> bool:
    """Whether hypothesis draws the questions of a test."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


@dataclass(frozen=True)
class Given:
    """The source of a test's recommender: the same for tests of one recommender, on every worker.

    Attributes:
        where: The fixture, by its place and function.
        parameters: Those of the fixture and of the fixtures it depends on, in the order of their names.
        during: Where it gives one object: the id of a test, class or module.
    """

    where: str
    parameters: tuple[str, ...]
    during: str

    def place(self, fingerprint: object) -> str:
        """What distinguishes a recommender from others of its name.

        Recommenders with one fingerprint are the same, wherever they are given.
        """
        during = f" during {self.during}" if fingerprint is None and self.during else ""
        return f"{self.where}[{','.join(self.parameters)}]{during}"


def recommender_of(item: pytest.Item) -> Given | None:
    """The source of a test's recommender, known before any fixture is set up; None without one."""
    info = getattr(item, "_fixtureinfo", None)  # pytest has no public access to a test's fixtures
    known = getattr(info, "name2fixturedefs", {})
    if not known.get("recommender"):
        return None
    wanted, names = ["recommender"], set[str]()
    while wanted:
        name = wanted.pop()
        if name not in names and known.get(name):
            names.add(name)
            wanted += known[name][-1].argnames
    told = tuple(_told(item, name) for name in sorted(names & parameters_of(item).keys()))
    fixture = known["recommender"][-1]
    function = fixture.func
    where = f"{fixture.baseid}::{function.__module__}.{function.__qualname__}"
    return Given(where, told, _during(item, fixture.scope))


def _told(item: pytest.Item, name: str) -> str:
    """The value of a parameter in words that are the same on every worker; empty without such a parameter."""
    parameters = parameters_of(item)
    if name not in parameters:
        return ""
    if isinstance(parameters[name], str | int | float | None):
        return str(parameters[name])
    indices = getattr(getattr(item, "callspec", None), "indices", {})
    return f"{name}{indices.get(name, '')}"  # like pytest's own ids


def _during(item: pytest.Item, scope: str) -> str:
    if scope == "function":
        return item.nodeid
    kinds: dict[str, type[pytest.Collector]] = {
        "class": pytest.Class,
        "module": pytest.Module,
        "package": pytest.Package,
    }
    around = [node for node in item.listchain() if isinstance(node, kinds.get(scope, ()))]
    return around[-1].nodeid if around else ""
