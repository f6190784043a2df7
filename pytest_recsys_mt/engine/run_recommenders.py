"""The recommenders and judges of a run, fitted once for each purpose."""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_recsys_mt.calls.call import Purpose
from pytest_recsys_mt.calls.subject import Difference, RecommenderSubject, Subject
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.datasets.dataset import Dataset, Renamed
from pytest_recsys_mt.engine.made_recommenders import MadeRecommenders
from pytest_recsys_mt.engine.refits import USUAL, Change, Fit, Refits
from pytest_recsys_mt.requests import TextModel
from pytest_recsys_mt.requests.abilities import check_declared, misspelt, notes_of
from pytest_recsys_mt.requests.design import PROMPT, Design, generator
from pytest_recsys_mt.safety.errors import (
    DataError,
    NotApplicable,
    OwnCodeError,
    RecommenderError,
)
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.texts import Texts
    from pytest_recsys_mt.engine.run_parts import RunParts


class RunRecommenders(MadeRecommenders):
    """Fits each recommender once for each purpose.

    It needs the executor and the data of the run when a call is sent or a recommender
    is fitted, not before.
    """

    def __init__(self, run: RunParts) -> None:
        super().__init__(run)
        self._subjects: dict[tuple[str, str, str, Fit], Subject] = {}
        self._unfit: dict[tuple[str, str, str, Fit], OwnCodeError] = {}
        self._trainings: dict[tuple[int | None, int], Dataset] = {}
        self._changed: tuple[Fit, Renamed] | None = None
        self._refitted: OrderedDict[tuple[str, str, Fit], Subject] = OrderedDict()

    @property
    def notes(self) -> list[str]:
        """The notes of recommenders of specs, in safe lines."""
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
                recommender = self._made_again(recommender, name)
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

    def refits(
        self,
        recommender: object,
        name: str,
        fixture: str,
        design: Design,
    ) -> Refits:
        """`recommender`, to be fitted again for each replicate; see `Design.refits`.

        Nothing is fitted yet.
        """
        change = design.trained_on if isinstance(design.trained_on, Change) else None
        blank = recommender() if isinstance(recommender, type) else recommender
        origin = subject(blank, name, PROMPT, fixture, self.settings.timeout)
        unfit = origin.unfit
        if not unfit and change is None:
            try:
                self._made_again(recommender, name)
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
            made = self._made_again(recommender, name)
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
                        reason = f"refused, as it may be: {one_line(str(error))}"
                        raise NotApplicable(reason) from error
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

    def texts(self, spec: str, purpose: Purpose) -> Texts:
        """The text model that `spec` names, for prompts of a test or of a judge."""
        # Only text models need its imports.
        from pytest_recsys_mt.calls.texts import Texts

        return Texts(
            self.subject(self.recommender(spec), spec),
            self._run.executor,
            purpose,
        )

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """Differences of recommenders that are found inside are
        forgotten: their tests will find them again.
        """
        found = {key: known.new_difference for key, known in self._subjects.items()}
        try:
            yield
        finally:
            for key, known in self._subjects.items():
                known.new_difference = found.get(key, Difference.NONE)

    def begin(self) -> None:
        """Begin a test, or none: from now on, use the differences
        of recommenders that earlier tests found.
        """
        for known in self._subjects.values():
            known.earlier_difference = max(
                known.earlier_difference,
                known.new_difference,
            )
