"""The faults that come with the tool, and how a fault is named."""

import difflib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from pytest_recsys_mt.extensions import FAULTS, entry_points
from pytest_recsys_mt.faults.fault import Fault, Known
from pytest_recsys_mt.requests.own_code import in_file, in_module
from pytest_recsys_mt.safety.errors import FaultError, RecommenderError

_MODULES = ("reading", "listing", "serving")


@dataclass(frozen=True)
class Dose:
    """A fault and its strength, before the fault object is made."""

    name: str
    kind: type[Fault]
    strength: float

    @property
    def spec(self) -> str:
        """The name that ``recsys_fault`` takes: ``latest_only:3``."""
        return f"{self.name}:{self.strength:g}"

    @property
    def does(self) -> str:
        """Its effect, in words that follow "the recommender"."""
        return self.kind.words(self.strength)

    def planted(self, known: Known) -> Fault:
        """The fault, for one recommender."""
        return self.kind(self.strength, known)


def name_of(kind: type[Fault]) -> str:
    """The name of a class of faults: ``latest_only`` for ``LatestOnly``."""
    return re.sub("(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


@cache
def shipped() -> Mapping[str, type[Fault]]:
    """The faults of this package and of the group `extensions.FAULTS`, by name."""
    found: dict[str, type[Fault]] = {}
    for module in _MODULES:
        loaded = importlib.import_module(f"pytest_recsys_mt.faults.{module}")
        for name, kind in vars(loaded).items():
            own = inspect.isclass(kind) and kind.__module__ == loaded.__name__
            if own and issubclass(kind, Fault) and not name.startswith("_"):
                found[name_of(kind)] = kind
    for point in entry_points(FAULTS):
        found.setdefault(point.name, _fault(point.load(), point.name))
    return found


def dose(spec: str) -> Dose:
    """The fault that a spec names: ``latest_only``, ``latest_only:3``,
    ``package.module:Name:0.5``.

    Without a strength it has the last of its strengths, the whole fault.
    """
    before, colon, text = spec.rpartition(":")
    name, strength = spec, None
    try:
        if colon:
            name, strength = before, float(text)
    except ValueError:
        if before in shipped():
            raise FaultError(
                f"{spec!r}: {text!r} is no strength; {before} has {_strengths(shipped()[before])}",
            ) from None
    kind = _kind(name)
    if strength is None:
        strength = kind.strengths[-1]
    if not 0 < strength < float("inf"):
        raise FaultError(
            f"{spec!r}: the strength of a fault is a number above 0; {name!r} has "
            f"{_strengths(kind)}",
        )
    return Dose(name, kind, strength)


def doses(patterns: Sequence[str] = ()) -> list[Dose]:
    """All shipped faults in all their strengths, or those that patterns name.

    Args:
        patterns: Each a name, a name with a strength, a pattern (``minds_*``,
            ``latest_only:*``), or ``package.module:Name``.
    """
    known = [
        Dose(name, kind, strength)
        for name, kind in shipped().items()
        for strength in kind.strengths
    ]
    if not patterns:
        return known
    found: dict[str, Dose] = {}
    for pattern in patterns:
        chosen = [
            each
            for each in known
            if fnmatchcase(each.name, pattern) or fnmatchcase(each.spec, pattern)
        ]
        if not chosen:
            one = dose(pattern)
            strengths = [one.strength] if one.spec == pattern else one.kind.strengths
            chosen = [Dose(one.name, one.kind, each) for each in strengths]
        found |= {each.spec: each for each in chosen}
    return list(found.values())


def _kind(name: str) -> type[Fault]:
    if name in shipped():
        return shipped()[name]
    where, colon, attribute = name.rpartition(":")
    if colon and where:
        in_it = in_file if where.endswith(".py") else in_module
        if (here := os.getcwd()) not in sys.path:
            sys.path.append(here)  # as under `python -m pytest`
        try:
            return _fault(in_it(where, attribute, name), name)
        except RecommenderError as error:
            raise FaultError(
                f"the fault {name!r} cannot be loaded; name it FILE.py:CLASS, or MODULE:CLASS of an "
                f"installed module or one in {here!r}: {error}",
            ) from error
    near = difflib.get_close_matches(name, shipped(), 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise FaultError(
        f"there is no fault {name!r}; {hint}choose one of {', '.join(sorted(shipped()))}, or name your "
        f"own: package.module:Name",
    )


def _fault(found: object, name: str) -> type[Fault]:
    if not (
        inspect.isclass(found)
        and issubclass(found, Fault)
        and found.does
        and found.strengths
    ):
        raise FaultError(
            f"{name!r} is not a fault: it must be a class below pytest_recsys_mt.faults.Fault with the "
            f"attributes `does` and `strengths`",
        )
    try:
        strengths = [*map(float, found.strengths)]
        words = [*map(found.words, strengths)]
    except Exception as error:
        raise FaultError(
            f"{name!r} cannot be planted: `strengths` ({found.strengths!r}) must be numbers above 0, and "
            f"`does` ({found.does!r}) a text in which only {{strength:g}} and {{share}} stand in "
            f"braces; it raised {type(error).__name__}: {error}",
        ) from error
    if min(strengths) <= 0 or not all(words):
        raise FaultError(
            f"{name!r}: the strengths of a fault are numbers above 0, got {found.strengths!r}",
        )
    return found


def _strengths(kind: type[Fault]) -> str:
    return ", ".join(f"{each:g}" for each in kind.strengths)
