"""Settings of chat models that a spec or a file gives: the system message, the texts that
end an answer, and the file of all settings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.requests import specs
from pytest_recsys_mt.requests.prompt import Message, Prompt
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.files import content_of, expanded, toml_of

FILE = "request"
"""The parameter of a spec that names a file of settings."""

MOST_STOPS = 16
"""The largest number of stop texts that an endpoint is known to take (vLLM has no limit,
OpenAI takes 4).
"""


def with_system(prompt: Prompt, system: str | None) -> Prompt:
    """The prompt after a system message, if there is one."""
    if not system:
        return prompt
    return replace(prompt, messages=(Message("system", system), *prompt.messages))


def system_of(model: object) -> str | None:
    """The system message that a model's spec gives."""
    system = getattr(model, "system", None)
    has_own = getattr(model, "adds_system", False)
    return system if isinstance(system, str) and has_own else None


def stops_of(prefix: str, stop: str | Sequence[str] | None) -> tuple[str, ...]:
    """The texts that end an answer.

    Args:
        prefix: Begins the spec of the model, and errors.
        stop: One text, several, or several as a JSON list.

    Raises:
        RecommenderError: If it is none of these, or a text is empty.
    """
    if stop is None:
        return ()
    given: Any = stop
    if isinstance(stop, str):
        try:
            parsed = json.loads(stop) if stop.startswith("[") else [stop]
        except ValueError:
            parsed = [stop]
        given = parsed
    stops = tuple(given) if isinstance(given, Sequence) else (given,)
    if (
        not all(isinstance(each, str) and each for each in stops)
        or len(stops) > MOST_STOPS
    ):
        raise RecommenderError(
            f"{prefix}: stop={stop!r} must be a text or a JSON list of at most {MOST_STOPS}, none of them empty, as in "
            f'stop=["\\n\\n", "END"]',
        )
    return stops


def before_stops(text: str, stops: Sequence[str]) -> str:
    """A text up to the first of the texts that end it."""
    places = [text.find(stop) for stop in stops]
    found = [place for place in places if place >= 0]
    return text[: min(found)] if found else text


def with_file(
    given: Mapping[str, str],
    model: Callable[..., Any],
    spec: str,
    extra: Collection[str] = (),
) -> tuple[dict[str, str], dict[str, Any]]:
    """The parameters of a spec together with those of its file.

    Args:
        given: Those of the spec, as text.
        model: The class of the model; keys of the file that are none of its parameters
            are fields of the request.
        spec: The whole spec, for errors.
        extra: The fields of the request that the spec gives.

    Returns:
        All parameters as text, and the further fields of the request.

    Raises:
        RecommenderError: If the file cannot be read, says what the spec says too, or
            has a key or a value that no request can have.
    """
    parameters = dict(given)
    name = parameters.pop(FILE, None)
    if name is None:
        return parameters, {}
    try:
        settings = toml_of(content_of(expanded(name)))
    except (OSError, ValueError) as problem:
        raise RecommenderError(
            f"{spec!r}: the settings {name!r} cannot be read: {problem}",
        ) from problem
    said = {*parameters, *(f"extra_body.{field}" for field in extra)}
    known, texts = specs.names(model), specs.text_names(model)
    fields = {}
    for key, value in settings.items():
        for twice in said & {key, f"extra_body.{key}"}:
            raise RecommenderError(
                f"{spec!r} gives {twice!r}, and so does {name!r}; say it in one place",
            )
        problem_of_key = _wrong_key(key) or _wrong_value(key, value, texts)
        if problem_of_key:
            place, problem_there = problem_of_key
            raise RecommenderError(
                f"{spec!r}: {place!r} of {name!r}{problem_there}",
            )
        if key not in known:
            fields[key] = value
        else:
            parameters[key] = _as_text(value)
    return parameters, fields


Problem = tuple[str, str]
"""A place in a file, with dots between the keys, and what is wrong there, in words."""


def _wrong_key(key: str) -> Problem | None:
    """What is wrong with a key that only a spec may have; None for any other."""
    if key == FILE:
        return key, ": a file of settings names no other file; leave it out"
    if key in specs.RESOURCES:
        return key, ": it is no setting of a request; give it in the spec alone"
    if key == "extra_body":
        return key, (
            ": fields of the request stand in the file under their own names, such as "
            'service_tier = "flex"; write them without extra_body'
        )
    return None


def _wrong_value(key: str, value: object, texts: Collection[str]) -> Problem | None:
    """What is wrong with the value of a key; None if nothing is.

    Args:
        key: The key.
        value: Its value as TOML gives it.
        texts: The parameters of which only a text can be the value.
    """
    if key in texts and not isinstance(value, str):
        if key != "stop":
            return key, f" is {value!r}, and must be a text"
        if not _are_texts(value):
            return key, f" is {value!r}, and must be a text, or a list of texts"
    return _not_json(key, value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _not_json(place: str, value: object) -> Problem | None:
    """The first value that JSON cannot hold, here or further in; None without one."""
    inner: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    elif not isinstance(value, str | int | float) or not _is_finite(value):
        return place, (
            f" is {value!r}, and must be a text, a finite number, true or false, or a list or table of these, as a request "
            f"is JSON"
        )
    for name, each in inner:
        if problem := _not_json(f"{place}.{name}", each):
            return problem
    return None


def _is_finite(value: str | float) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _as_text(value: object) -> str:
    """A value of TOML as a spec writes it."""
    if isinstance(value, str):
        return value
    return json.dumps(value)
