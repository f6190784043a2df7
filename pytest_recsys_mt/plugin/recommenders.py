"""Recommenders other than the one under test: the fixture `recsys_recommenders`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import RecommenderError

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.ledger import RunningTest
    from pytest_recsys_mt.engine.run import Run


@dataclass(frozen=True)
class Recommenders:
    """Makes recommenders of specs, each once for all tests, and sends them the
    requests of one test.

    Attributes:
        design: How the requests of the test are made.
    """

    _run: Run
    _running: RunningTest
    _nodeid: str
    design: Design

    def __call__(self, spec: str) -> Recsys:
        """The recommender that a spec names.

        Raises:
            RecommenderError: If the spec is unknown or cannot be built.
        """
        if not isinstance(spec, str):
            raise RecommenderError(
                f"recsys_recommenders({spec!r}): a spec is needed, such as 'mostpop'",
            )
        recommender = self._run.recommenders.recommender(spec)
        return Recsys(
            lambda design: self._run.runner(recommender, spec, design),
            self.design,
            self._running.report,
        )

    def compared(self, specs: Sequence[str]) -> dict[str, Recsys]:
        """Several recommenders that the test is about, instead of `recsys`: its
        verdicts name them all.

        Args:
            specs: Their specs, one or more.

        Returns:
            The recommenders by their specs.

        Raises:
            RecommenderError: If there is none, a spec is unknown, or the test uses
                `recsys` too.
        """
        if isinstance(specs, str) or not specs:
            raise RecommenderError(
                f"recsys_recommenders.compared({specs!r}): a list of specs is needed, such as ['itemknn', 'mostpop']",
            )
        if self._running.recsys is not None:
            raise RecommenderError(
                "recsys_recommenders.compared() names what the test is about, and the test uses recsys too: take its "
                "recommender from compared(), or the others from recsys_recommenders(SPEC)",
            )
        found = {spec: self(spec) for spec in specs}
        self._running.recsys = found[specs[0]]
        self._running.model = ", ".join(specs)
        return found

    def plans_at_most(self, reason: str) -> None:
        """Say in a plan that it names the most calls of the test, since its calls
        depend on answers; say why.
        """
        if self._run.settings.plan:
            self._run.plan.bounded[self._nodeid] = reason
