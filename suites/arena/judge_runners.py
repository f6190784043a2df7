"""The judges of a run, each made once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from pytest_recsys_mt.suites.arena.judge_runner import JudgeRunner
from pytest_recsys_mt.suites.arena.judging import Judge
from pytest_recsys_mt.suites.arena.language_judge import LanguageJudge
from pytest_recsys_mt.suites.arena.options import JUDGES

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.session import Session


class JudgeRunners:
    """Makes each judge once per process."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[Hashable, JudgeRunner] = {}

    def named(self, spec: str) -> JudgeRunner:
        """The judge that `spec` names: a judge object, or a text model asked to judge."""
        if spec not in self._known:
            made = self._session.made(spec, JUDGES)
            if isinstance(made, Judge):
                self._known[spec] = self._runner_of(made, spec)
            else:
                described = self._session.option("profiler")
                texts = self._session.texts
                profiler = None if described is None else texts(described, "profile")
                judge = LanguageJudge(texts(spec, "judge", made), profiler)
                self._known[spec] = JudgeRunner(judge, spec, self._session.failures)
        return self._known[spec]

    def of(self, judge: Judge | JudgeRunner) -> JudgeRunner:
        """The runner of a judge from a fixture; the same for the same judge."""
        if isinstance(judge, JudgeRunner):
            return judge
        known = self._known.get(id(judge))
        if known is None or known.judge is not judge:
            name = getattr(judge, "name", None)
            named = name if isinstance(name, str) else type(judge).__name__
            known = self._runner_of(judge, f"fixture:{named}")
            self._known[id(judge)] = known
        return known

    def _runner_of(self, judge: Judge, name: str) -> JudgeRunner:
        session = self._session
        return JudgeRunner(judge, name, session.failures, session.planned_questions)
