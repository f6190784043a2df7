"""Groups of users that a verdict judges in addition to all users.

A slicing gives each user a group. Groups are made from the requests and the data alone,
of all sampled users and before any of them is asked. So no answer decides who belongs
to which group, or how many groups there are.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pytest_recsys_mt.oracles.aggregates.aggregate import Aggregate
from pytest_recsys_mt.oracles.scores.popularity_scores import own_items
from pytest_recsys_mt.oracles.similarities.similarity import choices
from pytest_recsys_mt.requests import Item, Request
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context

Slicing = str | Callable[[Request], str]
"""A name of `SLICINGS`, the name of an attribute of users, or a
function from a user's request to a group.
"""

Slices = Sequence[Slicing]
"""Several slicings; each divides all users."""

LEAST = 10
"""Sampled users that a group needs; smaller groups of a slicing are judged as one."""

OTHERS = "others"
"""The users of all groups that are too small."""

UNKNOWN = "unknown"
"""The group of users who lack the attribute of a slicing."""


SWITCH = "--recsys-slices"
"""The option with the slicings of a run."""

ITEMS = "items:"
"""The beginning of the name of a slicing that divides items; see `item_slices`."""


def items_divided_by(slicing: Slicing) -> str:
    """The name of a slicing, if it divides items; else empty."""
    divides_items = isinstance(slicing, str) and slicing.startswith(ITEMS)
    return str(slicing) if divides_items else ""


@dataclass(frozen=True)
class Group:
    """Some of the sampled users.

    Attributes:
        slicing: The division of the users.
        value: The group's own name.
        users: The ids of its users.
    """

    slicing: str
    value: str
    users: frozenset[str]


def groups_of(
    slices: Slices | None,
    oracle: str,
    context: Context,
) -> tuple[Group, ...]:
    """The groups of users of each slicing that makes more than one, in order of their
    names.

    Args:
        slices: The slicings of a test; None takes those of the run.
        oracle: The oracle that was given them.
        context: The facts of the run.
    """
    given: Slices = context.slices if slices is None else slices
    slicings = [slicing for slicing in given if not items_divided_by(slicing)]
    where = SWITCH if slices is None else oracle
    users = context.everybody() if slicings else ()
    if not users:
        return ()
    groups: list[Group] = []
    for slicing in dict.fromkeys(slicings):
        name = _name(slicing, where)
        values = _values(slicing, name, where, users, context)
        groups += _large_groups(name, values, users)
    return tuple(groups)


def _large_groups(
    name: str,
    values: Sequence[str],
    users: Sequence[Asked],
) -> list[Group]:
    """The groups of a slicing with at least `LEAST` users; the others are one group."""
    users_by_value: dict[str, set[str]] = defaultdict(set)
    for asked, value in zip(users, values, strict=True):
        users_by_value[value].add(asked.user)
    if len(users_by_value) < 2:
        return []
    _join_small(users_by_value)
    groups = []
    for value, own in sorted(users_by_value.items()):
        # All small groups together may still be too small.
        if len(own) >= LEAST:
            groups.append(Group(name, value, frozenset(own)))
    return groups


def _join_small(users_by_value: dict[str, set[str]]) -> None:
    """Put the users of small groups into one group."""
    small = []
    for value, own in users_by_value.items():
        if len(own) < LEAST:
            small.append(value)
    others: set[str] = set()
    for value in small:
        others |= users_by_value.pop(value)
    if others:
        users_by_value[OTHERS] |= others


def sliced(oracle: str, slices: Slices | None, measure: object) -> Slices | None:
    """The slicings to judge a measure by: none for an aggregate,
    and an error if a test asks for some of it.
    """
    if not isinstance(measure, Aggregate):
        return slices
    if slices:
        raise OracleError(
            f"{oracle}: slices={tuple(slices)!r} cannot be judged, because an aggregate is a number of all users "
            f"together, which depends on how many they are: the limit for all says nothing about a group; leave "
            f"slices out, or use a score of single answers",
        )
    return ()


def require_slicings(
    slicings: Iterable[str],
    attributes: Collection[str],
    items: Iterable[Item],
) -> None:
    """Check the names that a run is given against the
    attributes of users and the catalogue.
    """
    for name in slicings:
        if items_divided_by(name):
            continue
        if name == "genre":
            have_genres = any(item.attributes.get("genres") for item in items)
            if not have_genres:
                raise _unfit(name, SWITCH)
        if name not in SLICINGS and name not in attributes:
            raise _unknown(name, SWITCH, attributes)


def _unfit(slicing: str, where: str) -> OracleError:
    """The error of a built-in slicing for which the data lack something."""
    others = [each for each in SLICINGS if each != slicing]
    return OracleError(
        f"{where}: {slicing!r} cannot divide the users, because the data lack what it goes by; "
        f"choose from {', '.join(others)}",
    )


def _unknown(name: object, where: str, attributes: Collection[str]) -> OracleError:
    """The error of a name that is neither a slicing nor an attribute of users."""
    of_users = sorted(set(attributes) - {*SLICINGS})
    known = [*SLICINGS, *of_users]
    none = "" if attributes else "; the data have no attributes of users"
    return OracleError(
        f"{where}: there is no slicing {name!r}; {choices(name, known)}, {ITEMS}popularity or {ITEMS} "
        f"with an attribute of items, or give an oracle a function from a request to a text{none}",
    )


def _name(slicing: Slicing, where: str) -> str:
    """The name of a slicing, as reports show it."""
    if isinstance(slicing, str):
        return slicing
    name = getattr(slicing, "__name__", "")
    if not callable(slicing) or not name or name == "<lambda>":
        raise OracleError(
            f"{where}: {slicing!r} is no slicing: give a name ({', '.join(SLICINGS)}, or an attribute of users), "
            f"or a function with a name of its own, which reports show; define it with def",
        )
    return str(name)


def _values(
    slicing: Slicing,
    name: str,
    where: str,
    users: Sequence[Asked],
    context: Context,
) -> Sequence[str]:
    """The group of each user."""
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


def _own(
    slicing: Callable[[Request], str],
    name: str,
    where: str,
    request: Request,
) -> str:
    """The group that a function of the user's gives to a request."""
    try:
        value = slicing(request)
    except Exception as error:
        raise OracleError(
            f"{where}: the slicing {name} raised {type(error).__name__}: {error}, for user {request.user!r}; it "
            f"must return a text for every request",
        ) from error
    if not isinstance(value, str) or not value.strip():
        raise OracleError(
            f"{where}: the slicing {name} returned {value!r} for user {request.user!r}; it must return a text, the "
            f"name of the user's group",
        )
    return value


def _activity(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """How many interactions are known of a user: the thirds
    ``light``, ``medium`` and ``heavy``.
    """
    counts = [len(own_items(asked)) for asked in users]
    return _parts(counts, ("light", "medium", "heavy"))


def _genre(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """The most frequent genre of the user's items; of equally
    frequent ones the first by its name.
    """
    return [_main_genre(asked, context) for asked in users]


def _main_genre(asked: Asked, context: Context) -> str:
    """See `_genre`; of items without genres it is unknown."""
    frequency = Counter[str]()
    for item in own_items(asked):
        if item in context.items:
            attributes = context.items[item].attributes
            for genre in attributes.get("genres", ()):
                frequency[genre] += 1
    genres = sorted(frequency, key=lambda genre: (-frequency[genre], genre))
    if not genres:
        return UNKNOWN
    return str(genres[0])


def _ratings(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """The mean rating in the request: the thirds ``low``, ``middle`` and ``high``."""
    means = []
    for asked in users:
        request = asked.request
        ratings = [request.scale.unit(rating.value) for rating in request.history]
        means.append(_mean(ratings))
    return _parts(means, ("low", "middle", "high"))


def _taste(users: Sequence[Asked], context: Context) -> Sequence[str]:
    """The mean popularity of the user's past: the halves ``niche`` and ``mainstream``."""
    counts = context.popularity
    means = []
    for asked in users:
        own_counts = [counts.get(item, 0) for item in own_items(asked)]
        log_counts = [math.log1p(count) for count in own_counts]
        means.append(_mean(log_counts))
    return _parts(means, ("niche", "mainstream"))


SLICINGS = MappingProxyType(
    {"activity": _activity, "genre": _genre, "ratings": _ratings, "taste": _taste},
)
"""The built-in slicings; their docstrings say what they go by."""


def _mean(values: Sequence[float]) -> float | None:
    """The mean; None of no values."""
    if not values:
        return None
    return math.fsum(values) / len(values)


def _parts(numbers: Sequence[float | None], names: Sequence[str]) -> Sequence[str]:
    """For each number the name of the part in which it is, of as many equal parts as
    there are names, ascending.
    """
    known = sorted(number for number in numbers if number is not None)
    cuts = []
    if known:
        for part in range(1, len(names)):
            place = len(known) * part // len(names)
            cuts.append(known[place])
    parts = []
    for number in numbers:
        if number is None:
            parts.append(UNKNOWN)
        else:
            part = sum(number >= cut for cut in cuts)
            parts.append(names[part])
    return parts
