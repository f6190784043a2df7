"""What all tests of one run share: the data, the recommenders, the cache, the calls."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.cache import AnswerCache
from pytest_recsys_mt.cases import Split
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.execution import Executor
from pytest_recsys_mt.limits import Budget, account
from pytest_recsys_mt.options import PROMPT
from pytest_recsys_mt.parameters import resources
from pytest_recsys_mt.prices import Prices
from pytest_recsys_mt.progress import Progress
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.trained import Trained
from pytest_recsys_mt.requests import Recommender, TextModel
from pytest_recsys_mt.runner import Runner
from pytest_recsys_mt.settings import Design, Settings
from pytest_recsys_mt.subject import Subject, subject
from pytest_recsys_mt.texts import Texts

if TYPE_CHECKING:
    from pytest_recsys_mt.remote import Needs, RayCalls, Recipe


def made_from(spec: str, exact: bool, max_wait: float, cache: Path) -> Recommender | TextModel:
    """The recommender that `spec` names, with what the options say of all recommenders."""
    made = resolve(spec, exact=exact)
    if getattr(made, "max_wait", 0) is None:
        made.max_wait = max_wait  # type: ignore[union-attr]
    if isinstance(made, Trained) and made.folder is None:
        made.folder = cache / "models"
    return made


class Session:
    """Made once a process, when the first test needs it; nothing is loaded before it is used.

    Args:
        settings: Of the run.
        run: Name of the run, the same for all its workers.
        progress: Shown while calls are put.
    """

    def __init__(self, settings: Settings, run: str, progress: Progress | None = None) -> None:
        self.settings = settings
        self._progress = progress
        self._begun: set[Hashable] = set()
        self._run = run
        self._recommenders: dict[str, object] = {}
        self._subjects: dict[tuple[str, str], Subject] = {}
        self._runners: dict[tuple[str, Design], Runner] = {}

    @cached_property
    def split(self) -> Split:
        """The data, with what is held out."""
        return Split(load(self.settings.data), self.settings.seed)

    @property
    def data_digest(self) -> str:
        """SHA-256 of the data; empty where no test needed them, or no file tells of the run."""
        told = (
            self.settings.json is not None or self.settings.html is not None or self.settings.whole
        )
        return self.split.dataset.digest if told and "split" in self.__dict__ else ""

    @cached_property
    def cache(self) -> AnswerCache:
        """The answers of this and earlier runs."""
        return AnswerCache(self.settings.cache)

    @cached_property
    def executor(self) -> Executor:
        """Puts the calls."""
        limits = self.settings.limits
        return Executor(
            self.cache,
            self.settings.mode,
            self._run,
            None if self._ray is None else self._ray.ask,
            prices=Prices.load(self.settings.prices),
            budget=Budget(limits, account(self.settings.cache, self._run)) if limits else None,
            progress=self._progress,
        )

    @cached_property
    def _ray(self) -> RayCalls | None:
        """Puts the calls where they go to a Ray cluster; None where they stay in this process."""
        if self.settings.executor == "local" or self.settings.mode == "replay":
            return None
        from pytest_recsys_mt.remote import RayCalls

        return RayCalls(lambda: self.split.training)

    def _recipe(self, recommender: object, name: str, prompt: str) -> tuple[Recipe, object, Needs]:
        """How an actor makes `recommender`, and what it needs: by its spec, where it has one."""
        from pytest_recsys_mt.remote import Needs, Recipe, itself

        seed = self.settings.seed
        if self._recommenders.get(name) is not recommender:
            return Recipe(name, partial(itself, recommender), prompt, seed), recommender, Needs()
        options = (self.settings.exact, self.settings.max_wait, self.settings.cache)
        make = partial(made_from, name, *options)
        return Recipe(name, make, prompt, seed), None, Needs(**resources(name)[1])

    def begins(self, what: Hashable) -> bool:
        """Whether this is the first time that anyone says that `what` begins."""
        if what in self._begun:
            return False
        self._begun.add(what)
        return True

    def recommender(self, spec: str) -> object:
        """The recommender that `spec` names; the same object every time."""
        if spec not in self._recommenders:
            options = (self.settings.exact, self.settings.max_wait, self.settings.cache)
            made = self._recommenders[spec] = made_from(spec, *options)
            if isinstance(made, Trained) and self._progress is not None:
                made.stream = self._progress.line()
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
            if self._ray is not None:
                self._ray.know(known, *self._recipe(recommender, name, template or PROMPT))
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

    def texts(self, spec: str) -> Texts:
        """The text model that `spec` names, for prompts of a test's own.

        Raises:
            NotApplicable: If it reads no text.
        """
        return Texts(self.subject(self.recommender(spec), spec), self.executor)

    def close(self) -> None:
        """Let go of the cache, the actors and the recommenders that hold anything."""
        if self.__dict__.get("_ray") is not None:
            self.__dict__["_ray"].close()
        if "cache" in self.__dict__:
            self.cache.close()
        for recommender in self._recommenders.values():
            close = getattr(recommender, "close", None)
            if callable(close):
                close()
