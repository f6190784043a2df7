"""Applies transformations to the requests of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.cases import Case
from pytest_recsys_mt.metamorphic import (
    AnyTransformation,
    all_declare,
    changes_training,
    name_of,
)
from pytest_recsys_mt.relations.transformation import Transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import NotApplicable, RelationError

if TYPE_CHECKING:
    from numpy.random import Generator

UNCHANGED = "the transformation changes nothing that the recommender sees"

MADE_AGAIN = 30
"""Users whose requests are made once more though nothing was drawn for anybody: code
that draws from elsewhere is seen by them.
"""


class Transforming:
    """Makes the changed requests to one recommender.

    Args:
        subject: The recommender, which may not see every change.
        seed: The seed of the run.
        world: Returns the facts that transformations may use.
    """

    def __init__(
        self,
        subject: Subject,
        seed: int,
        world: Callable[[], World],
    ) -> None:
        self._subject = subject
        self._seed = seed
        self._world = world
        self._draws: dict[tuple[str, ...], bool] = {}
        # The names of transformations that drew from their generator.
        self._drew: set[str] = set()

    def transformed(
        self,
        case: Case,
        transformations: Sequence[AnyTransformation],
        *seed: str,
    ) -> Request | NotApplicable:
        """The request of `case` after all `transformations`, or why there is no
        request; a further `seed` draws others.
        """
        if not transformations:
            return case.request
        request = case.request
        for transformation in transformations:
            name = name_of(transformation)
            rng = generator(self._seed, case.request.user, name, *seed)
            before = _state_of(rng)
            try:
                changed = (
                    transformation(request, rng, self._world())
                    if isinstance(transformation, Transformation)
                    else transformation(request, rng)
                )
            except NotApplicable as reason:
                return reason
            finally:
                if name not in self._drew and _state_of(rng) != before:
                    self._drew.add(name)
            if not isinstance(changed, Request):
                raise RelationError(
                    f"the transformation {name!r} returned {changed!r}; it must return a Request, "
                    f"such as request.replace(history=...)",
                )
            request = case.knowing(changed)
        kept = all_declare(transformations, "same_seed") or all_declare(
            transformations,
            "may_keep",
        )
        kept = kept or any(map(changes_training, transformations))
        if not kept and self._subject.same_question(request, case.request):
            return NotApplicable(UNCHANGED)
        return request

    def draws(
        self,
        transformations: Sequence[AnyTransformation],
        made: Mapping[int, Request],
        cases: Sequence[Case],
    ) -> bool:
        """Whether other random numbers would change any user's request.

        It is found out by making the requests once more: all of them if a
        transformation drew from its generator, else those of `MADE_AGAIN` users.

        Args:
            transformations: The transformations that may draw.
            made: The requests after them, by position of their case.
            cases: The cases of all users.
        """
        names = tuple(map(name_of, transformations))
        if names not in self._draws:
            some = cases if self._drew.intersection(names) else cases[:MADE_AGAIN]
            self._draws[names] = any(
                _differ(
                    made.get(position),
                    self.transformed(case, transformations, "again"),
                )
                for position, case in enumerate(some)
            )
        return self._draws[names]


def _state_of(rng: Generator) -> tuple[Mapping[str, Any], int]:
    """What a generator changes when something is drawn from it."""
    bits = rng.bit_generator
    return bits.state, bits.seed_seq.n_children_spawned  # type: ignore[attr-defined]


def _differ(made: Request | None, again: Request | NotApplicable) -> bool:
    return made != (again if isinstance(again, Request) else None)
