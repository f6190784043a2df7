"""From test functions to test items: one for each recommender and each transformation."""

import importlib.util
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from pytest_recsys_mt.engine.settings import Effort
from pytest_recsys_mt.gate.policy import Policy, today
from pytest_recsys_mt.metamorphic import MARK, UnnamedTransformation, bare, is_param, name_of, slug
from pytest_recsys_mt.plugin.items import fixtures_of, parameters_of, relation_of, suite_of

FIXTURES = frozenset({"recsys", "recsys_league", "recsys_model"})
"""A test that uses one of these fixtures asks a recommender through the plugin."""

THOROUGH = "recsys_thorough"
"""The mark of a test that makes many calls."""

QUICK = "recsys_quick"
"""The mark of a test that a first look runs too, for the given transformations or for all."""


def asks(item: pytest.Item) -> bool:
    """Whether a test asks a recommender. A run without such a test is partial."""
    return not FIXTURES.isdisjoint(fixtures_of(item))


def left_out(
    items: list[pytest.Item], effort: Effort, named: Collection[Path]
) -> list[pytest.Item]:
    """Remove from `items` the tests that ask more than an effort allows, and return them.

    Those of the files that the command line names stay.
    """
    left = [
        item for item in items if not _is_wanted(item, effort) and item.path.resolve() not in named
    ]
    items[:] = [item for item in items if item not in left]
    return left


def named_files(config: pytest.Config) -> set[Path]:
    """The files that the command line names, by a path or with ``--pyargs`` as a module."""
    found = set()
    for argument in config.args:
        name = argument.partition("::")[0]
        path = config.invocation_params.dir / name
        if config.option.pyargs and not path.exists():
            try:
                spec = importlib.util.find_spec(name)
            except (ImportError, ValueError):
                spec = None
            path = Path(spec.origin) if spec is not None and spec.origin else path
        if path.is_file() and path.name != "__init__.py":
            found.add(path.resolve())
    return found


def _is_wanted(item: pytest.Item, effort: Effort) -> bool:
    if effort != "quick":
        return effort == "thorough" or item.get_closest_marker(THOROUGH) is None
    mark = item.get_closest_marker(QUICK)
    if mark is None:
        return not asks(item)
    return not mark.args or name_of(parameters_of(item).get("followup")) in mark.args


def model_ids(models: Sequence[str]) -> list[str]:
    """The name of each model in the ids of its tests."""
    return distinct([slug(model) for model in models])


def parametrize_transformations(metafunc: pytest.Metafunc) -> list[str]:
    """Make one test per transformation of a metamorphic test; returns the errors in it, in words.

    `source` and `followup` are parameters, not fixtures, so they cannot clash with a user's fixtures
    of those names. The answers replace their values when the test runs.
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
    for transformation in map(bare, transformations):
        try:
            names.append(name_of(transformation))
        except UnnamedTransformation as problem:
            names.append("unnamed")
            problems.append(f"{where}: {problem}")
    for mark in metafunc.definition.iter_markers(QUICK):
        for name in sorted(set(mark.args).difference(names)):
            problems.append(
                f"{where}: {QUICK} names {name!r}, which is none of its transformations: "
                f"{', '.join(names)}"
            )
    for name in sorted({name for name in names if names.count(name) > 1 and name != "unnamed"}):
        problems.append(f"{where}: the transformation {name} is listed twice")
    metafunc.parametrize(
        ["source", "followup"],
        [
            pytest.param(None, bare(each), marks=each.marks if is_param(each) else ())
            for each in transformations
        ],
        ids=distinct(
            [
                slug(str(getattr(each, "id", None) or name)) if is_param(each) else slug(name)
                for each, name in zip(transformations, names, strict=True)
            ]
        ),
    )
    return problems


def named_twice(items: Sequence[pytest.Item]) -> list[str]:
    """The errors of tests whose recommender comes from a user's fixture, while the command line names one too."""
    return [
        f"{item.nodeid}: the fixture `recommender` gives the recommender, and --recsys-model names "
        f"another; remove one of them"
        for item in items
        if fixtures_of(item) & {"recommender", "recsys_model"} == {"recommender"}
    ]


def expect_known(items: Sequence[pytest.Item], policy: Policy) -> None:
    """Mark the tests whose violation the policy lists as expected failures, until its last day.

    The marks are strict: a test that passes is fixed, and fails until the policy is updated.
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
    """`ids` with numbers behind those that stand there before."""
    return [
        each if ids.index(each) == place else f"{each}-{ids[: place + 1].count(each)}"
        for place, each in enumerate(ids)
    ]
