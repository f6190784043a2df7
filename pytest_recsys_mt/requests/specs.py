"""The part of a spec after the question mark:
``?key=value&key=value``, typed by a signature.
"""

import inspect
import json
import math
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, Union, get_args, get_origin
from urllib.parse import parse_qsl

from pytest_recsys_mt.safety.errors import RecommenderError, meant
from pytest_recsys_mt.safety.raised import with_traceback
from pytest_recsys_mt.safety.redaction import shown

_BOOLEANS = {
    "1": True,
    "true": True,
    "yes": True,
    "0": False,
    "false": False,
    "no": False,
}

RESOURCES = {"cpus": 0.01, "gpus": 0.0}
"""Parameters of every spec that its recommender does not
receive, with the least value of each.
"""


Rule = tuple[str, object, bool, str]
"""The name of an argument, its value, whether it fits, and the required kind."""


def check(where: str, *rules: Rule) -> None:
    """Check the arguments of a recommender, which come from a spec or from Python; the
    first that does not fit is named.
    """
    for name, value, fits, allowed in rules:
        if not fits:
            raise RecommenderError(f"{where}: {name} must be {allowed}, got {value!r}")


def at_least(least: int, owner: object, *names: str) -> list[Rule]:
    """The rules that the named attributes of `owner` are finite and not
    below `least`.
    """
    rules: list[Rule] = []
    for name in names:
        value = getattr(owner, name)
        allowed = f"at least {least}" + " and finite" * isinstance(value, float)
        rules.append((name, value, least <= value < math.inf, allowed))
    return rules


def split(spec: str) -> tuple[str, dict[str, str]]:
    """The spec without its parameters, and the parameters as text."""
    target, _, query = spec.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError as error:
        raise RecommenderError(
            f"the parameters of {shown(spec)!r} are not key=value pairs joined by '&'",
        ) from error
    given = dict(pairs)
    if len(given) < len(pairs):
        twice = next(
            key for key, _ in pairs if [name for name, _ in pairs].count(key) > 1
        )
        raise RecommenderError(f"{shown(spec)!r} gives the parameter {twice!r} twice")
    return target, given


def nested(
    given: Mapping[str, str],
    name: str,
    spec: str,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters ``name.KEY=VALUE`` as one mapping, and the other parameters.

    Each further dot of a key makes a mapping in the mapping. A value is JSON if it can
    be read as such, else text.
    """
    found: dict[str, Any] = {}
    others = {
        key: text for key, text in given.items() if not key.startswith(f"{name}.")
    }
    for key in given.keys() - others.keys():
        *path, last = key.split(".")[1:]
        inner: Any = found
        for part in path:
            inner = inner.setdefault(part, {}) if isinstance(inner, dict) else None
        if not all((*path, last)) or not isinstance(inner, dict) or last in inner:
            raise RecommenderError(
                f"{shown(spec)!r}: {key!r} is not a field of its own; write {name}.KEY=VALUE, with dots "
                f"between the keys of nested fields, and each field once",
            )
        try:
            inner[last] = json.loads(given[key], parse_constant=str)
        except (ValueError, RecursionError):
            inner[last] = given[key]
    return found, others


def resources(spec: str) -> tuple[str, dict[str, float]]:
    """The spec without ``cpus`` and ``gpus``, and the given ones of these two.

    They are the resources of each Ray actor, not parameters of the recommender.
    """
    target, mark, query = spec.partition("?")
    found: dict[str, float] = {}
    kept = []
    for part in query.split("&"):
        name, _, text = part.partition("=")
        if name not in RESOURCES:
            kept.append(part)
            continue
        if name in found:
            raise RecommenderError(
                f"{shown(spec)!r} gives the parameter {name!r} twice",
            )
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = -1.0
        if not RESOURCES[name] <= found[name] < float("inf"):
            raise RecommenderError(
                f"{shown(spec)!r}: {name}={shown(text)!r} is not a number from {RESOURCES[name]:g}; it says how "
                f"many {'cores' if name == 'cpus' else 'GPUs'} each Ray actor takes",
            )
    return target + (mark + "&".join(kept) if kept else ""), found


def require_known(given: Iterable[str], known: Collection[str], spec: str) -> None:
    """Check that all given parameters are known ones; the first other one is named."""
    unknown = next((key for key in given if key not in known), None)
    if unknown is not None:
        valid = ", ".join(map(repr, known)) or "none"
        raise RecommenderError(
            f"{shown(spec)!r}: unknown parameter {unknown!r}; valid ones: {valid}{meant(unknown, known)}",
        )


def build(factory: Callable[..., Any], given: Mapping[str, str], spec: str) -> Any:
    """Call `factory` with the given parameters, each
    converted to the type its signature states.
    """
    parameters = _parameters(factory, given, spec)
    require_known(given, parameters, spec)
    missing = [
        key
        for key, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty and key not in given
    ]
    if missing:
        raise RecommenderError(
            f"{shown(spec)!r} needs a value for {missing[0]!r}: give a default, a factory without "
            f"arguments, or '?{missing[0]}=VALUE'",
        )
    values = {}
    for key, text in given.items():
        try:
            values[key] = _convert(text, parameters[key].annotation)
        except ValueError as error:
            raise RecommenderError(
                f"{shown(spec)!r}: {key}={shown(text)!r} is not {error}",
            ) from None
    try:
        return factory(**values)
    except RecommenderError:
        raise
    except (Exception, SystemExit) as error:
        raise RecommenderError(
            with_traceback(f"{shown(spec)!r} cannot be built:", error),
        ) from error


def names(factory: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that a spec may give to a class or factory."""
    return tuple(_parameters(factory, {}, ""))


def text_names(factory: Callable[..., Any]) -> tuple[str, ...]:
    """Those of its parameters that take any text, and nothing but texts or None."""
    hints = inspect.signature(factory, eval_str=True).parameters
    return tuple(name for name, hint in hints.items() if _is_text(hint.annotation))


def _is_text(hint: Any) -> bool:
    choices = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return {str} == {*choices} - {type(None)}


def _parameters(
    factory: Callable[..., Any],
    given: Mapping[str, str],
    spec: str,
) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(factory, eval_str=bool(given))
    except (ValueError, TypeError, NameError) as error:
        if not given:
            return {}
        raise RecommenderError(
            f"the parameters of {shown(spec)!r} cannot be read from its signature: {error}",
        ) from error
    return {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def _convert(text: str, hint: Any) -> Any:
    if get_origin(hint) is Literal:
        by_text = {str(choice): choice for choice in get_args(hint)}
        if text not in by_text:
            raise ValueError(f"one of {', '.join(map(repr, by_text))}")
        return by_text[text]
    if get_origin(hint) in (Union, types.UnionType):
        return _convert_union(text, get_args(hint))
    if hint is bool:
        if text.casefold() not in _BOOLEANS:
            raise ValueError(f"one of {', '.join(map(repr, _BOOLEANS))}")
        return _BOOLEANS[text.casefold()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            raise ValueError("a whole number" if hint is int else "a number") from None
    return text


def _convert_union(text: str, choices: tuple[Any, ...]) -> Any:
    literals = [
        str(v) for c in choices if get_origin(c) is Literal for v in get_args(c)
    ]
    if (
        type(None) in choices
        and text.casefold() in ("", "none")
        and text not in literals
    ):
        return None
    failures = []
    # str last: every text is a str.
    for choice in sorted(choices, key=lambda choice: choice is str):
        if choice is not type(None):
            try:
                return _convert(text, choice)
            except ValueError as error:
                failures.append(str(error))
    raise ValueError(" nor ".join(failures))
