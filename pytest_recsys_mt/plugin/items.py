"""The facts of a test before its setup: its recommender, its design, its questions; and
the limit on its time.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from pytest_recsys_mt.metamorphic import MARK, changes_training
from pytest_recsys_mt.requests.design import Design


def design_of(item: pytest.Item, design: Design) -> Design:
    """How a test's requests are made.

    Args:
        item: The test. Its marks ``recsys_design`` change the design, the closest one
            last, and a relation that changes training data makes it refit.
        design: How the options say that requests are made. If they give a number of
            users, a mark may take fewer users, but not more.

    Returns:
        The design of this test.
    """
    users_of_options = design.users
    from_closest = list(item.iter_markers("recsys_design"))
    for mark in reversed(from_closest):
        design = replace(design, **mark.kwargs)
    if item.config.getoption("recsys_users", None) or item.config.getini(
        "recsys_users",
    ):
        design = replace(design, users=min(users_of_options, design.users))
    if changes_training(relation_of(item)):
        design = replace(design, refits=True)
    return design


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    """The values that a test is parametrized with, by name."""
    callspec = getattr(item, "callspec", None)
    return dict(getattr(callspec, "params", {}))


def relation_of(item: pytest.Item) -> Any:
    """The transformation of a metamorphic test; None for another test."""
    if item.get_closest_marker(MARK) is None:
        return None
    return parameters_of(item).get("followup")


def suite_of(item: pytest.Item) -> str:
    """The name of the folder that a test lies in."""
    return Path(item.path).parent.name


def fixtures_of(item: pytest.Item) -> set[str]:
    """The names of the fixtures that a test uses."""
    return set(getattr(item, "fixturenames", ()))


def plain_parameters(item: pytest.Function) -> set[str]:
    """The parameters of a test that no fixture of the user takes."""
    definitions = _fixture_definitions(item)
    plain = set()
    for name in parameters_of(item):
        definition = _closest(definitions, name)
        # pytest defines a fixture of its own for a parameter that no fixture takes.
        if definition is None or definition.func.__module__.startswith("_pytest."):
            plain.add(name)
    return plain


def _fixture_definitions(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    """The definitions of each fixture that a test may use,
    by its name, the closest one last.
    """
    info = getattr(
        item,
        "_fixtureinfo",
        None,
    )  # pytest has no public access to a test's fixtures
    definitions: Mapping[str, Sequence[Any]] = getattr(info, "name2fixturedefs", {})
    return definitions


def _closest(definitions: Mapping[str, Sequence[Any]], name: str) -> Any:
    """The definition of a fixture that a test gets; None if nothing defines it."""
    definitions_of_name = definitions.get(name)
    return definitions_of_name[-1] if definitions_of_name else None


OUR_FIXTURES = frozenset(
    {"recsys", "recsys_model", "recommender", "request", "pytestconfig"},
)
"""The fixtures of every test of a recommender."""


def own_fixtures(item: pytest.Function) -> set[str]:
    """The names of the fixtures that pytest sets up for a test other than
    `OUR_FIXTURES`, setup methods among them.
    """
    return fixtures_of(item) - OUR_FIXTURES - plain_parameters(item)


def surroundings_of(item: pytest.Function) -> tuple[str, ...]:
    """The fixtures that pytest sets up for a test: equal for tests with the same
    fixtures, which have the same parameters.
    """
    definitions = _fixture_definitions(item)
    surroundings = []
    for name in sorted(own_fixtures(item)):
        definition = _closest(definitions, name)
        place = "" if definition is None else definition.baseid
        surroundings.append(f"{place}::{name}[{_parameter_text(item, name)}]")
    return tuple(surroundings)


def names_in(function: Callable[..., object]) -> set[str]:
    """The global names and attributes that the code of a function has."""
    code = getattr(function, "__code__", None)
    return set() if code is None else _names_in_code(code)


def _names_in_code(code: CodeType) -> set[str]:
    names: set[str] = set()
    for dotted_name in code.co_names:
        names.update(dotted_name.split("."))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # of an inner function or a comprehension
            names |= _names_in_code(constant)
    return names


def sends_two_sides(item: pytest.Item) -> bool:
    """Whether a test is metamorphic and its questions are known beforehand."""
    return item.get_closest_marker(MARK) is not None and not is_drawn(item)


def is_drawn(item: pytest.Item) -> bool:
    """Whether hypothesis draws the questions of a test."""
    function = getattr(item, "obj", None)
    return bool(getattr(function, "is_hypothesis_test", False))


@dataclass(frozen=True)
class Given:
    """The source of a test's recommender: the same for tests of one recommender, on
    every worker.

    Attributes:
        where: The fixture, by its place and function.
        parameters: Those of the fixture and of the fixtures it depends on, in the order
            of their names.
        during: Where it gives one object: the id of a test, class or module.
    """

    where: str
    parameters: tuple[str, ...]
    during: str

    def place(self, fingerprint: object) -> str:
        """The key that distinguishes a recommender from others of its name.

        Args:
            fingerprint: The fingerprint of the recommender; None if it has none.
                Recommenders with one fingerprint are the same, wherever they are given.
        """
        place = f"{self.where}[{','.join(self.parameters)}]"
        if fingerprint is None and self.during:
            return f"{place} during {self.during}"
        return place


def recommender_of(item: pytest.Item) -> Given | None:
    """The source of a test's recommender, known before any
    fixture is set up; None without one.
    """
    definitions = _fixture_definitions(item)
    fixture = _closest(definitions, "recommender")
    if fixture is None:
        return None
    fixtures = _needed_by("recommender", definitions)
    parametrized = sorted(fixtures & parameters_of(item).keys())
    parameters = tuple(_parameter_text(item, name) for name in parametrized)
    function = fixture.func
    where = f"{fixture.baseid}::{function.__module__}.{function.__qualname__}"
    return Given(where, parameters, _during(item, fixture.scope))


def _needed_by(name: str, definitions: Mapping[str, Sequence[Any]]) -> set[str]:
    """The names of a fixture and of all fixtures that it depends on."""
    needed: set[str] = set()
    to_visit = [name]
    while to_visit:
        visited = to_visit.pop()
        definition = _closest(definitions, visited)
        if visited not in needed and definition is not None:
            needed.add(visited)
            to_visit += definition.argnames
    return needed


def _parameter_text(item: pytest.Item, name: str) -> str:
    """The value of a parameter as a text that is the same on every worker; empty
    without such a parameter.
    """
    parameters = parameters_of(item)
    if name not in parameters:
        return ""
    value = parameters[name]
    if isinstance(value, str | int | float | None):
        return str(value)
    # The repr of another object may contain its address, so it gets a number, as in
    # pytest's own ids.
    indices = getattr(getattr(item, "callspec", None), "indices", {})
    return f"{name}{indices.get(name, '')}"


_COLLECTORS: dict[str, type[pytest.Collector]] = {
    "class": pytest.Class,
    "module": pytest.Module,
    "package": pytest.Package,
}
"""The collector around a test during which a fixture of a scope gives one object."""


def _during(item: pytest.Item, scope: str) -> str:
    """The id of the collector during which a fixture of a scope
    gives one object; empty for the whole session.
    """
    if scope == "function":
        return item.nodeid
    collector = _COLLECTORS.get(scope)
    if collector is None:
        return ""
    around = [node for node in item.listchain() if isinstance(node, collector)]
    return around[-1].nodeid if around else ""


def is_skipped(item: pytest.Item) -> bool:
    """Whether a mark may keep pytest from running a test."""
    for mark in item.iter_markers():
        if mark.name in ("skip", "skipif"):
            return True
        if mark.name == "xfail" and not mark.kwargs.get("run", True):
            return True
    return False


@contextlib.contextmanager
def time_limit(item: pytest.Item, *, counts: bool) -> Iterator[None]:
    """Within it, the time limit that pytest-timeout has for a test is on, or off.

    Args:
        item: The test.
        counts: Whether the limit is on inside. Outside it is the other way round, and
            each start resets it.
    """
    plugin = item.config.pluginmanager.getplugin("timeout")
    settings_of = getattr(plugin, "_get_item_settings", None)
    settings = None if settings_of is None else settings_of(item)
    if settings is None or (settings.timeout or 0) <= 0:
        yield
        return

    def switch(on: bool) -> None:
        if on:
            item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
        else:
            item.ihook.pytest_timeout_cancel_timer(item=item)

    switch(counts)
    try:
        yield
    finally:
        switch(not counts)
