"""The door of the oracles: what users pass is checked against
the signature before anything is computed.
"""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from pytest_recsys_mt.oracles.arguments import SIDES
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

__all__: list[str] = []

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
