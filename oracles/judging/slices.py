"""Groups of users that a verdict judges beside all users.

A slicing gives each user a group. Groups are made from the requests and the data alone, of all sampled users
and before any of them is asked. So no answer decides who belongs to which group, or how many groups there are.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pytest_recsys_mt.answers import Asked, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.scores.popularity_scores import own_items
from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import Item, Request

Slicing = str | Callable[[Request], str]
"""A name of `SLICINGS`, the name of an attribute of users, or a function from a user's request to a group."""

Slices = Sequence[Slicing]
"""Several slicings; each divides all users."""

LEAST = 10
"""Sampled users that a group needs; smaller groups of a slicing are judged as one."""

OTHERS = "others"
"""The users of all groups that are too small."""

UNKNOWN = "unknown"
"""The group of users who lack what a slicing goes by."""


@dataclass(frozen=True)
class Group:
    """Ids of some of the sampled users, what divides the users, and the group's own name."""

    slicing: str
    value: str
    users: frozenset[str]


def groups_of(slices: Slices | None, oracle: str, context: Context) -> tuple[Group, ...]:
    """The groups of each slicing that makes more than one, in order of their names; None takes the slicings of the run."""
    where, slicings = (oracle, slices) if slices is not None else (SWITCH, context.slices)
    users = context.everybody() if slicings else ()
    found: list[Group] = []
    for slicing in dict.fromkeys(slicings) if users else ():
        name = _name(slicing, where)
        by_value: dict[str, set[str]] = {}
        for asked, value in zip(users, _values(slicing, name, where, users, context), strict=True):
            by_value.setdefault(value, set()).add(asked.user)
        large = {value: own for value, own in by_value.items() if len(own) >= LEAST}
        small = set[str]().union(*(own for value, own in by_value.items() if value not in large))
        if small:
            large[OTHERS] = large.get(OTHERS, set()) | small
        judged = {value: own for value, own in sorted(large.items()) if len(own) >= LEAST}
        if len(by_value) > 1:
            found += [Group(name, value, frozenset(own)) for value, own in judged.items()]
    return tuple(found)


def sliced(oracle: str, slices: Slices | None, measure: object) -> Slices | None:
    """The slicings to judge a measure by: none for an aggregate, and an error if a test asks for some of it."""
    if not isinstance(measure, Aggregate):
        return slices
    if slices:
        raise OracleError(
            f"{oracle}: slices={tuple(slices)!r} cannot be judged, because an aggregate is a number of all users "
            f"together, which depends on how many they are: the limit for all says nothing about a group; leave "
            f"slices out, or use a score of single answers"
        )
    return ()


SWITCH = "--recsys-slices"


def require_slicings(
    slicings: Iterable[str], attributes: Collection[str], items: Iterable[Item]
) -> None:
    """Check the names that a run is given against the attributes of users and the catalogue."""
    for name in slicings:
        if name == "genre" and not any(item.attributes.get("genres") for item in items):
            raise _unfit(name, SWITCH)
        if name not in SLICINGS and name not in attributes:
            raise _unknown(name, SWITCH, attributes)


def _unfit(slicing: str, where: str) -> OracleError:
    others = [each for each in SLICINGS if each != slicing]
    return OracleError(
        f"{where}: {slicing!r} cannot divide the users, because the data lack what it goes by; "
        f"choose from {', '.join(others)}"
    )


def _unknown(name: object, where: str, attributes: Collection[str]) -> OracleError:
    known = [*SLICINGS, *sorted(set(attributes) - {*SLICINGS})]
    none = "" if attributes else "; the data have no attributes of users"
    return OracleError(
        f"{where}: there is no slicing {name!r}; {choices(name, known)}, or give an oracle a function from a "
        f"request to a text{none}"
    )


def _name(slicing: Slicing, where: str) -> str:
    if isinstance(slicing, str):
        return slicing
    name = getattr(slicing, "__name__", "")
    if not callable(slicing) or not name or name == "<lambda>":
        raise OracleError(
            f"{where}: {slicing!r} is no slicing: give a name ({', '.join(SLICINGS)}, or an attribute of users), "
            f"or a function with a name of its own, which reports show; define it with def"
        )
    return str(name)


def _values(
    slicing: Slicing, name: str, where: str, users: Sequence[Asked], context: Context
) -> Sequence[str]:
    if not isinstance(slicing, str):
        return [_own(slicing, name, where, asked.request) for asked in users]
    if slicing in SLICINGS:
        values = SLICINGS[slicing](users, context)
        if set(values) <= {UNKNOWN}:
            raise _unfit(slicing, where)
        return values
    attributes = {name for asked in users for name in asked.request.attributes}
    if slicing not in attributes:
        raise _unknown(slicing, where, attributes)
    return [str(asked.request.attributes.get(slicing, UNKNOWN)) for asked in users]


def _own(slicing: Callable[[Request], str], name: str, where: str, request: Request) -> str:
    try:
        value = slicing(request)
    except Exception as error:
        raise OracleError(
            f"{where}: the slicing {name} raised {type(error).__name__}: {error}, for user {request.user!r}; it "
            f"must return a text for every request"
        ) from error
    if not isinstance(value, str) or not value.strip():
        raise OracleError(
            f"{where}: the slicing {name} returned {value!r} for user {request.user!r}; it must return a text, the "
            f"name of the user's group"
        )
    return value


def _activity(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """How many interactions are known of a user: the thirds ``light``, ``medium`` and ``heavy``."""
    return _parts([len(own_items(asked)) for asked in users], ("light", "medium", "heavy"))


def _genre(users: Sequence[Asked], context: Context) -> Sequence[str]:
    found = []
    for asked in users:
        items = [context.items[item] for item in own_items(asked) if item in context.items]
        genres = Counter(genre for item in items for genre in item.attributes.get("genres", ()))
        found.append(str(min(genres, key=lambda each: (-genres[each], each), default=UNKNOWN)))
    return found


def _ratings(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """The mean rating in the request: the thirds ``low``, ``middle`` and ``high``."""
    return _parts(
        [
            _mean([asked.request.scale.unit(each.value) for each in asked.request.history])
            for asked in users
        ],
        ("low", "middle", "high"),
    )


def _taste(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """The mean popularity of the user's past: the halves ``niche`` and ``mainstream``."""
    counts = context.popularity
    return _parts(
        [_mean([math.log1p(counts.get(item, 0)) for item in own_items(asked)]) for asked in users],
        ("niche", "mainstream"),
    )


SLICINGS = MappingProxyType(
    {"activity": _activity, "genre": _genre, "ratings": _ratings, "taste": _taste}
)
"""The built-in slicings; their docstrings say what they go by."""


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _parts(numbers: Sequence[float | None], names: Sequence[str]) -> Sequence[str]:
    known = sorted(number for number in numbers if number is not None)
    cuts = (
        [known[len(known) * part // len(names)] for part in range(1, len(names))] if known else []
    )
    return [
        UNKNOWN if number is None else names[sum(number >= cut for cut in cuts)]
        for number in numbers
    ]
