"""Prices of tokens. A missing price is unknown, not zero."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_recsys_mt.errors import PriceError

HOST = "api.openai.com"
"""The host whose prices come with this package; other hosts have other prices for a model."""

_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model's tokens."""

    input: float  # USD for a million prompt tokens
    output: float  # USD for a million tokens of answers
    date: str = ""
    source: str = ""
    cached_input: float | None = None  # of those from the provider's cache; None if unknown

    @property
    def is_free(self) -> bool:
        """Whether any number of tokens costs nothing."""
        return not self.input and not self.output

    def usd(
        self, prompt_tokens: float, completion_tokens: float, cached_tokens: float = 0
    ) -> float:
        """The cost of these tokens; the cached ones are among those of prompts.

        They cost as any other if they have no price of their own.
        """
        cached = self.input if self.cached_input is None else self.cached_input
        prompts = (prompt_tokens - cached_tokens) * self.input + cached_tokens * cached
        return (prompts + completion_tokens * self.output) / _TOKENS


FREE = Price(0.0, 0.0)
"""The price of models on the user's own machine."""


class Prices:
    """Prices by model; the user's `own`, by the spec of a recommender or the name of a model, come first."""

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = dict(own or {})
        packaged = resources.files("pytest_recsys_mt.calls").joinpath("prices.toml")
        self._packaged = prices_in(packaged.read_text(encoding="utf-8"), "prices.toml")

    @classmethod
    def load(cls, path: Path | None) -> Prices:
        """The prices that come with this package, and those of a file of the user's."""
        return cls() if path is None else cls(prices_in(text_of(path), str(path)))

    def of(self, spec: str, identity: Mapping[str, object]) -> Price | None:
        """The price of a recommender, or None if it is unknown.

        The user's prices are looked up by the spec, by the spec without its parameters, and by the
        name of the model. Models in this process are free: built-in recommenders and ``hf:``.
        """
        model, host = identity.get("model"), identity.get("host")
        for name in (spec, spec.partition("?")[0], model):
            if isinstance(name, str) and name in self._own:
                return self._own[name]
        if identity.get("provider") == "hf" or _is_built_in(spec, identity):
            return FREE
        if isinstance(host, str) and urlsplit(host).hostname == HOST:
            return self._packaged.get(str(model))
        return None


def _is_built_in(spec: str, identity: Mapping[str, object]) -> bool:
    from pytest_recsys_mt.recommenders import NAMES

    return "recommender" in identity and spec.partition("?")[0] in NAMES


def text_of(path: Path) -> str:
    """The text of a price file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise PriceError(f"the price file {str(path)!r} cannot be read: {reason}") from error


def prices_in(text: str, where: str) -> dict[str, Price]:
    """The prices in the text of a TOML file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PriceError(f"the price file {where!r} is not TOML: {error}") from error
    return {name: _price(table, name, where) for name, table in tables.items()}


def _price(table: Any, name: str, where: str) -> Price:
    said = table if isinstance(table, dict) else {}
    numbers = {key: said[key] for key in ("input", "output", "cached_input") if key in said}
    sound = {"input", "output"} <= set(said) <= {*numbers, "date", "source"} and all(
        isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 1e9
        for number in numbers.values()
    )
    if not sound:
        raise PriceError(
            f"{where!r}: the price of {name!r} is not a table of input and output, both in USD for a "
            f"million tokens (with cached_input, that of cached prompt tokens, a date and a source, if "
            f'you like): ["{name}"] input = 2.5, output = 10; got {table!r}'
        )
    cached = numbers.get("cached_input")
    return Price(
        float(table["input"]), float(table["output"]),
        str(table.get("date", "")), str(table.get("source", "")),
        None if cached is None else float(cached),
    )  # fmt: skip


def dollars(usd: float) -> str:
    """An amount to the cent; a small one to two significant digits."""
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.2g}"
