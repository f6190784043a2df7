"""The recommenders and judges of a run: made once,
fitted once for each purpose, and named.
"""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_recsys_mt.calls.causes import Purpose
from pytest_recsys_mt.calls.executor import Ask
from pytest_recsys_mt.calls.recommender_subject import RecommenderSubject
from pytest_recsys_mt.calls.subject import Difference, Subject
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.datasets.dataset import Dataset, Renamed
from pytest_recsys_mt.engine.elsewhere import Elsewhere
from pytest_recsys_mt.engine.refits import Change, Refits
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.own_objects import RECOMMENDS
from pytest_recsys_mt.recommenders.registry import makes_anew
from pytest_recsys_mt.recommenders.trained import Trained
from pytest_recsys_mt.requests import Recommender, TextModel
from pytest_recsys_mt.requests.abilities import (
    check_declared,
    method_of,
    misspelt,
    notes_of,
)
from pytest_recsys_mt.requests.design import PROMPT, Design
from pytest_recsys_mt.requests.seeds import generator
from pytest_recsys_mt.requests.specs import resources
from pytest_recsys_mt.safety.errors import (
    DataError,
    NotApplicable,
    OwnCodeError,
    RecommenderError,
)
from pytest_recsys_mt.safety.redaction import redact, shown
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.remote import Needs, Recipe
    from pytest_recsys_mt.calls.texts import Texts
    from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.refits import USUAL, Fit


def made_from(
    spec: str,
    exact: bool,
    max_wait: float,
    cache: Path,
    ahead: bool,
    verbs: Sequence[str] = RECOMMENDS,
) -> Recommender | TextModel:
    """The recommender that `spec` names, with the options for all recommenders."""
    made = resolve(spec, exact=exact, verbs=verbs)
    if getattr(made, "max_wait", 0) is None:
        made.max_wait = max_wait  # type: ignore[union-attr]
    if getattr(made, "ahead", None) is False:
        made.ahead = ahead  # type: ignore[union-attr]
    if isinstance(made, Trained) and made.folder is None:
        made.folder = cache / "models"
    return made


class RunRecommenders:
    """Makes each recommender once per process, and fits it once for each purpose.

    It needs the executor and the data of the run when a call is sent or a recommender
    is fitted, not before.
    """

    def __init__(self, run: Run) -> None:
        self.settings = run.settings
        self._run = run
        self._recommenders: dict[str, object] = {}
        self._subjects: dict[tuple[str, str, str, Fit], Subject] = {}
        self._unfit: dict[tuple[str, str, str, Fit], OwnCodeError] = {}
        self._trainings: dict[tuple[int | None, int], Dataset] = {}
        self._changed: tuple[Fit, Renamed] | None = None
        self._refitted: OrderedDict[tuple[str, str, Fit], Subject] = OrderedDict()

    def recommender(self, spec: str) -> object:
        """The recommender that `spec` names; the same object every time."""
        if spec not in self._recommenders:
            self._recommenders[spec] = self.made(spec)
        return self._recommenders[spec]

    @property
    def _options(self) -> tuple[bool, float, Path, bool]:
        given = self.settings
        return given.exact, given.max_wait, given.cache, not given.every_limit

    @property
    def notes(self) -> list[str]:
        """What the recommenders of specs note, in safe lines."""
        notes = []
        for recommender in self._recommenders.values():
            notes += [*misspelt(recommender), *notes_of(recommender)]
        for known in self._subjects.values():
            if known.longer:
                one = len(known.longer) == 1
                answers = "1 answer" if one else f"{len(known.longer)} answers"
                notes.append(
                    f"{answers} of {known.name} {'names' if one else 'name'} more items than were asked for; only the first k "
                    f"of each count",
                )
        return [one_line(redact(note)) for note in notes]

    def made(self, spec: str) -> object:
        """Another recommender that `spec` names."""
        with self._run.progress.doing(f"loading {shown(spec)}"):
            made = made_from(spec, *self._options)
        if isinstance(made, Trained):
            made.told = self._run.progress.tell
        return made

    def name_of(
        self,
        recommender: object,
        parameters: Sequence[str] = (),
        place: str = "",
    ) -> tuple[str, str]:
        """The spec that made a recommender, and an empty text; or its name and its
        fixture.

        That is ``fixture:NAME`` with the parameters, and the place, which distinguishes
        the fixture from others whose recommender has the same name; both without keys.
        """
        for spec, known in self._recommenders.items():
            if known is recommender:
                return spec, ""
        name = getattr(recommender, "name", None)
        if not isinstance(name, str):
            name = getattr(recommender, "__name__", None) or type(recommender).__name__
        told = "-".join(parameters)
        named = f"fixture:{name}[{told}]" if told else f"fixture:{name}"
        return redact(named), redact(place)

    def subject(
        self,
        recommender: object,
        name: str,
        prompt: str | None = None,
        fit: Fit = USUAL,
        fixture: str = "",
    ) -> Subject:
        """`recommender`, fitted and wrapped; `NotApplicable` if it cannot be fitted in
        that way.

        The `prompt` is for a text model, which is not fitted, if the settings name
        none.
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
            if fixture:  # those of specs are checked before the first test
                self._check_declarations(recommender)
            limit = self.settings.timeout
            known = subject(recommender, name, template or PROMPT, fixture, limit)
            if (ray := self._run.ray) is not None:
                ray.know(
                    known,
                    *self._recipe(recommender, name, template or PROMPT, fixture),
                )
            training, seed = self._training(fit).dataset, self._seed(fit.initialisation)
            try:
                self.fit(known, training, seed)
            except OwnCodeError as error:
                self._unfit[key] = error
                raise
            self._subjects[key] = known
        return known

    def _check_declarations(self, recommender: object) -> None:
        check_declared(recommender)
        for note in misspelt(recommender):
            safe = one_line(redact(note))
            if (
                safe not in self._run.notes
            ):  # a fixture may make many objects of one class
                self._run.notes.append(safe)

    def under_test(
        self,
        recommender: object,
        name: str,
        prompt: str | None,
        fit: Fit,
        fixture: str = "",
    ) -> Subject:
        """As `subject`; wrapped, if an option of an extension does that."""
        sound = self.subject(recommender, name, prompt, fit, fixture)
        wrapper = self.settings.wrapper
        if wrapper is None:
            return sound
        key = (name, fixture, f"{id(sound)} {wrapper.recorded}", fit)
        if key not in self._subjects:
            fit = Fit(fold=fit.fold) if isinstance(recommender, TextModel) else fit
            training = self._training(fit).dataset
            self._subjects[key] = wrapper.wrapped(
                sound,
                training,
                self.settings,
                self._run.executor,
            )
        return self._subjects[key]

    def fit(self, known: Subject, training: Dataset, seed: int) -> None:
        """Fit a recommender."""
        with (
            self._run.progress.doing(f"fitting {known.name}"),
            self._run.executor.failures.outside_calls(
                known.name,
                f"fit() of {known.name}",
            ),
        ):
            begun = time.process_time()
            known.fit(training, seed)
            known.fit_seconds = time.process_time() - begun

    def _anew(self, recommender: object, name: str) -> object:
        if self._run.ray is not None:
            raise NotApplicable(
                "with -o recsys_executor=ray a recommender is fitted once only",
            )
        if isinstance(recommender, type):
            return recommender()
        if self._recommenders.get(name) is recommender:
            made = self.made(name)
            if made is not recommender:
                return made
        if not hasattr(recommender, "fit"):
            return recommender
        raise NotApplicable(
            f"{name} is one object, and is fitted once only; name its class instead",
        )

    def refits(
        self,
        recommender: object,
        name: str,
        fixture: str,
        design: Design,
    ) -> Refits:
        """`recommender`, to be fitted anew for each replicate; see `Design.refits`.

        Nothing is fitted yet.
        """
        change = design.trained_on if isinstance(design.trained_on, Change) else None
        blank = recommender() if isinstance(recommender, type) else recommender
        origin = subject(blank, name, PROMPT, fixture, self.settings.timeout)
        unfit = origin.unfit
        if not unfit and change is None:
            try:
                self._anew(recommender, name)
            except NotApplicable as reason:
                unfit = str(reason)

        usual = Fit(design.training_history, change=change, fold=design.fold)

        def fit(replicate: int) -> Subject:
            return self._refit(
                recommender,
                name,
                fixture,
                replace(usual, initialisation=replicate),
            )

        def names() -> Renamed:
            if self.settings.plan or change is None:
                return Renamed(self._run.split_of(design.fold).training)
            return self._training(usual)

        return Refits(origin, fit, names, unfit)

    def _refit(self, recommender: object, name: str, fixture: str, fit: Fit) -> Subject:
        # A plan makes one fit, the usual one, as it does for all other tests.
        kept = 1 if self.settings.plan else self.settings.design.replicates
        if fit.change is None and fit.initialisation < kept:
            return self.subject(recommender, name, fit=fit, fixture=fixture)
        key = (name, fixture, fit)
        known = self._refitted.pop(key, None)
        if known is None:
            made = self._anew(recommender, name)
            known = subject(made, name, PROMPT, fixture, self.settings.timeout)
            if self.settings.plan and isinstance(known, RecommenderSubject):
                known.stand_for(repr(fit))
            else:
                try:
                    self.fit(
                        known,
                        self._training(fit).dataset,
                        self._seed(fit.initialisation),
                    )
                except (OwnCodeError, RecommenderError, DataError) as error:
                    if fit.change is not None and fit.change.relation.may_refuse:
                        told = f"refused, as it may be: {one_line(str(error))}"
                        raise NotApplicable(told) from error
                    raise
        self._refitted[key] = known
        while len(self._refitted) > 4 * self.settings.design.replicates:
            self._refitted.popitem(last=False)
        return known

    def _training(self, fit: Fit) -> Renamed:
        history, change = fit.history, fit.change
        if history == 0:
            raise NotApplicable(
                "without history there is nothing to fit a recommender to",
            )
        training = self._run.split_of(fit.fold).training
        if history is not None:
            key = (fit.fold, history)
            if key not in self._trainings:
                self._trainings[key] = training.latest(history)
            training = self._trainings[key]
        if change is None or change.relation.training is None:
            return Renamed(training)
        wanted = replace(fit, initialisation=0)
        if self._changed is None or self._changed[0] != wanted:
            draw = generator(self.settings.seed, "training", change.name)
            made = change.relation.training(training, draw)
            self._changed = (
                wanted,
                made if isinstance(made, Renamed) else Renamed(made),
            )
        return self._changed[1]

    def _seed(self, initialisation: int) -> int:
        seed = self.settings.seed
        if not initialisation:
            return seed
        return int(generator(seed, "initialisation", initialisation).integers(2**31))

    def _recipe(
        self,
        recommender: object,
        name: str,
        prompt: str,
        fixture: str,
    ) -> tuple[Recipe, object, Needs]:
        from pytest_recsys_mt.calls.remote import Needs, Recipe, itself

        seed = self.settings.seed
        limit = self.settings.timeout
        if self._recommenders.get(name) is not recommender:
            recipe = Recipe(
                name,
                partial(itself, recommender),
                prompt,
                seed,
                fixture,
                limit,
            )
            return recipe, recommender, Needs()
        make = partial(made_from, name, *self._options)
        return (
            Recipe(name, make, prompt, seed, timeout=limit),
            None,
            Needs(**resources(name)[1]),
        )

    def elsewhere(self, recommender: object, name: str, design: Design) -> Ask | str:
        """Sends calls to a recommender made anew in another
        process, or says why that fails.
        """
        if self._recommenders.get(name) is not recommender:
            return (
                "a fixture gives the recommender, and no other process has it; name it by a spec, "
                "--recsys-model=package.module:name"
            )
        if name.startswith("__main__:") or not makes_anew(name):
            return f"{name} does not run in this process, or is too large for two processes"
        return Elsewhere(self.settings, name, design)

    def object_named(self, spec: str, verbs: Sequence[str]) -> object:
        """An object that `spec` names and that has one of the
        methods `verbs`, made once more.
        """
        return made_from(spec, *self._options, verbs)

    def know(self, spec: str, recommender: object) -> None:
        """Take an object that was made already for the recommender that `spec` names,
        unless another is known.
        """
        self._recommenders.setdefault(spec, recommender)

    def texts(self, spec: str, purpose: Purpose) -> Texts:
        """The text model that `spec` names, for prompts of a test or of a judge."""
        from pytest_recsys_mt.calls.texts import (
            Texts,
        )  # only text models need what it imports

        return Texts(
            self.subject(self.recommender(spec), spec),
            self._run.executor,
            purpose,
        )

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """What is found about recommenders inside is
        forgotten: their tests will find it again.
        """
        found = {key: known.new_difference for key, known in self._subjects.items()}
        try:
            yield
        finally:
            for key, known in self._subjects.items():
                known.new_difference = found.get(key, Difference.NONE)

    def begin(self) -> None:
        """Begin a test, or none: from now on, use what
        earlier tests found about recommenders.
        """
        for known in self._subjects.values():
            known.earlier_difference = max(
                known.earlier_difference,
                known.new_difference,
            )

    def close(self) -> None:
        """Release what recommenders hold."""
        for recommender in self._recommenders.values():
            close = method_of(recommender, "close")
            if callable(close):
                close()
