"""A run: the data, the recommenders, the cache and the calls that its tests share."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_recsys_mt.calls.bill import Causes, Drained
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.day_account import Accounts, DayAccount
from pytest_recsys_mt.calls.executor import Ask, Executor
from pytest_recsys_mt.calls.failures import Failure
from pytest_recsys_mt.calls.limits import Budget, account
from pytest_recsys_mt.calls.prices import Prices
from pytest_recsys_mt.calls.progress import Progress
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.held_out import left_by_core
from pytest_recsys_mt.engine.cases import ShareSplit, Split
from pytest_recsys_mt.engine.plan import Plan
from pytest_recsys_mt.engine.refits import STAYS, Fit
from pytest_recsys_mt.engine.run_recommenders import RunRecommenders
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.requests import Item, Request
from pytest_recsys_mt.requests.design import FOLDS, PROMPT, Design
from pytest_recsys_mt.safety.errors import (
    CacheError,
    DataError,
    NotApplicable,
    RecsysError,
)
from pytest_recsys_mt.safety.files import failing_as
from pytest_recsys_mt.verdict.wording import typed

# The oracles are imported where they are used. The process of `ask_elsewhere` needs
# none, and their import takes half as long as its work.

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.remote import RayCalls


class Run:
    """Made once per process, when the first test needs it; loads each part at its first
    use.

    Args:
        name: Name of the run, the same for all its workers.

    Attributes:
        notes: The changes to the data, and notes of recommenders, in sentences.
    """

    def __init__(
        self,
        settings: Settings,
        name: str,
        progress: Progress | None = None,
    ) -> None:
        self.settings = settings
        self._name = name
        self.progress = progress or Progress()
        self.causes = Causes()
        self.notes: list[str] = []
        # None until the first use.
        self._dataset: Dataset | None = None
        self._cache: AnswerCache | None = None
        self._ray: RayCalls | None = None
        self._executor: Executor | None = None
        self._begun: set[Hashable] = set()
        self._folds: dict[int, Split] = {}
        self._runners: dict[tuple[str, str, Design, bool], Runner] = {}
        self.recommenders = RunRecommenders(self)

    @property
    def dataset(self) -> Dataset:
        """The data of the run."""
        if self._dataset is None:
            self._dataset = self._load_dataset()
        return self._dataset

    def _load_dataset(self) -> Dataset:
        with self.progress.doing(f"loading {self.settings.data}"):
            settings = self.settings
            dataset = load(
                settings.data,
                repeats=settings.repeats,
                told=self.notes.append,
            )
            if not settings.core:
                return dataset
            core = dataset.core(settings.core)
            if core.withheld is not None:
                self.notes.append(left_by_core(dataset, core, settings.core))
            return core

    def require_attributes(self) -> None:
        """Check that the data have the attributes that divide and draw users, and the
        users that the run is told to show.

        Raises:
            DataError: If a user is not in the data.
        """
        if self.settings.shown:
            users = self.dataset.interactions["user"].unique().tolist()
            for user in self.settings.shown:
                if user not in users:
                    raise DataError(
                        f"{typed('show-user')}={user}: no user {user!r} has interactions in {self.settings.data}, whose "
                        f"{len(users):,} users have ids such as {', '.join(map(repr, users[:3]))}; name one of these",
                    )
        if self.settings.unit:
            _ = Split(self.dataset, self.settings.seed, unit=self.settings.unit).units
        if self.settings.slices:
            from pytest_recsys_mt.oracles.judging.item_groups import (
                require_item_slicings,
            )
            from pytest_recsys_mt.oracles.judging.slices import (
                items_divided_by,
                require_slicings,
            )

            known = {name for facts in self.dataset.users.values() for name in facts}
            require_slicings(self.settings.slices, known, self.dataset.items.values())
            of_items = filter(None, map(items_divided_by, self.settings.slices))
            require_item_slicings(tuple(of_items), self.dataset.items)

    @cached_property
    def split(self) -> Split:
        """The data, split into training and held-out interactions."""
        split = Split(
            self.dataset,
            self.settings.seed,
            unit=self.settings.unit,
            recall=self._recall,
        )
        if self.settings.sampler is None:
            return split
        spec, limit = self.settings.sampler, self.settings.timeout
        fitted = subject(self.recommenders.made(spec), spec, PROMPT, timeout=limit)
        self.recommenders.fit(fitted, split.training, self.settings.seed)
        everybody = replace(self.settings.design, users=max(2, len(split.held_out)))
        runner = Runner(
            fitted,
            split,
            everybody,
            self.settings,
            self.executor,
            purpose="sample",
        )
        answers = Side(runner, runner.context())
        from pytest_recsys_mt.engine.draw import accepted_draw

        draw = accepted_draw(split, answers, self.settings.design)
        return replace(split, draw=draw)

    @property
    def shows(self) -> tuple[int, float]:
        """How many users have requests, and the smallest loss of
        agreement that they show not to occur.
        """
        from pytest_recsys_mt.oracles.judging.power import least_change

        users = self.settings.design.users
        if self.settings.sampler is None:  # whose calls would be sent first
            with contextlib.suppress(RecsysError):
                users = min(users, self.split.units)
        return users, least_change(users, self.settings.alpha)

    def split_of(self, fold: int | None) -> Split:
        """The split of a design: `split`, or that of one fold of users."""
        if fold is None:
            return self.split
        if self.dataset.withheld is not None:
            raise NotApplicable(
                f"{self.dataset.name} says itself what is held out (split= or test=), and a fold draws it at random",
            )
        if fold not in self._folds:
            self._folds[fold] = ShareSplit(
                self.dataset,
                self.settings.seed,
                fold,
                FOLDS,
                unit=self.settings.unit,
                recall=self._recall,
            )
        return self._folds[fold]

    def _recall(self, requests: Sequence[Request]) -> list[list[tuple[str, ...]]]:
        lists: list[list[tuple[str, ...]]] = [[] for _ in requests]
        for spec in self.settings.recall:
            fitted = self.recommenders.subject(
                self.recommenders.recommender(spec),
                spec,
            )
            calls = [
                replace(fitted.call(request, repeat=False), purpose="sample")
                for request in requests
            ]
            answers = self.executor.execute(fitted, calls)
            for known, request, answer in zip(lists, requests, answers, strict=True):
                with contextlib.suppress(NotApplicable):
                    known.append(fitted.read(request, answer).items)
        return lists

    @property
    def data_digest(self) -> str:
        """SHA-256 of the data; empty if no test needed them, or if no record is made."""
        if not self.settings.is_recorded:
            return ""
        brought = self.settings.brought_data
        if brought is not None:
            return str(brought.data)
        return "" if self._dataset is None else self._dataset.digest

    @property
    def cache(self) -> AnswerCache:
        """The answers of this and earlier runs."""
        if self._cache is None:
            self._cache = self._open_cache()
        return self._cache

    def _open_cache(self) -> AnswerCache:
        settings = self.settings
        # The cache counts, in its folder, the replays of objects whose calls are
        # sent again in each run.
        replay = settings.mode == "replay"
        write = not replay or bool(settings.every_limit)
        return AnswerCache(
            settings.cache,
            write=write,
            empties="" if replay else self._name,
        )

    @cached_property
    def plan(self) -> Plan:
        """Counts the calls instead of sending them."""
        settings = self.settings
        return Plan(
            self.cache,
            settings.mode,
            self._name,
            Prices.load(settings.prices),
            lambda: self._catalogue,
            keep=settings.batch is not None,
        )

    @cached_property
    def _catalogue(self) -> tuple[Item, ...]:
        return tuple(self.dataset.items.values())

    @property
    def executor(self) -> Executor:
        """Sends the calls, or plans them."""
        if self._executor is None:
            self._executor = self.plan if self.settings.plan else self._new_executor()
        return self._executor

    def _new_executor(self) -> Executor:
        return Executor(
            self.cache,
            self.settings.mode,
            self._name,
            None if self.ray is None else self.ray.ask,
            prices=Prices.load(self.settings.prices),
            budget=self._budget,
            progress=self.progress,
            causes=self.causes,
            notes=self.notes,
        )

    @property
    def _budget(self) -> Budget | Accounts | None:
        """The account that enforces the limits of this run, and those of the day."""
        settings = self.settings
        own = Budget(settings.limits, account(settings.cache, self._name))
        if not settings.daily:
            return own if settings.limits else None
        return Accounts(
            own,
            DayAccount(settings.daily, settings.cache, settings.command),
        )

    @property
    def ray(self) -> RayCalls | None:
        """Sends the calls to a Ray cluster; None if they stay in this process."""
        if self.settings.executor == "local" or self.settings.mode == "replay":
            return None
        if self._ray is None:
            from pytest_recsys_mt.calls.remote import RayCalls

            self._ray = RayCalls(lambda: self.split.training)
        return self._ray

    def begins(self, what: Hashable) -> bool:
        """True on the first call for `what`."""
        if what in self._begun:
            return False
        self._begun.add(what)
        return True

    @contextlib.contextmanager
    def once(self, what: Hashable) -> Iterator[bool]:
        """True for the first of all workers; the others wait until it has left."""
        name = hashlib.sha256(repr(what).encode()).hexdigest()[:16]
        path = account(self.settings.cache, self._name)
        with self.cache.lock(f"{path.stem} {name}"):
            mark = path.with_name(f"{path.stem}-{name}")
            with failing_as(CacheError, f"{str(mark)!r} cannot be written"):
                first = not mark.exists()
                mark.touch(mode=0o600)
            yield first

    def runner(
        self,
        recommender: object,
        name: str,
        design: Design,
        fixture: str = "",
        *,
        tested: bool = False,
    ) -> Runner:
        """The runner of one recommender and one design; the same object every time.

        An option of an extension may wrap the recommender that is `tested`, as one that
        plants a fault does.
        """
        tested = tested and self.settings.wrapper is not None
        key = (name, fixture, design, tested)
        if key not in self._runners:
            known: Subject
            if design.refits:
                known = self.recommenders.refits(recommender, name, fixture, design)
                elsewhere: Ask | str = STAYS
            else:
                fit = Fit(
                    design.training_history,
                    design.initialisation,
                    fold=design.fold,
                )
                given = (
                    self.recommenders.under_test
                    if tested
                    else self.recommenders.subject
                )
                known = given(recommender, name, design.prompt, fit, fixture)
                elsewhere = self.recommenders.elsewhere(recommender, name, design)
            split = self.split_of(design.fold)
            self._runners[key] = Runner(
                known,
                split,
                design,
                self.settings,
                self.executor,
                elsewhere=elsewhere,
            )
        return self._runners[key]

    @property
    def runners(self) -> Collection[Runner]:
        """All runners that tests have used."""
        return self._runners.values()

    def raised(self, text: str, model: str) -> list[Failure]:
        """The errors that users' code raised; see `Failures.named_in`."""
        return (
            []
            if self._executor is None
            else self._executor.failures.named_in(text, model)
        )

    def keep_rest(self) -> None:
        """Write the answers that the disk did not take when they
        arrived, and note the result.
        """
        if self._executor is not None and (note := self._executor.keep_rest()):
            self.notes.append(note)

    def drain(self) -> Drained:
        """The calls that are not counted yet; see `Bill.drain`."""
        if self._executor is None:
            return {"calls": {}, "causes": []}
        return self._executor.bill.drain()

    def close(self) -> None:
        """Release the cache, the actors and the recommenders that hold resources."""
        if self._ray is not None:
            self._ray.close()
        if self._cache is not None:
            self._cache.close()
        self.recommenders.close()
