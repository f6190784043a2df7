"""The fixtures of the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.stash import SETTINGS, session_of, trial_of

if TYPE_CHECKING:
    from pytest_recsys_mt.recsys import Recsys
    from pytest_recsys_mt.settings import Settings
    from pytest_recsys_mt.texts import Texts


@pytest.fixture(scope="session")
def recsys_model(request: pytest.FixtureRequest) -> str:
    """The spec of the recommender under test."""
    settings = request.config.stash[SETTINGS]
    return str(getattr(request, "param", settings.models[0]))


@pytest.fixture(scope="session")
def recommender(recsys_model: str, pytestconfig: pytest.Config) -> object:
    """The recommender under test; override it to test your own."""
    return session_of(pytestconfig).recommender(recsys_model)


@pytest.fixture
def recsys(request: pytest.FixtureRequest, recommender: object) -> Recsys:
    """The runner: `recsys.run(*transformations)` gives the answers of all sampled users."""
    from pytest_recsys_mt.planning import design_of
    from pytest_recsys_mt.recsys import Recsys

    session = session_of(request.config)
    trial = trial_of(request.node)
    parameters = getattr(getattr(request.node, "callspec", None), "params", {})
    name = session.name_of(recommender, parameters.get("recommender"))
    design = design_of(request.node, session.settings.design)
    trial.model = name
    trial.recsys = Recsys(
        lambda wanted: session.runner(recommender, name, wanted), design, trial.report
    )
    return trial.recsys


@pytest.fixture
def recsys_against(request: pytest.FixtureRequest, recsys: Recsys) -> Recsys:
    """The runner of the recommender that --recsys-against names, on the same requests."""
    spec = _given(session_of(request.config).settings, "against", "a recommender to compare with")
    return _other(request, recsys, spec)


@pytest.fixture
def recsys_sampler(request: pytest.FixtureRequest, recsys: Recsys) -> Recsys:
    """The runner of the recommender that --recsys-sampler names, on the same requests."""
    spec = _given(session_of(request.config).settings, "sampler", "a recommender to sample by")
    return _other(request, recsys, spec)


def _other(request: pytest.FixtureRequest, recsys: Recsys, spec: str) -> Recsys:
    from pytest_recsys_mt.recsys import Recsys

    session = session_of(request.config)
    recommender = session.recommender(spec)
    return Recsys(
        lambda wanted: session.runner(recommender, spec, wanted),
        recsys.design,
        trial_of(request.node).report,
    )


@pytest.fixture
def recsys_profiler(request: pytest.FixtureRequest, recsys: Recsys) -> Texts:
    """The text model that describes users: of --recsys-profiler, else the one under test."""
    from pytest_recsys_mt.errors import NotApplicable

    session = session_of(request.config)
    spec = session.settings.profiler
    try:
        return recsys.texts if spec is None else session.texts(spec)
    except NotApplicable as reason:
        trial_of(request.node).reason = str(reason)
        pytest.skip(str(reason))


def _given(settings: Settings, name: str, what: str) -> str:
    """The value of an option that a test cannot do without; skips the test where there is none."""
    spec: str | None = getattr(settings, name)
    if spec is None:
        pytest.skip(f"needs {what}: give --recsys-{name}=SPEC")
    return spec
