"""The fixtures of the plugin.

PYTEST_DONT_REWRITE: it has no assertions to explain, see `plugin.plain_imports`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.engine.skips import DoesNotApply
from pytest_recsys_mt.plugin.state import SETTINGS, run_of, running_test_of
from pytest_recsys_mt.verdict.wording import typed

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.texts import Texts
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.engine.session import Session
    from pytest_recsys_mt.engine.settings import Settings
    from pytest_recsys_mt.plugin.recommenders import Recommenders


@pytest.fixture(scope="session")
def recsys_model(request: pytest.FixtureRequest) -> str:
    """The spec of the recommender under test."""
    settings = request.config.stash[SETTINGS]
    return str(getattr(request, "param", settings.models[0]))


@pytest.fixture(scope="session")
def recommender(recsys_model: str, pytestconfig: pytest.Config) -> object:
    """The recommender under test; override it to test your own."""
    return run_of(pytestconfig).recommenders.recommender(recsys_model)


@pytest.fixture
def recsys(request: pytest.FixtureRequest, recommender: object) -> Recsys:
    """The recommender under test: `recsys.run(*transformations)`
    gives the answers of all sampled users.
    """
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.plugin.items import design_of, recommender_of
    from pytest_recsys_mt.requests.abilities import fingerprint_of

    run = run_of(request.config)
    running = running_test_of(request.node)
    if running.recsys is not None:  # the test was begun before pytest came to it
        return running.recsys
    place = ""
    parameters: tuple[str, ...] = ()
    given = recommender_of(request.node)
    if given is not None:
        place = given.place(fingerprint_of(recommender))
        parameters = given.parameters
    name, fixture = run.recommenders.name_of(recommender, parameters, place)
    running.model = name
    running.recsys = Recsys(
        lambda design: run.runner(recommender, name, design, fixture, tested=True),
        design_of(request.node, run.settings.design),
        running.report,
    )
    return running.recsys


@pytest.fixture(scope="session")
def recsys_session(pytestconfig: pytest.Config) -> Session:
    """What a suite's own fixtures take from the run: options,
    text models, objects that specs name.
    """
    from pytest_recsys_mt.engine.session import Session

    return Session(run_of(pytestconfig))


@pytest.fixture
def recsys_recommenders(request: pytest.FixtureRequest) -> Recommenders:
    """Other recommenders by their specs, on the requests of the test:
    ``recsys_recommenders("mostpop")``.
    """
    from pytest_recsys_mt.plugin.items import design_of
    from pytest_recsys_mt.plugin.recommenders import Recommenders

    run = run_of(request.config)
    design = design_of(request.node, run.settings.design)
    return Recommenders(run, running_test_of(request.node), request.node.nodeid, design)


@pytest.fixture
def recsys_against(
    request: pytest.FixtureRequest,
    recsys: Recsys,
    recsys_recommenders: Recommenders,
) -> Recsys:
    """The recommender that --recsys-against names, on the same requests."""
    spec = _given(
        run_of(request.config).settings,
        "against",
        "a recommender to compare with",
    )
    return recsys_recommenders(spec)


@pytest.fixture
def recsys_sampler(
    request: pytest.FixtureRequest,
    recsys: Recsys,
    recsys_recommenders: Recommenders,
) -> Recsys:
    """The recommender that recsys_sampler names, on the same requests."""
    spec = _given(
        run_of(request.config).settings,
        "sampler",
        "a recommender to sample by",
    )
    return recsys_recommenders(spec)


@pytest.fixture
def recsys_profiler(request: pytest.FixtureRequest, recsys: Recsys) -> Texts:
    """The text model that describes users: that of
    recsys_profiler, else the one under test.
    """
    from pytest_recsys_mt.safety.errors import NotApplicable

    run = run_of(request.config)
    spec = run.settings.profiler
    try:
        if spec is None:
            return recsys.runner.texts("profile")
        return run.recommenders.texts(spec, "profile")
    except NotApplicable as reason:
        raise DoesNotApply(str(reason)) from None


def _given(settings: Settings, name: str, what: str) -> str:
    """The spec that an option gives; without it the test
    is skipped, as it needs `what`.
    """
    spec: str | None = getattr(settings, name)
    if spec is None:
        raise DoesNotApply(f"needs {what}: give {typed(name)}=SPEC")
    return spec
