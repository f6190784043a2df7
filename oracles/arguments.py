"""The checks of arguments of oracles: of their types, before an oracle begins, and of
their values, so that all oracles report errors in the same words.
"""

import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from numbers import Integral
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.safety.errors import NotApplicable, OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

__all__: list[str] = []

SIDES = "answers as a metamorphic test is given them (source, followup) or as recsys.run() returns them"

LONGEST = 80
"""Characters of a wrong value that a message shows."""

WORDS: Mapping[Any, str] = {
    Answers: SIDES,
    Verdict: "a verdict, which an oracle returns",
    Sequence: "a sequence, such as a list",
    Collection: "a collection, such as a list or a set",
    Iterable: "a collection, such as a list or a set",
    Mapping: "a mapping, such as a dict",
    Callable: "a function",
    float: "a number",
    int: "a whole number",
    bool: "True or False",
    str: "a text",
    np.ndarray: "an array, or a list of numbers",
}
"""The name of a value of a type; others are named by their type."""


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which raises an `OracleError` for arguments of a wrong type before it
    begins.
    """
    signature = inspect.signature(function)
    allowed = _hints(function)

    @functools.wraps(function)
    def checking(*arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        try:
            given = signature.bind(*arguments, **named)
        except TypeError:
            return function(
                *arguments,
                **named,
            )  # Python's own words name what is missing
        for name, value in given.arguments.items():
            if name in allowed:
                _check(function.__name__, name, value, allowed[name])
        _prepare_pair(given.arguments)
        return function(*given.args, **given.kwargs)

    return checking


def _prepare_pair(arguments: dict[str, Any]) -> None:
    """Make two sides that different recommenders answer comparable; see `Side.beside`."""
    source, followup = arguments.get("source"), arguments.get("followup")
    comparable = getattr(source, "beside", None)
    if comparable is not None and followup is not None:
        arguments["source"], arguments["followup"] = comparable(followup)


def checked_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """A similarity as `checked`, which refuses lists with
    repeats: no similarity is defined for them.
    """
    inner = checked(function)

    @functools.wraps(function)
    def checking(a: Any, b: Any, *arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        result = inner(
            a,
            b,
            *arguments,
            **named,
        )  # it refuses what is no array of lists
        for name, lists in (("a", a), ("b", b)):
            ordered = np.sort(np.asarray(lists), axis=1)
            rows, places = np.nonzero(
                (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0),
            )
            if len(rows):
                raise OracleError(
                    f"{function.__name__}: row {rows[0]} of {name} has the item {ordered[rows[0], places[0]]} twice; a "
                    f"list has each item once: keep its first place, and fill the end with -1",
                )
        return result

    return checking


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError:
        return {}


def _check(function: str, name: str, value: Any, hint: Any) -> None:
    if not _fits(value, hint):
        shown = repr(value)
        shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
        one = (
            f"; write {name}=[{shown}]"
            if isinstance(value, str) and _fits([value], hint)
            else ""
        )
        raise OracleError(
            f"{function}: {name} must be {_words(hint)}, got {shown}{one}; see "
            f"help(pytest_recsys_mt.oracles.{function})",
        )


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if hint is Any or isinstance(hint, typing.TypeVar):
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if value is None or hint is type(None):
        return value is None and hint in (None, type(None), object)
    if origin is Mapping:
        return hasattr(value, "keys") and hasattr(value, "__getitem__")
    if origin in (Sequence, Collection, Iterable):
        return hasattr(value, "__iter__") and not isinstance(value, str | bytes)
    return origin is not Callable or callable(value)


def _words(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if origin in (Union, types.UnionType):
        parts = [_words(each) for each in get_args(hint)]
        # An array-like is a union of all that numpy reads.
        return (
            WORDS[np.ndarray] if len(parts) > 4 else " or ".join(dict.fromkeys(parts))
        )
    known = WORDS.get(origin) or WORDS.get(hint)
    if known is not None or hint is type(None):
        return known or "None"
    name = getattr(origin or hint, "__name__", None)
    return f"a {name}" if name else str(hint)


def share(oracle: str, name: str, value: Any) -> float:
    """A number strictly between 0 and 1: margins of similarities and rates."""
    number = finite(oracle, name, value)
    if not 0 < number < 1:
        raise OracleError(
            f"{oracle}: {name} must lie between 0 and 1, both excluded, got {value!r}; 0.05 lets "
            f"the mean user change by a twentieth of the range",
        )
    return number


def not_negative(oracle: str, name: str, value: Any) -> float:
    """A finite number of at least 0: margins of scores."""
    number = finite(oracle, name, value)
    if number < 0:
        raise OracleError(f"{oracle}: {name} must be at least 0, got {value!r}")
    return number


def one_side(oracle: str, name: str, value: Any) -> Answers:
    """The answers of one side."""
    if not all(hasattr(value, part) for part in ("sample", "pair", "context", "label")):
        raise OracleError(f"{oracle}: {name} must be {SIDES}, got {value!r}")
    answers: Answers = value
    return answers


def two_sides(oracle: str, source: Any, followup: Any) -> None:
    """The answers of two different sides."""
    one_side(oracle, "source", source)
    one_side(oracle, "followup", followup)
    if source is followup:
        raise OracleError(
            f"{oracle}: source and followup are the same answers, {source!r}; compare "
            f"recsys.run() with recsys.run(a_transformation)",
        )


def two_sides_that_may_differ(oracle: str, source: Any, followup: Any) -> None:
    """Two sides for an oracle that wants them to differ.

    Raises:
        OracleError: If they are not two sides of a run.
        NotApplicable: If the recommender declares that it does not read what is changed
            between them.
    """
    two_sides(oracle, source, followup)
    if reason := source.context.ignored(source, followup):
        raise NotApplicable(reason)


def flat(oracle: str, name: str, values: Any, least: float = -math.inf) -> Floats:
    """A flat list of finite numbers, none below `least`."""
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1:
        raise OracleError(
            f"{oracle}: {name} must be a flat list of numbers, got {values!r}",
        )
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= least))]
    if len(wrong):
        bound = "" if least == -math.inf else f" of at least {least:g}"
        raise OracleError(
            f"{oracle}: {name} contains {float(wrong[0])!r}; each must be a finite number{bound}: leave out users or "
            f"items without one",
        )
    return numbers


def whole(oracle: str, name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise OracleError(
            f"{oracle}: {name} must be a whole number from {least}, got {value!r}",
        )
    return int(value)


def one_of(oracle: str, name: str, value: Any, valid: Sequence[str]) -> None:
    """One of these words."""
    if value not in valid:
        choices = " or ".join(map(repr, valid)).replace(" or ", ", ", len(valid) - 2)
        raise OracleError(f"{oracle}: {name} must be {choices}, got {value!r}")


def as_many(oracle: str, recommended: Sized, offered: Sized) -> None:
    """As many lists as offers."""
    if len(recommended) != len(offered):
        raise OracleError(
            f"{oracle}: recommended and offered each need one entry a user, got {len(recommended)} and {len(offered)}",
        )


def finite(oracle: str, name: str, value: Any) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(number):
        raise OracleError(f"{oracle}: {name} must be a number, got {value!r}")
    return number
