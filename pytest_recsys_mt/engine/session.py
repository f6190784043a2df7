"""What all tests of one run share: the data, the recommenders, the cache, the calls."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_recsys_mt.abilities import fingerprint_of, method_of
from pytest_recsys_mt.arena import Bench, Judge, LanguageJudge
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.executor import Ask, Counted, Executor
from pytest_recsys_mt.calls.failures import Told
from pytest_recsys_mt.calls.limits import Budget, account
from pytest_recsys_mt.calls.prices import Prices
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.subject import Subject, subject
from pytest_recsys_mt.calls.texts import Texts
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.design import PROMPT, Design
from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.engine.drift import asked_again
from pytest_recsys_mt.engine.elsewhere import Elsewhere
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.engine.sides import RunAnswers
from pytest_recsys_mt.engine.user_sample import accepted_draw
from pytest_recsys_mt.errors import NotApplicable, OwnCodeError
from pytest_recsys_mt.gate.document import Drift
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.own_objects import JUDGES, RECOMMENDS
from pytest_recsys_mt.recommenders.registry import makes_anew
from pytest_recsys_mt.recommenders.trained import Trained
from pytest_recsys_mt.requests import Recommender, Request, TextModel
from pytest_recsys_mt.seeds import generator
from pytest_recsys_mt.specs import resources

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.remote import Needs, RayCalls, Recipe
    from pytest_recsys_mt.engine.given import Given


def made_from(
    spec: str, exact: bool, max_wait: float, cache: Path, verbs: Sequence[str] = RECOMMENDS
) -> Recommender | TextModel:
    """The recommender that `spec` names, with the options for all recommenders."""
    made = resolve(spec, exact=exact, verbs=verbs)
    if getattr(made, "max_wait", 0) is None:
        made.max_wait = max_wait  # type: ignore[union-attr]
    if isinstance(made, Trained) and made.folder is None:
        made.folder = cache / "models"
    return made


@dataclass(frozen=True)
class Fit:
    """The data and the seed that a recommender is fitted with; see `Design`."""

    history: int | None = None
    initialisation: int = 0


USUAL = Fit()


class Session:
    """Made once per process, when the first test needs it; loads each part at its first use.

    Args:
        settings: The settings of the run.
        run: Name of the run, the same for all its workers.
        progress: Shown while calls are sent.
    """

    def __init__(self, settings: Settings, run: str, progress: Progress | None = None) -> None:
        self.settings = settings
        self._progress = progress
        self._begun: set[Hashable] = set()
        self._run = run
        self._recommenders: dict[str, object] = {}
        self._subjects: dict[tuple[str, str, str, Fit], Subject] = {}
        self._unfit: dict[tuple[str, str, str, Fit], OwnCodeError] = {}
        self._trainings: dict[int, Dataset] = {}
        self._runners: dict[tuple[str, str, Design], Runner] = {}
        self._benches: dict[Hashable, Bench] = {}

    @cached_property
    def dataset(self) -> Dataset:
        """The data of the run.

        Raises:
            DataError: If the data are unavailable or unreadable.
        """
        dataset = load(self.settings.data)
        return dataset.core(self.settings.core) if self.settings.core else dataset

    @cached_property
    def split(self) -> Split:
        """The data, split into training and held-out interactions."""
        split = Split(self.dataset, self.settings.seed, recall=self._recall)
        if self.settings.sampler is None:
            return split
        spec, limit = self.settings.sampler, self.settings.timeout
        fitted = subject(self._made(spec), spec, PROMPT, timeout=limit)
        self._fit(fitted, split.training, self.settings.seed)
        everybody = replace(self.settings.design, users=max(2, len(split.held_out)))
        runner = Runner(fitted, split, everybody, self.settings, self.executor)
        answers = RunAnswers(runner, runner.context(lambda verdict: verdict))
        return replace(split, draw=accepted_draw(split, answers, self.settings.design))

    def _recall(self, requests: Sequence[Request]) -> list[list[tuple[str, ...]]]:
        """The top lists of the recommenders of ``--recsys-recall``, by request."""
        lists: list[list[tuple[str, ...]]] = [[] for _ in requests]
        for spec in self.settings.recall:
            fitted = self.subject(self.recommender(spec), spec)
            calls = [fitted.call(request, repeat=False) for request in requests]
            answers = self.executor.execute(fitted, calls)
            for known, request, answer in zip(lists, requests, answers, strict=True):
                with contextlib.suppress(NotApplicable):
                    known.append(fitted.read(request, answer).items)
        return lists

    @property
    def data_digest(self) -> str:
        """SHA-256 of the data; empty if no test needed them, or if the run writes no file."""
        told = (
            self.settings.json is not None
            or self.settings.html is not None
            or self.settings.ask_everybody
        )
        return self.split.dataset.digest if told and "split" in self.__dict__ else ""

    @cached_property
    def cache(self) -> AnswerCache:
        """The answers of this and earlier runs."""
        settings = self.settings
        # The cache counts the replays of objects that are asked anew in each run, in its folder.
        return AnswerCache(settings.cache, write=settings.mode != "replay" or bool(settings.limits))

    @cached_property
    def executor(self) -> Executor:
        """Sends the calls."""
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
        """Sends the calls to a Ray cluster; None if they stay in this process."""
        if self.settings.executor == "local" or self.settings.mode == "replay":
            return None
        from pytest_recsys_mt.calls.remote import RayCalls

        return RayCalls(lambda: self.split.training)

    def _recipe(
        self, recommender: object, name: str, prompt: str, fixture: str
    ) -> tuple[Recipe, object, Needs]:
        """How an actor makes `recommender`, and what it needs: from its spec, if it has one."""
        from pytest_recsys_mt.calls.remote import Needs, Recipe, itself

        seed = self.settings.seed
        limit = self.settings.timeout
        if self._recommenders.get(name) is not recommender:
            recipe = Recipe(name, partial(itself, recommender), prompt, seed, fixture, limit)
            return recipe, recommender, Needs()
        options = (self.settings.exact, self.settings.max_wait, self.settings.cache)
        make = partial(made_from, name, *options)
        return Recipe(name, make, prompt, seed, timeout=limit), None, Needs(**resources(name)[1])

    def begins(self, what: Hashable) -> bool:
        """True on the first call for `what`."""
        if what in self._begun:
            return False
        self._begun.add(what)
        return True

    def recommender(self, spec: str) -> object:
        """The recommender that `spec` names; the same object every time."""
        if spec not in self._recommenders:
            self._recommenders[spec] = self._made(spec)
        return self._recommenders[spec]

    def _made(self, spec: str) -> object:
        options = (self.settings.exact, self.settings.max_wait, self.settings.cache)
        made = made_from(spec, *options)
        if isinstance(made, Trained) and self._progress is not None:
            made.stream = self._progress.line()
        return made

    def name_of(self, recommender: object, given: Given | None) -> tuple[str, str]:
        """The name of a recommender, and the fixture that gave it.

        Args:
            recommender: The recommender under test.
            given: The source of the test's recommender.

        Returns:
            The spec that made it and an empty text; or ``fixture:NAME`` and what distinguishes the
            fixture from others whose recommender has the same name.
        """
        for spec, known in self._recommenders.items():
            if known is recommender:
                return spec, ""
        name = getattr(recommender, "name", None)
        if not isinstance(name, str):
            name = getattr(recommender, "__name__", None) or type(recommender).__name__
        parameters = "" if given is None else "-".join(given.parameters)
        place = "" if given is None else given.place(fingerprint_of(recommender))
        return f"fixture:{name}[{parameters}]" if parameters else f"fixture:{name}", place

    def subject(
        self,
        recommender: object,
        name: str,
        prompt: str | None = None,
        fit: Fit = USUAL,
        fixture: str = "",
    ) -> Subject:
        """`recommender`, fitted and wrapped.

        Args:
            recommender: The recommender under test.
            name: Its name in reports.
            prompt: The template for a text model if the settings name none.
            fit: What it is fitted to; a text model is not fitted.
            fixture: The fixture that gave it; empty for a spec.

        Raises:
            NotApplicable: If it cannot be fitted in that way.
        """
        template = ""
        if isinstance(recommender, TextModel):
            template, fit = self.settings.prompt or prompt or PROMPT, USUAL
        key = (name, fixture, template, fit)
        known = self._subjects.get(key)
        if known is None:
            if fit != USUAL:
                recommender = self._anew(recommender, name)
            elif isinstance(recommender, type):
                recommender = recommender()
            if key in self._unfit:
                raise self._unfit[key]
            limit = self.settings.timeout
            known = subject(recommender, name, template or PROMPT, fixture, limit)
            if self._ray is not None:
                self._ray.know(known, *self._recipe(recommender, name, template or PROMPT, fixture))
            training, seed = self._training(fit.history), self._seed(fit.initialisation)
            try:
                self._fit(known, training, seed)
            except OwnCodeError as error:
                self._unfit[key] = error
                raise
            self._subjects[key] = known
        return known

    def _fit(self, known: Subject, training: Dataset, seed: int) -> None:
        """Fit a recommender.

        Raises:
            OwnCodeError: If its `fit` raises.
        """
        with self.executor.failures.outside_calls(known.name, f"fit() of {known.name}"):
            known.fit(training, seed)

    def _anew(self, recommender: object, name: str) -> object:
        """Another recommender like `recommender`, which is fitted already or will be.

        Raises:
            NotApplicable: If no second one can be made.
        """
        if self._ray is not None:
            raise NotApplicable("with --recsys-executor=ray a recommender is fitted once only")
        if isinstance(recommender, type):
            return recommender()
        if self._recommenders.get(name) is recommender:
            made = self._made(name)
            if made is not recommender:
                return made
        if not hasattr(recommender, "fit"):
            return recommender
        raise NotApplicable(
            f"{name} is one object, and is fitted once only; name its class instead"
        )

    def _training(self, history: int | None) -> Dataset:
        """The data that recommenders are fitted to.

        Raises:
            NotApplicable: If there are no data.
        """
        if history is None:
            return self.split.training
        if history == 0:
            raise NotApplicable("without history there is nothing to fit a recommender to")
        if history not in self._trainings:
            self._trainings[history] = self.split.training.latest(history)
        return self._trainings[history]

    def _seed(self, initialisation: int) -> int:
        """The seed that a recommender is fitted with."""
        seed = self.settings.seed
        if not initialisation:
            return seed
        return int(generator(seed, "initialisation", initialisation).integers(2**31))

    def runner(self, recommender: object, name: str, design: Design, fixture: str = "") -> Runner:
        """The runner of one recommender and one design; the same object every time."""
        key = (name, fixture, design)
        if key not in self._runners:
            fit = Fit(design.training_history, design.initialisation)
            known = self.subject(recommender, name, design.prompt, fit, fixture)
            elsewhere = self._elsewhere(recommender, name, design)
            self._runners[key] = Runner(
                known, self.split, design, self.settings, self.executor, elsewhere
            )
        return self._runners[key]

    def _elsewhere(self, recommender: object, name: str, design: Design) -> Ask | str:
        """Sends calls to a recommender made anew in another process, or says why that fails."""
        if self._recommenders.get(name) is not recommender:
            return (
                "a fixture gives the recommender, and no other process has it; name it by a spec, "
                "--recsys-model=package.module:name"
            )
        if name.startswith("__main__:") or not makes_anew(name):
            return f"{name} does not run in this process, or is too large for two processes"
        return Elsewhere(self.settings, name, design)

    def texts(self, spec: str) -> Texts:
        """The text model that `spec` names, for a test's own prompts.

        Raises:
            NotApplicable: If it reads no text.
        """
        return Texts(self.subject(self.recommender(spec), spec), self.executor)

    def bench(self, spec: str) -> Bench:
        """The judge that `spec` names: a judge object, or a text model asked to judge.

        Raises:
            RecommenderError: If the spec does not name a judge.
        """
        if spec not in self._benches:
            settings = self.settings
            options = (settings.exact, settings.max_wait, settings.cache)
            made = made_from(spec, *options, JUDGES)
            if isinstance(made, Judge):
                self._benches[spec] = Bench(made, spec, self.executor.failures)
            else:
                self._recommenders.setdefault(spec, made)
                profiler = None if settings.profiler is None else self.texts(settings.profiler)
                self._benches[spec] = Bench(
                    LanguageJudge(self.texts(spec), profiler), spec, self.executor.failures
                )
        return self._benches[spec]

    def bench_of(self, judge: Judge | Bench) -> Bench:
        """The bench of a judge from a fixture; the same for the same judge."""
        if isinstance(judge, Bench):
            return judge
        known = self._benches.get(id(judge))
        if known is None or known.judge is not judge:
            name = getattr(judge, "name", None)
            named = name if isinstance(name, str) else type(judge).__name__
            known = Bench(judge, f"fixture:{named}", self.executor.failures)
            self._benches[id(judge)] = known
        return known

    def begin(self) -> None:
        """Begin a test, or none: from now on, use what earlier tests found about recommenders."""
        for known in self._subjects.values():
            known.wavers = "told" if known.wavered == "told" else known.wavers or known.wavered

    def drifts(self) -> list[Drift]:
        """The result for each recommender after some of its first requests are sent once more."""
        if self.settings.mode == "replay":
            return []
        self.begin()
        runners: dict[int, Runner] = {}
        for runner in self._runners.values():
            if runner.asked_apart:
                runners.setdefault(id(runner.subject), runner)
        return [found for found in map(asked_again, runners.values()) if found is not None]

    def raised(self, text: str, model: str) -> list[Told]:
        """What users' code raised; see `Failures.named_in`."""
        asked = "executor" in self.__dict__
        return self.executor.failures.named_in(text, model) if asked else []

    def drain(self) -> dict[str, list[Counted]]:
        """The results of the calls that are not counted yet; see `Executor.drain`."""
        return self.executor.drain() if "executor" in self.__dict__ else {}

    def close(self) -> None:
        """Release the cache, the actors and the recommenders that hold resources."""
        if self.__dict__.get("_ray") is not None:
            self.__dict__["_ray"].close()
        if "cache" in self.__dict__:
            self.cache.close()
        for recommender in self._recommenders.values():
            close = method_of(recommender, "close")
            if callable(close):
                close()
