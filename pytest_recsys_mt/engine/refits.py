"""A recommender that is fitted again for each replicate, as relations on training data
need it.

Source and follow-up are answered by fits with different seeds, as replicates have
different numbers. So the noise floor contains the spread of the seeds, and a claimed
difference that is checked once more is seen by further fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.subject import Subject, Wrapped
from pytest_recsys_mt.datasets.dataset import Renamed
from pytest_recsys_mt.relations.histories import Changed, with_items
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Item, Recommendation, Request

STAYS = "refits answer in this process only"
"""Why nothing is sent elsewhere for a relation on training data."""


@dataclass(frozen=True)
class Change:
    """A relation on training data, equal to another one
    of the same name and the same code.
    """

    name: str
    code: object
    relation: Transformation = field(compare=False, repr=False)

    @classmethod
    def of(cls, relation: Transformation) -> Change:
        """The change that a relation makes."""
        code = getattr(relation.training, "__code__", relation.training)
        return cls(relation.name, code, relation)


class Refits(Wrapped):
    """A subject that is one fit for each replicate.

    Args:
        fit: Makes and fits another one for a replicate, or returns the one that is
            kept.
        names: Returns the names of the ids of requests in the data that it is fitted
            to.
    """

    def __init__(
        self,
        origin: Subject,
        fit: Callable[[int], Subject],
        names: Callable[[], Renamed],
        unfit: str = "",
    ) -> None:
        super().__init__(origin)
        self.deterministic = self.waits = self.durable = False
        self.unfit = unfit
        self._fit = fit
        self._names = names
        self._renamed = Changed(self._with_its_id)

    def same_question(self, one: Request, other: Request) -> bool:
        return one == other  # whether others are alike to it, only a fit could show

    def call(self, request: Request, repeat: bool) -> Call:
        member = self._fit(request.replicate)
        self.durable, self.fingerprint = member.durable, member.fingerprint
        return member.call(self._in_its_ids(request), repeat)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        groups: dict[int, list[int]] = {}
        for place, call in enumerate(calls):
            groups.setdefault(int(call.content["replicate"]), []).append(place)
        for replicate, places in groups.items():
            member = self._fit(replicate)
            for arrived in member.ask([calls[place] for place in places]):
                yield [(places[place], answer) for place, answer in arrived]

    def read(self, request: Request, answer: Answer) -> Recommendation:
        names = self._names()
        if not names.items:
            return self.origin.read(request, answer)
        before: dict[str | None, str] = {new: old for old, new in names.items.items()}
        read = self.origin.read(self._in_its_ids(request), answer)
        entries = (
            replace(each, item=before.get(each.item, each.item))
            for each in read.entries
        )
        items = tuple(before.get(item, item) for item in read.items)
        return replace(read, items=items, entries=tuple(entries))

    def _in_its_ids(self, request: Request) -> Request:
        """The request in the ids of the data that it is fitted to."""
        names = self._names()
        if names.users:
            request = request.replace(user=names.users.get(request.user, request.user))
        if not names.items:
            return request
        seen = tuple(sorted(names.items.get(item, item) for item in request.seen))
        return with_items(request, self._renamed).replace(seen=seen)

    def _with_its_id(self, item: Item) -> Item:
        return replace(item, id=self._names().items.get(item.id, item.id))


@dataclass(frozen=True)
class Fit:
    """The data and the seed that a recommender is fitted with; see `Design`."""

    history: int | None = None
    initialisation: int = 0
    change: Change | None = None
    fold: int | None = None


USUAL = Fit()
