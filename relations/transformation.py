"""The transformation of a relation, with its promise and its needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

from pytest_recsys_mt.relations.arguments import choice
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.requests import Aspect, Edit, Promised, Request, World
from pytest_recsys_mt.safety.errors import RelationError

if TYPE_CHECKING:
    import numpy

    from pytest_recsys_mt.datasets.dataset import Dataset, Renamed

# Numpy itself comes with the first test that draws.
Generator: TypeAlias = "numpy.random.Generator"

__all__ = ["Transformation"]

Asked = Literal["together", "alone", "in one batch", "elsewhere", "afresh"]
"""How calls are sent: in batches with those of other users, each by itself, all in one
batch and in another order, from another process, which creates the recommender again,
or as usual but in this run, even if earlier runs cached answers.
"""

Need = Literal["ratings", "candidates", "text", "fit"]
"""The needs of a relation: ratings in the history, candidates to choose from, a
recommender that reads text, or one that is fitted to data.
"""

_ASPECTS: Mapping[frozenset[str], Aspect] = {
    frozenset({"scale", "history"}): "ratings",
    frozenset({"scale"}): "ratings",
    frozenset({"history"}): "history",
    frozenset({"edits"}): "history",
    frozenset({"candidates"}): "candidates",
    frozenset({"user", "history"}): "user",
    frozenset({"user"}): "user",
    frozenset({"instruction"}): "instruction",
}
"""The aspect of a change of these fields of a request."""

_NEEDED: Mapping[str, Need] = {
    "history": "ratings",
    "candidates": "candidates",
    "instruction": "text",
    "edits": "text",
}
"""The need of a change of a field."""

NO_WORLD = World()


def unchanged(request: Request, rng: Generator, world: World) -> Request:
    """The request as it is, for relations that only send it in another way."""
    return request


@dataclass(frozen=True)
class Transformation:
    """A named `(request, rng) -> request`.

    Attributes:
        name: The call that creates it, ``scale_ratings(2)``; the same for equal
            arguments.
        apply: Transforms a request. It draws only from the given generator and raises
            `NotApplicable` for requests that it cannot transform.
        promise: The statement that must be true of the two answers, in one sentence.
        promises_change: Whether the promise is that the answers differ.
        changes: The fields of a request that it changes, if any.
        needs: See `Need`.
        promised: The promise that a recommender must make, if not all do: see
            `requests.Promised`.
        unless: The promises that a recommender must not make, one or several: one that
            makes them may rightly answer otherwise.
        origin: The paper or page it comes from.
        same_seed: Whether the follow-up is sent again with the seeds of the source.
            This makes the same request, asked twice, a relation.
        may_keep: Whether an unchanged request is a valid follow-up. If not, the
            relation is not applicable to it.
        asked: How the follow-up is sent; see `Asked`.
        before: Makes from the follow-up another request, which is sent right before it.
            Its answer is discarded. Only for follow-ups that are sent alone.
        training: Changes the data that the recommender is fitted to, ``(dataset, rng)
            -> dataset``, once for all users. Both sides are then answered by fits with
            other seeds, see `pytest_recsys_mt.requests.design.Design.refits`. It raises
            `NotApplicable` for data that it cannot change.
        may_refuse: Whether a `fit` that raises keeps the promise too: the data are not
            valid.
        aspect: The part that a recommender must read for the promise to mean anything;
            see `requests.Aspect`. It follows from `changes` unless it is given; see
            `aspect_of`. Of a relation with `promises_change`, it is what changes as far
            as possible: such a relation shows whether a recommender reads the aspect at
            all. None for relations on training data, and if other fields change.
        window: How many of the latest items of a history are kept, if only they are.
    """

    name: str
    apply: Callable[[Request, Generator, World], Request] = field(
        default=unchanged,
        repr=False,
        compare=False,
    )
    promise: str = ""
    promises_change: bool = field(default=False, kw_only=True)
    changes: frozenset[str] = frozenset()
    needs: frozenset[Need] = frozenset()
    promised: Promised | Literal[""] = field(default="", kw_only=True)
    unless: Promised | Collection[Promised] = field(default=(), kw_only=True)
    origin: str = ""
    same_seed: bool = False
    may_keep: bool = False
    asked: Asked = "together"
    before: Callable[[Request, Generator, World], Request] | None = field(
        default=None,
        repr=False,
        compare=False,
    )
    training: Callable[[Dataset, Generator], Dataset | Renamed] | None = field(
        default=None,
        repr=False,
        compare=False,
    )
    may_refuse: bool = False
    aspect: Aspect | None = field(default=None, kw_only=True)
    window: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        as_before = self.apply is unchanged and self.training is None
        if as_before and self.asked == "together" and not self.same_seed:
            raise RelationError(
                f"{self.name}: it changes nothing; give apply=, a function of (request, rng, world) that "
                f"returns the changed request, or training=, one of (dataset, rng) that returns the "
                f"changed data",
            )
        if self.training is not None and "fit" not in self.needs:
            object.__setattr__(self, "needs", self.needs | {"fit"})
        if self.before is not None and self.asked == "together":
            raise RelationError(
                f"{self.name}: before= needs calls that are sent one by one; add asked='alone'",
            )
        choice(self.name, "asked", self.asked, get_args(Asked))
        for need in self.needs:
            choice(self.name, "needs", need, get_args(Need))
        if self.aspect is not None:
            choice(self.name, "aspect", self.aspect, get_args(Aspect))
        elif self.training is None:
            object.__setattr__(self, "aspect", aspect_of(self.changes))
        choice(self.name, "promised", self.promised, (*get_args(Promised), ""))
        unless = (self.unless,) if isinstance(self.unless, str) else tuple(self.unless)
        for each in unless:
            choice(self.name, "unless", each, get_args(Promised))
        object.__setattr__(self, "unless", unless)

    def declaration(self, *, wants_change: bool) -> str:
        """The declaration by which a recommender rightly breaks a promise about this
        change, as Python writes it.

        Args:
            wants_change: Whether the promise is that the answers differ.

        Returns:
            Such as ``ignores = ("ratings",)``; empty if nothing that it may declare
            excuses it.
        """
        if self.unless:
            return f'promises = ("{next(iter(self.unless))}",)'
        if not wants_change:
            return ""
        if self.window is not None:
            return f"reads_latest = {self.window}"
        if self.aspect is not None:
            return f'ignores = ("{self.aspect}",)'
        return ""

    def __call__(
        self,
        request: Request | None = None,
        rng: Generator | None = None,
        world: World = NO_WORLD,
    ) -> Request:
        """The follow-up request, or `NotApplicable` if the
        request lacks a need of the transformation.
        """
        if request is None or rng is None:
            raise TypeError(
                f"{self.name} is a transformation already and needs a request and a generator of random "
                f"numbers to be called; write {self.name} without ()",
            )
        return self.apply(request, rng, world)


def built_in(
    call: str | tuple[Any, ...],
    *,
    changes: Collection[str] = (),
    needs: Collection[Need] | None = None,
    **facts: Any,
) -> Transformation:
    """A transformation of this package, by the `call` that creates it: a name, or the
    arguments of `call_name`.

    It comes from this project, and has the needs of a change of its fields, unless it
    says otherwise.
    """
    if needs is None:
        needs = {_NEEDED[field] for field in changes if field in _NEEDED}
    name = call if isinstance(call, str) else call_name(*call)
    facts.setdefault("origin", HOUSE)
    return Transformation(
        name,
        changes=frozenset(changes),
        needs=frozenset(needs),
        **facts,
    )


def transformation(
    of: Literal["apply", "training"] = "apply",
    **facts: Any,
) -> Callable[[Callable[..., Any]], Transformation]:
    """Make of a function the `built_in` transformation of its name, with these facts;
    it is the one called `of`.
    """
    return lambda function: built_in(function.__name__, **(facts | {of: function}))


def prompt_edit(
    call: str | tuple[Any, ...],
    edit: Callable[[Generator], Edit],
    promise: str,
    origin: str,
) -> Transformation:
    """A transformation that changes the text of prompts alone:
    `edit` draws the change, separately for each request.
    """

    def apply(request: Request, rng: Generator, world: World) -> Request:
        return request.replace(edits=(*request.edits, edit(rng)))

    return built_in(
        call,
        promise=promise,
        apply=apply,
        changes={"edits"},
        origin=origin,
    )


Relation = Transformation | Callable[..., Transformation]
"""A transformation, or a function that creates it from arguments."""

Function = TypeVar("Function", bound=Callable[..., Transformation])

_USUAL: dict[Callable[..., Transformation], list[Callable[[], Transformation]]] = {}


def usual(*arguments: Any, **keywords: Any) -> Callable[[Function], Function]:
    """Declare arguments that a relation usually has; repeat it for further ones, the
    first is shown.

    The documentation, `pytest_recsys_mt.strategies` and the tests of all relations use
    them.
    """

    def declare(function: Function) -> Function:
        _USUAL.setdefault(function, []).insert(
            0,
            partial(function, *arguments, **keywords),
        )
        return function

    return declare


def usual_of(relation: Relation) -> tuple[Transformation, ...]:
    """A relation as transformations: itself, or what its usual arguments create."""
    if isinstance(relation, Transformation):
        return (relation,)
    return tuple(create() for create in _USUAL.get(relation, ()))


def aspect_of(changed: Collection[str]) -> Aspect | None:
    """The aspect of a change of some fields of a request;
    None if that is not one aspect.
    """
    return _ASPECTS.get(frozenset(changed))


def call_name(function: str, *positional: Any, **keywords: Any) -> str:
    """The call as text, ``typos(0.1)``, without keywords that are False."""
    parts = [_plain(value) for value in positional]
    parts += [
        f"{key}={_plain(value)}"
        for key, value in keywords.items()
        if value is not False
    ]
    return f"{function}({', '.join(parts)})"


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)
