"""The parts of a run for a suite's own fixtures: the fixture `recsys_session`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.calls.call import Purpose
from pytest_recsys_mt.calls.failures import Failures
from pytest_recsys_mt.engine.plan import Plan

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.texts import Texts
    from pytest_recsys_mt.engine.run import Run


class Session:
    """The run, for fixtures that send calls to something else
    than the recommender under test.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def option(self, name: str) -> Any:
        """The value of an option of the run or of a suite: ``option("seed")`` is that
        of ``--recsys-seed``.

        An option that may be repeated has a tuple of values. How requests are made is
        `recsys_recommenders.design`.

        Raises:
            RecommenderError: If there is no such option.
        """
        return self._run.settings.option(name)

    def made(self, spec: str, verbs: Sequence[str]) -> object:
        """The object that `spec` names, made once more. It must have one of the methods
        `verbs`.

        Raises:
            RecommenderError: If the spec is unknown or cannot be built.
        """
        return self._run.recommenders.object_named(spec, verbs)

    def texts(self, spec: str, purpose: Purpose, model: object | None = None) -> Texts:
        """The text model that `spec` names, for prompts of a suite, through the cache
        and the limits of the run.

        Args:
            spec: Spec of a language model.
            purpose: The purpose that its calls are counted for.
            model: The model, if `made` has made it already.

        Raises:
            NotApplicable: If it reads no text.
        """
        if model is not None:
            self._run.recommenders.know(spec, model)
        return self._run.recommenders.texts(spec, purpose)

    @property
    def failures(self) -> Failures:
        """Names the objects of users that raise: ``with
        session.failures.outside_calls(name, what): ...``.
        """
        return self._run.executor.failures

    @property
    def planned_questions(self) -> Callable[[str, int], None] | None:
        """Counts questions to an object that are not sent, by its name, if the run is
        only planned; else None.
        """
        executor = self._run.executor
        return executor.planned_questions if isinstance(executor, Plan) else None
