"""The judges of a run, each at its bench, made once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from pytest_recsys_mt.suites.arena.bench import Bench
from pytest_recsys_mt.suites.arena.judging import Judge
from pytest_recsys_mt.suites.arena.language_judge import LanguageJudge
from pytest_recsys_mt.suites.arena.options import JUDGES

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.session import Session


class Benches:
    """Makes each judge once per process."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[Hashable, Bench] = {}

    def named(self, spec: str) -> Bench:
        """The judge that `spec` names: a judge object, or a text model asked to judge."""
        if spec not in self._known:
            made = self._session.made(spec, JUDGES)
            if isinstance(made, Judge):
                self._known[spec] = self._seat(made, spec)
            else:
                described = self._session.option("profiler")
                texts = self._session.texts
                profiler = None if described is None else texts(described, "profile")
                judge = LanguageJudge(texts(spec, "judge", made), profiler)
                self._known[spec] = Bench(judge, spec, self._session.failures)
        return self._known[spec]

    def of(self, judge: Judge | Bench) -> Bench:
        """The bench of a judge from a fixture; the same for the same judge."""
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
        session = self._session
        return Bench(judge, name, session.failures, session.planned_questions)
