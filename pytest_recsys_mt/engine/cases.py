"""Makes requests of a dataset: the sampled users, their
requests, and the items that are held out.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.datasets.held_out import targets
from pytest_recsys_mt.engine.candidates import Candidates
from pytest_recsys_mt.requests import Rating, Request, World
from pytest_recsys_mt.requests.design import Design, generator
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.verdict.answers import Drawn

_BLOCK = 10_000
"""Users whose interactions `Split.everyone` holds in memory at a time."""

Recall = Callable[[Sequence[Request]], Sequence[Sequence[Sequence[str]]]]
"""The top lists of every request: item ids by request, by recommender, best first."""


@dataclass(frozen=True, slots=True)
class Case:
    """One user's request, and further facts about the user."""

    request: Request
    held_out: frozenset[str]  # which no recommender sees
    past: tuple[
        str,
        ...,
    ] = ()  # all that the user has in the training data, oldest first

    def knowing(self, request: Request) -> Request:
        """A request of this user that lists the past items that its history does not
        show.

        With candidates it lists nothing: no candidate is a past item. A changed history
        does not change the user's past, so the same items may be recommended.
        """
        seen: tuple[str, ...] = ()
        if request.candidates is None:
            shown = (rating.item.id for rating in request.history)
            seen = tuple(sorted(self.request.known.union(self.past).difference(shown)))
        if request.seen == seen:
            return request
        return request.replace(seen=seen)


@dataclass(frozen=True)
class Split:
    """Leave-one-out: every user's latest interaction is held out, the rest is for
    training; or what the data say is held out (`Dataset.withheld`).

    Attributes:
        unit: An attribute of users; of all who share its value one is drawn, at random.
            Whoever lacks it is drawn alone.
        draw: Number of the sample of users; above 0 if an earlier sample was not like
            all users.
        recall: Returns the top lists of every request, one per recommender, best first;
            for designs whose candidates come from them.
    """

    dataset: Dataset
    seed: int
    unit: str | None = field(default=None, kw_only=True)
    draw: int = field(default=0, kw_only=True)
    recall: Recall | None = field(default=None, kw_only=True)

    @cached_property
    def held_out(self) -> Mapping[str, frozenset[str]]:
        """The item that each user is asked about, by user; see `targets`."""
        return targets(self.dataset)

    @cached_property
    def training(self) -> Dataset:
        """The dataset without the held-out interactions."""
        if self.dataset.withheld is None:
            return self.dataset.without(self.held_out)
        return self.dataset.known

    @cached_property
    def _order(self) -> list[str]:
        """All users who can be drawn, in random order: a
        larger sample begins with a smaller one.
        """
        users = sorted(self.held_out)
        names = ("users", self.draw) if self.draw else ("users",)
        order = generator(self.seed, *names).permutation(len(users))
        drawn = [users[place] for place in order]
        if self.unit is None:
            return drawn
        return self._one_of_each(self.unit, drawn)

    def _one_of_each(self, unit: str, drawn: Sequence[str]) -> list[str]:
        """The first of the drawn users of each unit, in a random order of the units.

        The order is drawn again: that of the drawn users would favour units of many
        users.
        """
        value_by_user = {user: self._attributes(user).get(unit) for user in drawn}
        if all(value is None for value in value_by_user.values()):
            raise self._unknown_unit(unit, drawn)
        user_by_unit: dict[tuple[str, str], str] = {}
        for user, value in value_by_user.items():
            # A user without the attribute is a unit of one.
            its_unit = ("user", user) if value is None else ("unit", str(value))
            user_by_unit.setdefault(its_unit, user)
        units = sorted(user_by_unit)
        order = generator(self.seed, "units", self.draw).permutation(len(units))
        return [user_by_unit[units[place]] for place in order]

    def _unknown_unit(self, unit: str, drawn: Sequence[str]) -> DataError:
        from pytest_recsys_mt.oracles.similarities.similarity import (
            choices,
        )  # see `engine.run`

        known: set[str] = set()
        for user in drawn:
            known.update(self._attributes(user))
        remedy = (
            choices(unit, sorted(known)) if known else "its users have no attributes"
        )
        return DataError(
            f"no user of dataset {self.dataset.name!r} has the attribute {unit!r} (recsys_unit); {remedy}",
        )

    def _attributes(self, user: str) -> Mapping[str, Any]:
        return self.dataset.users.get(user, {})

    @property
    def units(self) -> int:
        """How many users can be drawn."""
        return len(self._order)

    def drawn(self, design: Design) -> frozenset[Drawn]:
        """The things that are drawn at random for the requests of a
        design, in addition to a sample of the users.
        """
        drawn: set[Drawn] = set()
        if self.unit is not None:
            drawn.add("users")
        offered_to_all = all(user in self.dataset.offered for user in self._order)
        if design.candidates and not design.recall and not offered_to_all:
            drawn.add("candidates")
        return frozenset(drawn)

    def users(self, design: Design) -> list[str]:
        """The sampled users of a design, in their order."""
        sampled: list[str] = []
        start = 0
        # Some users have no history in the design, so a few more are read than are
        # needed.
        size = design.users + design.users // 4
        while start < len(self._order) and len(sampled) < design.users:
            logs = self._logs(self._order[start : start + size])
            sampled += [user for user, log in logs.items() if _rated(log, design)]
            start += size
            size *= 2
        return sampled[: design.users]

    def _logs(
        self,
        users: Sequence[str],
        *,
        keep: bool = True,
    ) -> dict[str, tuple[Rating, ...]]:
        """The interactions of some users in the training data, oldest first, by user.

        Args:
            users: The users, whose order the result has.
            keep: Whether the result is cached.
        """
        missing = [user for user in users if user not in self._past]
        read = self._read_logs(missing) if missing else {}
        if keep:
            self._past.update(read)
        return {
            user: read[user] if user in read else self._past[user] for user in users
        }

    def _read_logs(self, users: Sequence[str]) -> dict[str, tuple[Rating, ...]]:
        frame = self.training.interactions
        frame = frame[frame["user"].isin(set(users))]
        columns = [frame[name] for name in ("user", "item", "rating", "timestamp")]
        ratings_by_user: dict[str, list[Rating]] = {user: [] for user in users}
        for user, item, value, second in zip(*columns, strict=True):
            rating = Rating(self.dataset.items[item], float(value), int(second))
            ratings_by_user[user].append(rating)
        return {user: tuple(ratings) for user, ratings in ratings_by_user.items()}

    @cached_property
    def _past(self) -> dict[str, tuple[Rating, ...]]:
        """The cache of `_logs`."""
        return {}

    def cases(self, design: Design) -> tuple[Case, ...]:
        """The requests of a design; more users only add requests."""
        users = self.users(design)
        if len(users) < 2:
            raise DataError(
                f"dataset {self.dataset.name!r} has {len(users)} users with a history and an item "
                f"to hold out; at least 2 are needed",
            )
        return self.cases_of(users, design)

    def cases_of(self, users: Sequence[str], design: Design) -> tuple[Case, ...]:
        """The requests of some users of `held_out`, in their order, sampled or not."""
        logs = self._logs(users)
        if design.recall:
            # The first requests have no candidates: these come from the answers to
            # them.
            open_design = replace(design, candidates=0, recall=False)
            cases = tuple(self._case(user, logs[user], open_design) for user in users)
            return self._with_recalled_candidates(cases, design)
        return tuple(self._case(user, logs[user], design) for user in users)

    def everyone(self, design: Design) -> Iterator[Case]:
        """The requests of all users who could be drawn; candidates of other
        recommenders are replaced by random ones.
        """
        without_recall = replace(design, recall=False)
        split = self if self.unit is None else replace(self, unit=None)
        users = split._order
        for start in range(0, len(users), _BLOCK):
            logs = split._logs(users[start : start + _BLOCK], keep=False)
            for user, log in logs.items():
                if not _rated(log, design):
                    continue
                with contextlib.suppress(
                    DataError,
                ):  # too few unseen items: no request
                    yield split._case(user, log, without_recall)

    def _case(self, user: str, log: tuple[Rating, ...], design: Design) -> Case:
        """The request to a user whose interactions in the training data are `log`."""
        past = tuple(rating.item.id for rating in log)
        history = _rated(log, design)[-design.history :] if design.history else ()
        request = Request(
            user=user,
            history=history,
            scale=self.dataset.scale,
            candidates=self._candidates.of(user, past, design),
            k=design.k,
            attributes=self._attributes(user),
        )
        case = Case(request, self.held_out[user], past)
        return replace(case, request=case.knowing(request))

    def _with_recalled_candidates(
        self,
        cases: tuple[Case, ...],
        design: Design,
    ) -> tuple[Case, ...]:
        """The cases with candidates in turn from the top lists of other recommenders."""
        if self.recall is None:
            raise DataError("candidates have no source; a Split needs recall")
        requests = [case.request.replace(k=design.candidates) for case in cases]
        completed = []
        for case, lists in zip(cases, self.recall(requests), strict=True):
            user = case.request.user
            candidates = self._candidates.dealt(
                lists,
                case.request.known | self._candidates.withheld(user),
                design.candidates,
            )
            request = case.request.replace(candidates=candidates)
            completed.append(replace(case, request=case.knowing(request)))
        return tuple(completed)

    def world(self, cases: tuple[Case, ...]) -> World:
        """The facts of the catalogue and of the sampled users for transformations."""
        return World(
            catalogue=self._candidates.items,
            histories={case.request.user: case.request.history for case in cases},
            relevant={case.request.user: case.held_out for case in cases},
            withheld={
                case.request.user: self._candidates.withheld(case.request.user)
                for case in cases
            },
            neighbours=self.training.neighbours,
            popularity=self.training.popularity,
        )

    @cached_property
    def _candidates(self) -> Candidates:
        return Candidates(self.dataset, self.seed, self.held_out)


@dataclass(frozen=True)
class ShareSplit(Split):
    """A share of the interactions of some users is held out at random, the rest is for
    training.

    The users are split into folds. The users of one fold get requests; all others are
    for training only.

    Attributes:
        fold: Number of the fold whose users get requests, from 0.
        share: Share of each user's interactions to hold out, in (0, 1); at least one
            interaction is held out, and at least one stays.
    """

    fold: int = 0
    folds: int = 5
    share: float = 0.2
    most: int = 1000

    def drawn(self, design: Design) -> frozenset[Drawn]:
        """As in `Split`; users are those of a fold, and
        their held-out items are drawn too.
        """
        more: frozenset[Drawn] = frozenset({"users", "held-out items"})
        return super().drawn(design) | more

    @cached_property
    def held_out(self) -> Mapping[str, frozenset[str]]:
        """The items held out of every user of the fold with
        more than one interaction, by user.
        """
        frame = self.dataset.interactions
        counts = frame["user"].value_counts()
        users = sorted(counts.index[counts > 1])
        order = generator(self.seed, "folds").permutation(len(users))
        places_of_fold = order[self.fold :: self.folds]
        users_of_fold = {users[place] for place in places_of_fold[: self.most]}
        rows = frame[frame["user"].isin(users_of_fold)]
        held_out = {}
        for user, items in rows.groupby("user")["item"]:
            number = round(self.share * len(items))
            number = max(1, min(len(items) - 1, number))
            places = generator(self.seed, "held out", str(user)).permutation(len(items))
            held_out[str(user)] = frozenset(items.iloc[places[:number]])
        return held_out


def _rated(log: tuple[Rating, ...], design: Design) -> tuple[Rating, ...]:
    """The interactions of a log that count as history in a design."""
    above = design.rated_above
    if above is None:
        return log
    return tuple(rating for rating in log if rating.value > above)
