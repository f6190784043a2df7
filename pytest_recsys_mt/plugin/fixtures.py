"""The fixtures of the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.engine.skips import DoesNotApply
from pytest_recsys_mt.plugin.state import SETTINGS, run_of, running_test_of
from pytest_recsys_mt.wording import typed

if TYPE_CHECKING:
    from pytest_recsys_mt.arena import Arena, Aspect, Bench, Judge, League
    from pytest_recsys_mt.calls.texts import Texts
    from pytest_recsys_mt.engine.recsys import Recsys
    from pytest_recsys_mt.engine.settings import Settings
    from pytest_recsys_mt.requests.design import Design


@pytest.fixture(scope="session")
def recsys_model(request: pytest.FixtureRequest) -> str:
    """The spec of the recommender under test."""
    settings = request.config.stash[SETTINGS]
    return str(getattr(request, "param", settings.models[0]))


@pytest.fixture(scope="session")
def recommender(recsys_model: str, pytestconfig: pytest.Config) -> object:
    """The recommender under test; override it to test your own."""
    return run_of(pytestconfig).roster.recommender(recsys_model)


@pytest.fixture
def recsys(request: pytest.FixtureRequest, recommender: object) -> Recsys:
    """The recommender under test: `recsys.run(*transformations)` gives the answers of all sampled users."""
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
    name, fixture = run.roster.name_of(recommender, parameters, place)
    running.model = name
    running.recsys = Recsys(
        lambda design: run.runner(recommender, name, design, fixture, tested=True),
        design_of(request.node, run.settings.design),
        running.report,
    )
    return running.recsys


@pytest.fixture
def recsys_against(request: pytest.FixtureRequest, recsys: Recsys) -> Recsys:
    """The recommender that --recsys-against names, on the same requests."""
    spec = _given(run_of(request.config).settings, "against", "a recommender to compare with")
    return _other(request, spec, recsys.design)


@pytest.fixture
def recsys_sampler(request: pytest.FixtureRequest, recsys: Recsys) -> Recsys:
    """The recommender that recsys_sampler names, on the same requests."""
    spec = _given(run_of(request.config).settings, "sampler", "a recommender to sample by")
    return _other(request, spec, recsys.design)


BASELINE = "mostpop"
"""The opponent in the arena if --recsys-against is not given."""


@pytest.fixture(scope="session")
def recsys_judge(pytestconfig: pytest.Config) -> Judge | Bench:
    """The judge that --recsys-judge names; override it to use your own."""
    run = run_of(pytestconfig)
    what = "a judge, which is a language model or any object with judge(comparisons)"
    spec = _given(run.settings, "judge", what)
    return run.roster.benches.named(spec)


@pytest.fixture(scope="session")
def recsys_aspects() -> tuple[Aspect, ...]:
    """The aspects judged besides the overall quality; override it to add your own."""
    from pytest_recsys_mt.arena import ASPECTS

    return ASPECTS


@pytest.fixture
def recsys_arena(
    request: pytest.FixtureRequest,
    recsys_judge: Judge | Bench,
    recsys_aspects: tuple[Aspect, ...],
    recsys: Recsys,
) -> Arena:
    """The recommender under test against the one that --recsys-against names, with the judge."""
    from pytest_recsys_mt.arena import Arena

    run = run_of(request.config)
    against = run.settings.against
    if against is None and recsys.model == BASELINE:
        raise DoesNotApply(
            f"{BASELINE} is what others are compared with: give --recsys-against=SPEC"
        )
    spec = against or BASELINE
    return Arena(
        recsys.run(),
        _other(request, spec, recsys.design).run(),
        run.roster.benches.of(recsys_judge),
        recsys_aspects,
        run.settings.seed,
        (recsys.model, spec),
        recsys.design,
    )


@pytest.fixture
def recsys_league(
    request: pytest.FixtureRequest, recsys_judge: Judge | Bench, recsys_aspects: tuple[Aspect, ...]
) -> League:
    """All recommenders of the run, with the judge: those under test and the baseline, which is the last."""
    from pytest_recsys_mt.arena import League
    from pytest_recsys_mt.plugin.items import design_of

    run = run_of(request.config)
    settings = run.settings
    baseline = settings.against or BASELINE
    specs = [spec for spec in settings.models if spec != baseline]
    specs.append(baseline)
    if len(specs) < 3:
        raise DoesNotApply(
            f"needs three recommenders, got {', '.join(specs)}: give --recsys-model several times"
        )
    design = design_of(request.node, settings.design)
    systems = {spec: _other(request, spec, design) for spec in specs}
    running = running_test_of(request.node)
    running.recsys = systems[specs[0]]
    running.model = ", ".join(specs)
    return League(
        {spec: recsys.run() for spec, recsys in systems.items()},
        run.roster.benches.of(recsys_judge),
        recsys_aspects,
        settings.seed,
        design,
    )


def _other(request: pytest.FixtureRequest, spec: str, design: Design) -> Recsys:
    """Another recommender than the one under test, on requests of the same design."""
    from pytest_recsys_mt.engine.recsys import Recsys

    run = run_of(request.config)
    recommender = run.roster.recommender(spec)
    return Recsys(
        lambda design: run.runner(recommender, spec, design),
        design,
        running_test_of(request.node).report,
    )


@pytest.fixture
def recsys_profiler(request: pytest.FixtureRequest, recsys: Recsys) -> Texts:
    """The text model that describes users: that of recsys_profiler, else the one under test."""
    from pytest_recsys_mt.errors import NotApplicable

    run = run_of(request.config)
    spec = run.settings.profiler
    try:
        if spec is None:
            return recsys.runner.texts("profile")
        return run.roster.texts(spec, "profile")
    except NotApplicable as reason:
        raise DoesNotApply(str(reason)) from None


def _given(settings: Settings, name: str, what: str) -> str:
    """The spec that an option gives; without it the test is skipped, as it needs `what`."""
    spec: str | None = getattr(settings, name)
    if spec is None:
        raise DoesNotApply(f"needs {what}: give {typed(name)}=SPEC")
    return spec
