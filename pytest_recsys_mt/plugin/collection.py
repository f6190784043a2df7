"""From test functions to test items: one for each recommender and each transformation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_recsys_mt.gate.policy import Policy, today
from pytest_recsys_mt.metamorphic import MARK, UnnamedTransformation, name_of, slug

FIXTURES = frozenset({"recsys", "recsys_league", "recsys_model"})
"""Who asks for one of these asks a recommender through us."""

THOROUGH = "recsys_thorough"
"""The mark of a test that takes many calls."""


def asks(item: pytest.Item) -> bool:
    """Whether a test asks a recommender, so that a run that does without it is partial."""
    return not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def without_thorough(items: list[pytest.Item], arguments: Sequence[str]) -> list[pytest.Item]:
    """Take out of `items` the tests that take many calls, and return them.

    Args:
        items: The collected tests; changed in place.
        arguments: Those of the command line. Files that they name stay, by a path or as a module.
    """
    named = {Path(each.partition("::")[0]).name for each in arguments}
    named |= {f"{each.partition('::')[0].rpartition('.')[2]}.py" for each in arguments}
    left_out = [
        item
        for item in items
        if item.get_closest_marker(THOROUGH) is not None and item.path.name not in named
    ]
    items[:] = [item for item in items if item not in left_out]
    return left_out


def parametrize_models(metafunc: pytest.Metafunc, models: Sequence[str]) -> None:
    """One test a recommender; session scope orders the tests by it, so that each is fitted once."""
    metafunc.parametrize(
        "recsys_model",
        list(models),
        ids=model_ids(models),
        indirect=True,
        scope="session",
    )


def model_ids(models: Sequence[str]) -> list[str]:
    """What stands for each model in the ids of its tests."""
    return _distinct([slug(model) for model in models])


def parametrize_transformations(metafunc: pytest.Metafunc) -> list[str]:
    """One test a transformation of a metamorphic test, with `source` and `followup`.

    They are parameters and no fixtures, so that a user's own fixtures of those names do no harm;
    the answers take the place of their values when the test runs.

    Returns:
        What is wrong with the test, in words.
    """
    transformations = [
        each for mark in metafunc.definition.iter_markers(MARK) for each in mark.args
    ]
    if not transformations:
        return []
    where = metafunc.definition.nodeid
    if not {"source", "followup"} <= set(metafunc.fixturenames):
        return [f"{where}: a metamorphic test takes the arguments source and followup"]
    names, problems = [], []
    for transformation in transformations:
        try:
            names.append(name_of(transformation))
        except UnnamedTransformation as problem:
            names.append("unnamed")
            problems.append(f"{where}: {problem}")
    for name in sorted({name for name in names if names.count(name) > 1 and name != "unnamed"}):
        problems.append(f"{where}: the transformation {name} is listed twice")
    metafunc.parametrize(
        ["source", "followup"],
        [(None, transformation) for transformation in transformations],
        ids=_distinct([slug(name) for name in names]),
    )
    return problems


def named_twice(items: Sequence[pytest.Item]) -> list[str]:
    """What is wrong with tests whose recommender is given by a fixture of the user's own, where the
    command line names one too.
    """
    return [
        f"{item.nodeid}: the fixture `recommender` gives the recommender, and --recsys-model names "
        f"another; take one of them away"
        for item in items
        if "recommender" in getattr(item, "fixturenames", ())
        and "recsys_model" not in getattr(item, "fixturenames", ())
    ]


def expect_known(items: Sequence[pytest.Item], policy: Policy) -> None:
    """Expect the tests to fail whose violation the policy knows, until its last day.

    They are strict: one that passes is mended, and fails until the policy is told.
    """
    day = today()
    for item in items:
        if "recsys" not in getattr(item, "fixturenames", ()):
            continue
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        relational = item.get_closest_marker(MARK) is not None
        facts = {
            "suite": item.path.parent.name,
            "test": getattr(item, "originalname", item.name),
            "model": parameters.get("recsys_model", ""),
            "relation": name_of(parameters["followup"]) if relational else "",
        }
        known = policy.known_of(facts)
        if known is not None and not known.expired(day):
            reason = f"known until {known.until} (recsys.toml): {known.reason}"
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _distinct(ids: list[str]) -> list[str]:
    """Ids with a number behind those that came before: test ids must be unique."""
    return [
        each if ids.index(each) == place else f"{each}-{ids[: place + 1].count(each)}"
        for place, each in enumerate(ids)
    ]
