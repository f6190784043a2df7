"""Templates of an HTTP request: values of TOML in which ``{user}`` stands for a value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pytest_recsys_mt.safety.errors import meant
from pytest_recsys_mt.safety.redaction import shortened

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
"""A placeholder, a doubled brace, which stands for one, or a brace alone."""

ABSENT = object()
"""The value of a placeholder whose field is left out of the request."""

Values = Callable[[str], Any]
"""The value of a placeholder, by its name."""


class TemplateError(ValueError):
    """A template that cannot be filled with any values; the text says why."""


class UnfilledError(ValueError):
    """A template that cannot be filled for one request, which lacks a value."""


class UnsendableError(ValueError):
    """A value of a request that the template cannot send."""


def names_in(template: Any) -> Iterator[str]:
    """The names of all placeholders in a template.

    Raises:
        TemplateError: If a brace stands alone.
    """
    if isinstance(template, Mapping):
        for value in template.values():
            yield from names_in(value)
    elif isinstance(template, list):
        for value in template:
            yield from names_in(value)
    elif isinstance(template, str):
        for found in PLACEHOLDER.finditer(template):
            if found[0] in ("{", "}"):
                raise TemplateError(
                    f"{shortened(repr(template), 80)} has a brace alone; write {{{{ for {{ and }}}} for }}",
                )
            if found[1] is not None:
                yield found[1]


def parts_of(
    template: Any, keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The texts of a template, each with the keys that lead to it."""
    if isinstance(template, Mapping):
        for key, value in template.items():
            yield from parts_of(value, (*keys, key))
    elif isinstance(template, list):
        for value in template:
            yield from parts_of(value, keys)
    else:
        yield keys, template


def require_known(name: str, known: Collection[str]) -> None:
    """Raise an error for a placeholder that does not exist.

    Args:
        name: The name of the placeholder.
        known: The names that exist; one that ends in ``.NAME`` stands for any name
            behind the dot.

    Raises:
        TemplateError: With the names that exist.
    """
    base, dot, last = name.partition(".")
    if name in known or (dot and last and f"{base}.NAME" in known):
        return
    choices = ", ".join(f"{{{each}}}" for each in known)
    raise TemplateError(
        f"there is no placeholder {{{name}}} here{meant(name, known)}; valid ones: {choices}",
    )


def filled(template: Any, values: Values) -> Any:
    """A template with values for its placeholders.

    A text that is one placeholder alone becomes the value with its type. In a longer
    text, a list becomes its entries, joined by commas. A field of a table whose value is
    `ABSENT` is left out.
    """
    if isinstance(template, Mapping):
        pairs = ((key, filled(value, values)) for key, value in template.items())
        return {key: value for key, value in pairs if value is not ABSENT}
    if isinstance(template, list):
        return [
            value
            for value in (filled(each, values) for each in template)
            if value is not ABSENT
        ]
    if not isinstance(template, str):
        return template
    alone = PLACEHOLDER.fullmatch(template)
    if alone is not None and alone[1] is not None:
        return values(alone[1])
    return in_text(template, values)


def in_text(
    template: str,
    values: Values,
    written: Callable[[str], str] = str,
    *,
    required: bool = False,
) -> str:
    """A text with values for its placeholders.

    Args:
        template: The text.
        values: The values.
        written: How a value is written, such as quoted for an address.
        required: Whether each placeholder needs a value that is not empty.

    Raises:
        UnfilledError: If a required value is missing.
    """

    def replaced(found: re.Match[str]) -> str:
        name: str | None = found[1]
        if name is None:
            return found[0][0]
        text = as_text(values(name))
        if required and not text:
            raise UnfilledError(f"{template!r} needs {{{name}}}, which this user lacks")
        return written(text)

    return PLACEHOLDER.sub(replaced, template)


def as_text(value: Any) -> str:
    """A value as it stands within a text."""
    if value is None or value is ABSENT:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(as_text, value))
    if isinstance(value, Mapping):
        return json.dumps(dict(value), allow_nan=False)
    return str(value)


def pairs(query: Mapping[str, Any], values: Values) -> list[tuple[str, str]]:
    """The parameters of a query; one without a value is left out, and one whose value is
    a list in the template is repeated.
    """
    found: list[tuple[str, str]] = []
    for name, template in query.items():
        value = filled(template, values)
        if isinstance(template, list):
            entries = [
                entry
                for each in value
                for entry in (each if isinstance(each, list | tuple) else [each])
            ]
        else:
            entries = [] if value is None or value is ABSENT else [value]
        found += [(name, as_text(entry)) for entry in entries]
    return found
