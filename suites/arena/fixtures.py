"""The fixtures of the arena, a plugin of pytest: the judge, two recommenders, and all
of them.

Every pytest run of an environment imports this module, so it imports nothing heavy.
PYTEST_DONT_REWRITE: it has no assertions to explain, see `plugin.plain_imports`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_recsys_mt import NotApplicable

if TYPE_CHECKING:
    from pytest_recsys_mt.suites.arena import (
        Arena,
        Aspect,
        Judge,
        JudgeRunner,
        JudgeRunners,
        League,
    )

BASELINE = "mostpop"
"""The opponent if --recsys-against is not given."""

BOUNDED = "which questions a judge gets depends on answers"
"""Why a plan names the most calls, and not the calls."""


@pytest.fixture(scope="session")
def recsys_judge_runners(recsys_session: Any) -> JudgeRunners:
    """The judges of the run, each made once."""
    from pytest_recsys_mt.suites.arena import JudgeRunners

    return JudgeRunners(recsys_session)


@pytest.fixture(scope="session")
def recsys_judge(
    recsys_session: Any,
    recsys_judge_runners: JudgeRunners,
) -> Judge | JudgeRunner:
    """The judge that --recsys-judge names; override it to use your own."""
    spec = recsys_session.option("judge")
    if spec is None:
        raise NotApplicable(
            "needs a judge, which is a language model or any object with judge(comparisons): give --recsys-judge=SPEC",
        )
    return recsys_judge_runners.named(spec)


@pytest.fixture(scope="session")
def recsys_aspects() -> tuple[Aspect, ...]:
    """The aspects judged besides the overall quality; override it to add your own."""
    from pytest_recsys_mt.suites.arena import ASPECTS

    return ASPECTS


@pytest.fixture
def recsys_arena(
    recsys_judge: Judge | JudgeRunner,
    recsys_aspects: tuple[Aspect, ...],
    recsys: Any,
    recsys_recommenders: Any,
    recsys_session: Any,
    recsys_judge_runners: JudgeRunners,
) -> Arena:
    """The recommender under test against the one that
    --recsys-against names, with the judge.
    """
    from pytest_recsys_mt.suites.arena import Arena

    against = recsys_session.option("against")
    if against is None and recsys.model == BASELINE:
        raise NotApplicable(
            f"{BASELINE} is what others are compared with: give --recsys-against=SPEC",
        )
    spec = against or BASELINE
    recsys_recommenders.plans_at_most(BOUNDED)
    return Arena(
        recsys.run(),
        recsys_recommenders(spec).run(),
        recsys_judge_runners.of(recsys_judge),
        recsys_aspects,
        recsys_session.option("seed"),
        (recsys.model, spec),
        recsys.design,
    )


@pytest.fixture
def recsys_league(
    recsys_judge: Judge | JudgeRunner,
    recsys_aspects: tuple[Aspect, ...],
    recsys_recommenders: Any,
    recsys_session: Any,
    recsys_judge_runners: JudgeRunners,
) -> League:
    """All recommenders of the run, with the judge: those under
    test and the baseline, which is the last.
    """
    from pytest_recsys_mt.suites.arena import League

    baseline = recsys_session.option("against") or BASELINE
    specs = [spec for spec in recsys_session.option("model") if spec != baseline]
    specs.append(baseline)
    if len(specs) < 3:
        raise NotApplicable(
            f"needs three recommenders, got {', '.join(specs)}: give --recsys-model several times",
        )
    recsys_recommenders.plans_at_most(BOUNDED)
    systems = recsys_recommenders.compared(specs)
    return League(
        {spec: recsys.run() for spec, recsys in systems.items()},
        recsys_judge_runners.of(recsys_judge),
        recsys_aspects,
        recsys_session.option("seed"),
        recsys_recommenders.design,
    )
