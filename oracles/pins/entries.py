"""The entries of a file of pinned lists, and all mistakes in it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import OracleError, meant
from pytest_recsys_mt.safety.files import content_of, toml_of

KINDS = ("begins", "contains", "equals", "excludes")
"""The keys of an entry that name items."""

KEYS = (*KINDS, "k", "candidates", "strict")
"""All keys of an entry."""

ORDERED = ("equals", "begins")
"""The kinds that ``--recsys-pin`` writes again; an entry has one of them at most."""

SHOWN = 3
"""The most items or users that a message names as choices."""


@dataclass(frozen=True)
class Pin:
    """The required items of one user's lists.

    Attributes:
        user: The id of the user.
        begins: The first items, in this order.
        contains: Items at any place.
        equals: The whole list, in this order.
        excludes: Items at no place.
        k: Length of the list; None takes that of the run.
        candidates: Candidates of the request, 0 for the whole catalogue; None takes
            those of the run.
        strict: Whether no answer of a noisy recommender may differ.
    """

    user: str
    begins: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    equals: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    k: int | None = None
    candidates: int | None = None
    strict: bool = False

    @property
    def wanted(self) -> tuple[str, ...]:
        """The items that must be in the list, each once."""
        return tuple(dict.fromkeys((*self.equals, *self.begins, *self.contains)))

    @property
    def ordered(self) -> str:
        """The kind of `ORDERED` that it has; empty if none."""
        return next((kind for kind in ORDERED if getattr(self, kind)), "")


def read(path: Path) -> tuple[dict[str, Pin], list[str]]:
    """The entries of a file by user, and the mistakes in their form.

    Raises:
        OracleError: If it is no file, or no TOML.
    """
    __tracebackhide__ = True
    try:
        tables = toml_of(content_of(path))
    except FileNotFoundError:
        raise OracleError(
            f"pinned: there is no file {str(path)!r}; pytest --recsys-pin writes it from the current answers",
        ) from None
    except OSError as error:
        raise OracleError(
            f"pinned: {str(path)!r} cannot be read ({error.strerror}); name a file of pinned lists",
        ) from error
    except ValueError as error:
        raise OracleError(
            f"pinned: {str(path)!r} is not TOML: {error}; correct the file there",
        ) from None
    wrong = [
        f"there is no table {name!r}; write one [users.ID] for each user{meant(name, ['users'])}"
        for name in tables
        if name != "users"
    ]
    users = tables.get("users", {})
    if not isinstance(users, dict) or not users:
        return {}, [
            *wrong,
            "it pins no user; write a table [users.ID] with contains = [...]",
        ]
    pins = {}
    for user, table in users.items():
        mistakes = list(_of_form(table))
        wrong += [f"users.{user}: {mistake}" for mistake in mistakes]
        if not mistakes:
            facts: dict[str, Any] = {
                key: tuple(v) if isinstance(v, list) else v for key, v in table.items()
            }
            pins[user] = Pin(user, **facts)
    return pins, wrong


def _of_form(table: Any) -> Iterator[str]:
    """The mistakes in the form of an entry."""
    if not isinstance(table, dict):
        yield f"it must be a table with one of {', '.join(KINDS)}, got {table!r}"
        return
    for key, value in table.items():
        if key not in KEYS:
            yield f"there is no key {key!r}; choose from {', '.join(KEYS)}{meant(key, KEYS)}"
        elif key == "strict":
            if not isinstance(value, bool):
                yield f"strict must be true or false, got {value!r}"
        elif key in ("k", "candidates"):
            least = int(key == "k")
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                yield f"{key} must be a whole number from {least}, got {value!r}"
        elif (
            not isinstance(value, list)
            or not value
            or not all(isinstance(v, str) for v in value)
        ):
            yield f"{key} must be a list of item ids in quotes, at least one, got {value!r}"
        elif len(set(value)) < len(value):
            twice = next(item for item in value if value.count(item) > 1)
            yield f"{key} names {twice!r} twice; name each item once"
    if not set(KINDS) & table.keys():
        yield f"it pins nothing; give it one of {', '.join(KINDS)}"


def contradictions(pin: Pin, k: int, candidates: int) -> Iterator[str]:
    """Why no list at all could keep an entry with any data;
    `k` and `candidates` are those of the run.
    """
    k = k if pin.k is None else pin.k
    candidates = candidates if pin.candidates is None else pin.candidates
    for item in pin.wanted:
        if item in pin.excludes:
            yield f"item {item!r} must be in the list and is excluded; leave one of them out"
    if len(pin.wanted) > k:
        yield f"{len(pin.wanted)} items must be in a list of k = {k}; raise k of this entry, or name fewer"
    if candidates and k > candidates:
        yield f"k = {k} asks for more than the {candidates} candidates; lower k, or say candidates = 0 (whole catalogue)"
    if pin.equals and pin.begins:
        yield "equals says the whole list already; leave out begins"
    for item in pin.contains:
        if pin.equals and item not in pin.equals:
            yield f"contains names {item!r}, which is not in equals; add it there, or leave it out"


def unknown(pin: Pin, users: Collection[str], items: Collection[str]) -> Iterator[str]:
    """The users and items that the data do not have."""
    if pin.user not in users:
        yield (
            f"there is no such user with two interactions or more; the data have {_some(users)}{meant(pin.user, users)}"
        )
    for kind in KINDS:
        for item in getattr(pin, kind):
            if item not in items:
                yield f"{kind}: there is no item {item!r}; the data have {_some(items)}{meant(item, items)}"


def _some(names: Collection[str]) -> str:
    first = ", ".join(map(repr, sorted(names)[:SHOWN]))
    return f"{len(names)}, such as {first}"


def not_offered(pin: Pin, request: Request, items: Collection[str]) -> Iterator[str]:
    """Which items a sound list cannot have, and whether it is
    longer than the list that is pinned as the whole.
    """
    offered = offer(request, items)
    for item in pin.wanted:
        if item in offered:
            continue
        if item in request.known:
            yield f"item {item!r} cannot be in the list: the user has it already; leave it out"
        else:
            yield (
                f"item {item!r} cannot be in the list: it is not among the {len(offered)} candidates; say candidates = 0, "
                f"which offers the whole catalogue"
            )
    length = min(request.k, len(offered))
    if pin.equals and len(pin.equals) < length:
        yield (
            f"equals names {len(pin.equals)} items, and lists have {length}; name {length}, say k = {len(pin.equals)}, or "
            f"use begins"
        )


def offer(request: Request, items: Collection[str]) -> frozenset[str]:
    """The ids of the items that a request offers."""
    if request.candidates is not None:
        return frozenset(item.id for item in request.candidates)
    return frozenset(items).difference(request.known)


def refuse(path: Path, wrong: Sequence[str]) -> None:
    """Raise one error with all that is wrong with a file, if anything is."""
    __tracebackhide__ = True
    if wrong:
        lines = "".join(f"\n  {each}" for each in wrong)
        many = "1 mistake" if len(wrong) == 1 else f"{len(wrong)} mistakes"
        raise OracleError(f"pinned: {str(path)!r} has {many}:{lines}")


def of_user(pin: Pin, mistakes: Iterable[str]) -> list[str]:
    """Mistakes with the place of their entry."""
    return [f"users.{pin.user}: {each}" for each in mistakes]
