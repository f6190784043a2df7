"""The judges of a run, each at its bench, made once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from pytest_recsys_mt.engine.plan import Plan

if TYPE_CHECKING:
    from pytest_recsys_mt.arena import Bench, Judge
    from pytest_recsys_mt.engine.run import Run


class Benches:
    """Makes each judge once per process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[Hashable, Bench] = {}

    def named(self, spec: str) -> Bench:
        """The judge that `spec` names: a judge object, or a text model asked to judge."""
        from pytest_recsys_mt.arena import Bench, Judge, LanguageJudge

        roster = self._run.roster
        if spec not in self._known:
            made = roster.judge_named(spec)
            if isinstance(made, Judge):
                self._known[spec] = self._seat(made, spec)
            else:
                described = self._run.settings.profiler
                profiler = None if described is None else roster.texts(described, "profile")
                judge = LanguageJudge(roster.texts(spec, "judge"), profiler)
                self._known[spec] = Bench(judge, spec, self._run.executor.failures)
        return self._known[spec]

    def of(self, judge: Judge | Bench) -> Bench:
        """The bench of a judge from a fixture; the same for the same judge."""
        from pytest_recsys_mt.arena import Bench

        if isinstance(judge, Bench):
            return judge
        known = self._known.get(id(judge))
        if known is None or known.judge is not judge:
            name = getattr(judge, "name", None)
            named = name if isinstance(name, str) else type(judge).__name__
            known = self._seat(judge, f"fixture:{named}")
            self._known[id(judge)] = known
        return known

    def _seat(self, judge: Judge, name: str) -> Bench:
        from pytest_recsys_mt.arena import Bench

        executor = self._run.executor
        planned = executor.planned_questions if isinstance(executor, Plan) else None
        return Bench(judge, name, executor.failures, planned)
