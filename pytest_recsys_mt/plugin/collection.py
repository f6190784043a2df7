"""From test functions to test items: one for each recommender and each
transformation.
"""

import importlib.util
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.engine.settings import Effort
from pytest_recsys_mt.gate.policy import Policy, today
from pytest_recsys_mt.metamorphic import (
    MARK,
    UnnamedTransformation,
    bare,
    is_param,
    name_of,
)
from pytest_recsys_mt.plugin.items import (
    fixtures_of,
    parameters_of,
    relation_of,
    suite_of,
)
from pytest_recsys_mt.safety.sanitize import slug

FIXTURES = frozenset({"recsys", "recsys_model", "recsys_recommenders"})
"""A test that uses one of these fixtures sends requests through the plugin."""

THOROUGH = "recsys_thorough"
"""The mark of a test that makes many calls."""

QUICK = "recsys_quick"
"""The mark of a test that a first look runs too, for
the given transformations or for all.
"""


def sends_requests(item: pytest.Item) -> bool:
    """Whether a test sends requests. A run without such a test is partial."""
    return not FIXTURES.isdisjoint(fixtures_of(item))


def left_out(
    items: list[pytest.Item],
    effort: Effort,
    named: Collection[Path],
) -> list[pytest.Item]:
    """Remove from `items` the tests that send more than an effort allows, and return
    them.

    Args:
        items: The collected tests.
        effort: The wanted effort.
        named: The files that the command line names. Their tests stay.

    Returns:
        The tests that were removed.
    """
    wanted, unwanted = [], []
    for item in items:
        if _is_wanted(item, effort) or item.path.resolve() in named:
            wanted.append(item)
        else:
            unwanted.append(item)
    items[:] = wanted
    return unwanted


def named_files(config: pytest.Config) -> set[Path]:
    """The files that the command line names, by a path
    or with ``--pyargs`` as a module.
    """
    files = set()
    for argument in config.args:
        name, _, _ = argument.partition("::")
        path = config.invocation_params.dir / name
        if config.option.pyargs and not path.exists():
            path = _file_of_module(name) or path
        if path.is_file() and path.name != "__init__.py":  # that names a whole package
            files.add(path.resolve())
    return files


def _file_of_module(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin)


def _is_wanted(item: pytest.Item, effort: Effort) -> bool:
    """Whether a test sends no more than an effort allows."""
    if effort == "thorough":
        return True
    if effort != "quick":
        return item.get_closest_marker(THOROUGH) is None
    quick = item.get_closest_marker(QUICK)
    if quick is None:
        return not sends_requests(item)
    return not quick.args or name_of(parameters_of(item).get("followup")) in quick.args


def model_ids(models: Sequence[str]) -> list[str]:
    """The name of each model in the ids of its tests."""
    return distinct([slug(model) for model in models])


def parametrize_transformations(metafunc: pytest.Metafunc) -> list[str]:
    """Make one test per transformation of a metamorphic test.

    `source` and `followup` are parameters, not fixtures, so they cannot clash with a
    user's fixtures of those names. The answers replace their values when the test runs.

    Args:
        metafunc: The test function.

    Returns:
        The errors in the test function, one sentence each.
    """
    transformations: list[Any] = []
    for mark in metafunc.definition.iter_markers(MARK):
        transformations += mark.args
    if not transformations:
        return []
    where = metafunc.definition.nodeid
    if not {"source", "followup"} <= set(metafunc.fixturenames):
        return [f"{where}: a metamorphic test takes the arguments source and followup"]
    names: list[str] = []
    problems: list[str] = []
    for transformation in transformations:
        try:
            names.append(name_of(bare(transformation)))
        except UnnamedTransformation as problem:
            names.append(_UNNAMED)
            problems.append(f"{where}: {problem}")
    for mark in metafunc.definition.iter_markers(QUICK):
        for name in sorted(set(mark.args).difference(names)):
            problems.append(
                f"{where}: {QUICK} names {name!r}, which is none of its transformations: "
                f"{', '.join(names)}",
            )
    repeated = {name for name in names if names.count(name) > 1}
    for name in sorted(repeated - {_UNNAMED}):
        problems.append(f"{where}: the transformation {name} is listed twice")
    values = []
    ids = []
    for transformation, name in zip(transformations, names, strict=True):
        values.append(_parameter_values(transformation))
        ids.append(_id_of(transformation, name))
    metafunc.parametrize(["source", "followup"], values, ids=distinct(ids))
    return problems


_UNNAMED = "unnamed"
"""Stands in ids for the name of a transformation that has none, which is an error."""


def _parameter_values(transformation: Any) -> Any:
    """The values of `source` and `followup`, with the marks of a `pytest.param`."""
    marks = transformation.marks if is_param(transformation) else ()
    return pytest.param(None, bare(transformation), marks=marks)


def _id_of(transformation: Any, name: str) -> str:
    """The name of a transformation in the id of its test."""
    given = getattr(transformation, "id", None) if is_param(transformation) else None
    return slug(str(given or name))


def named_twice(items: Sequence[pytest.Item]) -> list[str]:
    """The errors of tests whose recommender comes from a user's fixture, while the
    command line names one too.
    """
    problems = []
    for item in items:
        fixtures = fixtures_of(item)
        if "recommender" in fixtures and "recsys_model" not in fixtures:
            problems.append(
                f"{item.nodeid}: the fixture `recommender` gives the recommender, and --recsys-model names "
                f"another; remove one of them",
            )
    return problems


def expect_known(items: Sequence[pytest.Item], policy: Policy) -> None:
    """Mark the tests whose violation the policy lists as expected failures, until its
    last day.

    The marks are strict: a test that passes is fixed, and fails until the policy is
    updated.
    """
    day = today()
    for item in items:
        if "recsys" not in fixtures_of(item):
            continue
        relation = relation_of(item)
        facts = {
            "suite": suite_of(item),
            "test": getattr(item, "originalname", item.name),
            "model": parameters_of(item).get("recsys_model", ""),
            "relation": "" if relation is None else name_of(relation),
        }
        known = policy.known_of(facts)
        if known is not None and not known.expired(day):
            reason = f"known until {known.until} (recsys.toml): {known.reason}"
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def distinct(ids: list[str]) -> list[str]:
    """`ids` with a number behind each one that repeats an
    earlier one: ``a``, ``a-2``, ``a-3``.
    """
    counts: Counter[str] = Counter()
    numbered = []
    for each in ids:
        counts[each] += 1
        is_first = counts[each] == 1
        numbered.append(each if is_first else f"{each}-{counts[each]}")
    return numbered
