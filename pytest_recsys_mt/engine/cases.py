"""Turns a dataset into requests: which users are asked what, and which items are held out."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from pytest_recsys_mt.answers import Drawn
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.requests import Item, Rating, Request, World
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.requests.seeds import generator

LARGE = 10_000
"""From this many items on, candidates are drawn without a list of all items that a user has not seen."""

_BLOCK = 10_000  # users at a time of whom more is read than they need to be asked

Recall = Callable[[Sequence[Request]], Sequence[Sequence[Sequence[str]]]]


@dataclass(frozen=True, slots=True)
class Case:
    """One user's request, and further facts about the user."""

    request: Request
    held_out: frozenset[str]  # which no recommender sees
    past: tuple[str, ...] = ()  # all that the user has in the training data, oldest first

    def knowing(self, request: Request) -> Request:
        """A request of this user that lists the past items that its history does not show.

        With candidates it lists nothing: no candidate is a past item. A changed history does not
        change the user's past, so the same items may be recommended.
        """
        seen: tuple[str, ...] = ()
        if request.candidates is None:
            shown = (rating.item.id for rating in request.history)
            seen = tuple(sorted(self.request.known.union(self.past).difference(shown)))
        return request if request.seen == seen else request.replace(seen=seen)


@dataclass(frozen=True)
class Split:
    """Leave-one-out: every user's latest interaction is held out, the rest is for training.

    Attributes:
        unit: An attribute of users; of all who share its value one is drawn, at random. Whoever lacks it is drawn alone.
        draw: Number of the sample of users; above 0 if an earlier sample was not like all users.
        recall: Returns the top lists of every request, one per recommender, best first; for designs
            whose candidates come from them.
    """

    dataset: Dataset
    seed: int
    unit: str | None = field(default=None, kw_only=True)
    draw: int = field(default=0, kw_only=True)
    recall: Recall | None = field(default=None, kw_only=True)

    @cached_property
    def held_out(self) -> Mapping[str, frozenset[str]]:
        """The latest item of every user with more than one interaction, by user."""
        frame = self.dataset.interactions
        latest = frame[frame.duplicated("user", keep="first") & ~frame.duplicated("user", "last")]
        return {
            user: frozenset({item})
            for user, item in zip(latest["user"], latest["item"], strict=True)
        }

    @cached_property
    def training(self) -> Dataset:
        """The dataset without the held-out interactions."""
        return self.dataset.without(self.held_out)

    @cached_property
    def _order(self) -> list[str]:
        users = sorted(self.held_out)
        names = ("users", self.draw) if self.draw else ("users",)
        order = generator(self.seed, *names).permutation(len(users))
        drawn = [users[position] for position in order]
        return drawn if self.unit is None else self._one_of_each(self.unit, drawn)

    def _one_of_each(self, unit: str, drawn: Sequence[str]) -> list[str]:
        of = {user: self.dataset.users.get(user, {}).get(unit) for user in drawn}
        if not any(value is not None for value in of.values()):
            from pytest_recsys_mt.oracles.similarities.similarity import choices

            known = sorted({name for user in drawn for name in self.dataset.users.get(user, {})})
            raise DataError(
                f"no user of dataset {self.dataset.name!r} has the attribute {unit!r} (recsys_unit); "
                f"{choices(unit, known) if known else 'its users have no attributes'}"
            )
        members = {
            ("user", user) if (value := of[user]) is None else ("unit", str(value)): user
            for user in reversed(drawn)
        }
        units = sorted(members)
        order = generator(self.seed, "units", self.draw).permutation(len(units))
        return [members[units[place]] for place in order]

    @property
    def units(self) -> int:
        """How many users can be drawn."""
        return len(self._order)

    def drawn(self, design: Design) -> frozenset[Drawn]:
        """What is drawn at random for the requests of a design, beside a sample of the users."""
        found: set[Drawn] = set() if self.unit is None else {"users"}
        given = all(user in self.dataset.offered for user in self._order)
        if design.candidates and not design.recall and not given:
            found.add("candidates")
        return frozenset(found)

    def users(self, design: Design) -> list[str]:
        """The sampled users of a design, in their order."""
        found: list[str] = []
        at, size = 0, design.users + design.users // 4
        while at < len(self._order) and len(found) < design.users:
            found += [user for user, log in self._logs(at, size) if _rated(log, design)]
            at, size = at + size, 2 * size
        return found[: design.users]

    def _logs(
        self, at: int, size: int, *, keep: bool = True
    ) -> list[tuple[str, tuple[Rating, ...]]]:
        users = self._order[at : at + size]
        past = self._past if keep else dict(self._past)
        missing = [user for user in users if user not in past]
        if missing:
            frame = self.training.interactions
            frame = frame[frame["user"].isin(set(missing))]
            columns = (frame[name] for name in ("user", "item", "rating", "timestamp"))
            rows: dict[str, list[Rating]] = {user: [] for user in missing}
            for user, item, value, second in zip(*columns, strict=True):
                rows[user].append(Rating(self.dataset.items[item], float(value), int(second)))
            past.update((user, tuple(ratings)) for user, ratings in rows.items())
        return [(user, past[user]) for user in users]

    @cached_property
    def _past(self) -> dict[str, tuple[Rating, ...]]:
        return {}

    def cases(self, design: Design) -> tuple[Case, ...]:
        """The requests of a design; more users only add requests."""
        users = self.users(design)
        if len(users) < 2:
            raise DataError(
                f"dataset {self.dataset.name!r} has {len(users)} users with a history and an item "
                f"to hold out; at least 2 are needed"
            )
        drawn = replace(design, candidates=0, recall=False) if design.recall else design
        cases = tuple(self._case(user, self._past[user], drawn) for user in users)
        return self._recalled(cases, design) if design.recall else cases

    def everyone(self, design: Design) -> Iterator[Case]:
        """The requests of all users who could be drawn; candidates of other recommenders are replaced by random ones."""
        drawn = replace(design, recall=False)
        whole = self if self.unit is None else replace(self, unit=None)
        for at in range(0, len(whole._order), _BLOCK):
            for user, log in whole._logs(at, _BLOCK, keep=False):
                if _rated(log, design):
                    with contextlib.suppress(DataError):  # too few unseen items: never asked
                        yield whole._case(user, log, drawn)

    def _case(self, user: str, log: tuple[Rating, ...], design: Design) -> Case:
        past = tuple(rating.item.id for rating in log)
        request = Request(
            user=user,
            history=_rated(log, design)[-design.history :] if design.history else (),
            scale=self.dataset.scale,
            candidates=self._candidates(user, past, design),
            k=design.k,
            attributes=self.dataset.users.get(user, {}),
        )
        case = Case(request, self.held_out[user], past)
        return replace(case, request=case.knowing(request))

    def _recalled(self, cases: tuple[Case, ...], design: Design) -> tuple[Case, ...]:
        if self.recall is None:
            raise DataError("candidates have no source; a Split needs recall")
        requests = [case.request.replace(k=design.candidates) for case in cases]
        items, found = self.dataset.items, []
        for case, lists in zip(cases, self.recall(requests), strict=True):
            known = case.request.known  # which are no candidates for this user
            fit = [[item for item in each if item in items and item not in known] for each in lists]
            dealt = tuple(items[item] for item in in_turn(fit, design.candidates))
            request = case.request.replace(candidates=dealt)
            found.append(replace(case, request=case.knowing(request)))
        return tuple(found)

    def world(self, cases: tuple[Case, ...]) -> World:
        """What transformations may know of the catalogue and of the sampled users."""
        return World(
            catalogue=self._items,
            histories={case.request.user: case.request.history for case in cases},
            relevant={case.request.user: case.held_out for case in cases},
            neighbours=self.training.neighbours,
            popularity=self.training.popularity,
        )

    @cached_property
    def _items(self) -> tuple[Item, ...]:
        return tuple(self.dataset.items[key] for key in sorted(self.dataset.items))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self._items)}

    def _candidates(
        self, user: str, past: Sequence[str], design: Design
    ) -> tuple[Item, ...] | None:
        if not design.candidates:
            return None
        offered = self.dataset.offered.get(user)
        if offered is not None:
            return offered
        wanted = design.candidates - len(self.held_out[user])
        if wanted < 0:
            raise DataError(
                f"{len(self.held_out[user])} items of user {user!r} are held out, and a request "
                f"has {design.candidates} candidates; raise --recsys-candidates (0 is the whole "
                f"catalogue)"
            )
        if (user, wanted) not in self._drawn:
            self._drawn[user, wanted] = self._draw(user, past, wanted)
        return self._drawn[user, wanted]

    @cached_property
    def _drawn(self) -> dict[tuple[str, int], tuple[Item, ...]]:
        return {}

    def _draw(self, user: str, past: Sequence[str], wanted: int) -> tuple[Item, ...]:
        draw = generator(self.seed, "candidates", user)
        seen = self.held_out[user].union(past)
        if len(self._items) < LARGE:
            mask = np.ones(len(self._items), bool)
            mask[[self._places[item] for item in seen]] = False
            unseen = np.flatnonzero(mask)
            chosen = [self._items[at] for at in draw.permutation(unseen)[:wanted]]
        else:
            # No more than these are seen, so enough of a sample are not.
            size = min(len(self._items), wanted + len(seen))
            sampled = (self._items[at] for at in draw.choice(len(self._items), size, replace=False))
            chosen = [item for item in sampled if item.id not in seen][:wanted]
        if len(chosen) < wanted:
            raise DataError(
                f"dataset {self.dataset.name!r} has only {len(chosen)} items that user {user!r} has "
                f"not seen, {wanted} are needed beside the held-out one; lower --recsys-candidates"
            )
        chosen += [self.dataset.items[item] for item in sorted(self.held_out[user])]
        return tuple(chosen[place] for place in draw.permutation(len(chosen)))


def in_turn(lists: Sequence[Sequence[str]], most: int) -> tuple[str, ...]:
    """The first item of each list, then the second of each, and so on, each item once."""
    dealt = (item for place in zip_longest(*lists) for item in place if item is not None)
    return tuple(dict.fromkeys(dealt))[:most]


@dataclass(frozen=True)
class ShareSplit(Split):
    """A share of the interactions of some users is held out at random, the rest is for training.

    The users are split into folds. The users of one fold are asked; all others are for training only.

    Attributes:
        fold: Number of the fold whose users are asked, from 0.
        share: Share of each user's interactions to hold out, in (0, 1); at least one interaction is
            held out, and at least one stays.
    """

    fold: int = 0
    folds: int = 5
    share: float = 0.2
    most: int = 1000

    def drawn(self, design: Design) -> frozenset[Drawn]:
        """As in `Split`; users are those of a fold, and their held-out items are drawn too."""
        more: frozenset[Drawn] = frozenset({"users", "held-out items"})
        return super().drawn(design) | more

    @cached_property
    def held_out(self) -> Mapping[str, frozenset[str]]:
        """The items held out of every user of the fold with more than one interaction, by user."""
        frame = self.dataset.interactions
        counts = frame["user"].value_counts()
        users = sorted(counts.index[counts > 1])
        order = generator(self.seed, "folds").permutation(len(users))[self.fold :: self.folds]
        chosen = {users[place] for place in order[: self.most]}
        found = {}
        for user, items in frame[frame["user"].isin(chosen)].groupby("user")["item"]:
            number = max(1, min(len(items) - 1, round(self.share * len(items))))
            draw = generator(self.seed, "held out", str(user)).permutation(len(items))[:number]
            found[str(user)] = frozenset(items.iloc[draw])
        return found


def _rated(log: tuple[Rating, ...], design: Design) -> tuple[Rating, ...]:
    above = design.rated_above
    return log if above is None else tuple(rating for rating in log if rating.value > above)
