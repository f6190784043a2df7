"""What all tests of one run share: the data, the recommenders, the cache, the calls."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pytest_recsys_mt.cache import AnswerCache
from pytest_recsys_mt.cases import Split
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.execution import Executor
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.requests import TextModel
from pytest_recsys_mt.runner import Runner
from pytest_recsys_mt.settings import PROMPT, Design, Settings
from pytest_recsys_mt.subject import Subject, subject


class Session:
    """Made once a process, when the first test needs it; nothing is loaded before it is used.

    Args:
        settings: Of the run.
        run: Name of the run, the same for all its workers.
    """

    def __init__(self, settings: Settings, run: str) -> None:
        self.settings = settings
        self._run = run
        self._recommenders: dict[str, object] = {}
        self._subjects: dict[tuple[str, str], Subject] = {}
        self._runners: dict[tuple[str, Design], Runner] = {}

    @cached_property
    def split(self) -> Split:
        """The data, with what is held out."""
        return Split(load(self.settings.data), self.settings.seed)

    @cached_property
    def cache(self) -> AnswerCache:
        """The answers of this and earlier runs."""
        return AnswerCache(self.settings.cache)

    @cached_property
    def executor(self) -> Executor:
        """Puts the calls."""
        return Executor(self.cache, self.settings.mode, self._run)

    def recommender(self, spec: str) -> object:
        """The recommender that `spec` names; the same object every time."""
        if spec not in self._recommenders:
            self._recommenders[spec] = resolve(spec)
        return self._recommenders[spec]

    def name_of(self, recommender: object, parameter: Any) -> str:
        """The spec that made `recommender`, or ``fixture:NAME`` for one that a fixture gave."""
        for spec, known in self._recommenders.items():
            if known is recommender:
                return spec
        name = getattr(recommender, "name", None)
        if not isinstance(name, str):
            name = getattr(recommender, "__name__", None) or type(recommender).__name__
        return f"fixture:{name}" if parameter is None else f"fixture:{name}[{parameter}]"

    def subject(self, recommender: object, name: str, prompt: str | None = None) -> Subject:
        """`recommender`, fitted and wrapped.

        Args:
            recommender: Under test.
            name: As reports know it.
            prompt: The template for a text model where the settings name none.
        """
        template = ""
        if isinstance(recommender, TextModel):
            template = self.settings.prompt or prompt or PROMPT
        known = self._subjects.get((name, template))
        if known is None:
            if isinstance(recommender, type):
                recommender = recommender()
            known = subject(recommender, name, template or PROMPT)
            known.fit(self.split.training, self.settings.seed)
            self._subjects[name, template] = known
        return known

    def runner(self, recommender: object, name: str, design: Design) -> Runner:
        """The runner of one recommender and one design; the same object every time."""
        key = (name, design)
        if key not in self._runners:
            known = self.subject(recommender, name, design.prompt)
            self._runners[key] = Runner(known, self.split, design, self.settings, self.executor)
        return self._runners[key]

    def close(self) -> None:
        """Let go of the cache and of the recommenders that hold anything."""
        if "cache" in self.__dict__:
            self.cache.close()
        for recommender in self._recommenders.values():
            close = getattr(recommender, "close", None)
            if callable(close):
                close()
