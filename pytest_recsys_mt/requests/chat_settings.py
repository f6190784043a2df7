"""Settings of chat models that a spec or a file gives: the system message, the texts that
end an answer, and the file of all settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
    stops = tuple(given)
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
    known: Sequence[str],
    spec: str,
) -> tuple[dict[str, str], dict[str, Any]]:
    """The parameters of a spec together with those of its file.

    Args:
        given: Those of the spec, as text.
        known: Parameters of the model; other keys of the file are fields of the
            request.
        spec: The whole spec, for errors.

    Returns:
        All parameters as text, and the further fields of the request.

    Raises:
        RecommenderError: If the file cannot be read, or says what the spec says too.
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
    fields = {}
    for key, value in settings.items():
        if key in parameters:
            raise RecommenderError(
                f"{spec!r} gives {key!r}, and so does {name!r}; say it in one place",
            )
        if key not in known:
            fields[key] = value
        else:
            parameters[key] = _as_text(value)
    return parameters, fields


def _as_text(value: object) -> str:
    """A value of TOML as a spec writes it."""
    if isinstance(value, str):
        return value
    return json.dumps(value)
