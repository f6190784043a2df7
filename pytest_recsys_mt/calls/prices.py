"""Prices of tokens, in the product and in files of users. A missing price is unknown, not zero."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_recsys_mt.errors import PriceError
from pytest_recsys_mt.safety.files import MOST_DATA, content_of, toml_of

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
    def load(cls, paths: Iterable[Path]) -> Prices:
        """The prices that come with this package, and those of files of the user's, of which a later one counts."""
        return cls({name: price for path in paths for name, price in prices_of(path).items()})

    def of(self, spec: str, identity: Mapping[str, object]) -> Price | None:
        """The price of a recommender, or None if it is unknown.

        The user's prices are looked up by the spec, by the spec without its parameters, and by the
        name of the model. Models in this process are free: built-in recommenders and ``hf:``.
        """
        from pytest_recsys_mt.recommenders import NAMES

        model, host = identity.get("model"), identity.get("host")
        for name in (spec, spec.partition("?")[0], model):
            if isinstance(name, str) and name in self._own:
                return self._own[name]
        built_in = "recommender" in identity and spec.partition("?")[0] in NAMES
        if built_in or identity.get("provider") == "hf":
            return FREE
        if isinstance(host, str) and urlsplit(host).hostname == HOST:
            return self._packaged.get(str(model))
        return None


def text_of(path: Path) -> str:
    """The text of a price file."""
    try:
        return content_of(path, MOST_DATA).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise PriceError(f"the price file {str(path)!r} cannot be read: {reason}") from error


def prices_in(text: str, where: str) -> dict[str, Price]:
    """The prices in the text of a TOML file."""
    try:
        tables = toml_of(text.encode())
    except ValueError as error:
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
            f'you like): ["{name}"] input = 2.5, output = 10; got {repr(table)[:200]}'
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


_TEXT_MODES = ("chat", "completion", "responses")


def prices_of(path: Path) -> dict[str, Price]:
    """The prices in a file: LiteLLM's ``model_prices_and_context_window.json``, or a TOML file of ours.

    LiteLLM's have no date, and get the day on which the file was changed last.
    """
    text = text_of(path)
    if path.suffix != ".json":
        return prices_in(text, str(path))
    changed = datetime.date.fromtimestamp(path.stat().st_mtime).isoformat()
    return {name: replace(price, date=changed) for name, price in _litellm(text, path).items()}


def _litellm(text: str, path: Path) -> dict[str, Price]:
    try:
        models = json.loads(text, parse_float=Decimal)  # 7.5e-08 * 10**6 is 0.075 only in decimals
    except (ValueError, RecursionError) as error:
        raise PriceError(f"the price file {str(path)!r} is not JSON: {error}") from error
    models = models if isinstance(models, dict) else {}
    fields_of_each = [entry.keys() for entry in models.values() if isinstance(entry, dict)]
    if not any("input_cost_per_token" in names for names in fields_of_each):
        raise PriceError(
            f"{str(path)!r} has no 'input_cost_per_token' of any model, so it is not LiteLLM's "
            f"model_prices_and_context_window.json; give that file, or a TOML file of prices"
        )
    prices = {name: _litellm_price(entry, path.name) for name, entry in models.items()}
    return {name: price for name, price in prices.items() if price is not None}


def _litellm_price(entry: Any, file: str) -> Price | None:
    """The price in an entry of LiteLLM's file, or None if it is unknown. An entry whose prices are all zero may be of a
    free model, or of one whose price nobody has looked up; so its price counts as unknown.
    """
    if not isinstance(entry, dict) or entry.get("mode") not in _TEXT_MODES:
        return None
    read, written, cached = (
        _usd(entry.get(name))
        for name in ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    )
    if read is None or written is None or not (read or written):
        return None
    origin = entry.get("source")
    source = f"{file}: {origin}" if isinstance(origin, str) else file
    return Price(read, written, source=source, cached_input=cached)


def _usd(cost: object) -> float | None:
    if isinstance(cost, bool) or not isinstance(cost, int | Decimal) or not 0 <= cost < 1:
        return None
    return float(cost * _TOKENS)
