"""Prices of tokens, in the product and in files of users.
A missing price is unknown, not zero.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_recsys_mt.requests import Usage
from pytest_recsys_mt.safety.errors import PriceError
from pytest_recsys_mt.safety.files import (
    MOST_DATA,
    content_of,
    failing_as,
    look_alike,
    toml_of,
)

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.call import Call
    from pytest_recsys_mt.calls.subject import Subject

HOST = "api.openai.com"
"""The host whose prices come with this package; other
hosts have other prices for a model.
"""

_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model's tokens, in USD for a million tokens.

    Attributes:
        input: Of prompts.
        output: Of answers.
        date: Since when, or of which day, the price is known; empty if unknown.
        source: Where it was read; empty if unknown.
        cached_input: Of the tokens of prompts that come from the provider's cache; None
            if unknown.
    """

    input: float
    output: float
    date: str = ""
    source: str = ""
    cached_input: float | None = None

    @property
    def is_free(self) -> bool:
        """Whether any number of tokens costs nothing."""
        return not self.input and not self.output

    def usd(
        self,
        prompt_tokens: float,
        completion_tokens: float,
        cached_tokens: float = 0,
    ) -> float:
        """The cost of these tokens; the cached ones are among those of prompts.

        They cost as any other if they have no price of their own.
        """
        cached_input = self.input if self.cached_input is None else self.cached_input
        prompts = (
            prompt_tokens - cached_tokens
        ) * self.input + cached_tokens * cached_input
        completions = completion_tokens * self.output
        return (prompts + completions) / _TOKENS


FREE = Price(0.0, 0.0)
"""The price of models on the user's own machine."""


class Prices:
    """Prices by model; the user's `own`, by the spec of a
    recommender or the name of a model, come first.
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = dict(own or {})
        packaged = resources.files("pytest_recsys_mt.calls").joinpath("prices.toml")
        self._packaged = prices_in(packaged.read_text(encoding="utf-8"), "prices.toml")

    @classmethod
    def load(cls, paths: Iterable[Path]) -> Prices:
        """The prices that come with this package, and those of files of the user's, of
        which a later one counts.
        """
        own: dict[str, Price] = {}
        for path in paths:
            own.update(prices_of(path))
        return cls(own)

    def of(self, spec: str, identity: Mapping[str, object]) -> Price | None:
        """The price of a recommender, or None if it is unknown.

        The user's prices are looked up by the spec, by the spec without its parameters,
        and by the name of the model. Models in this process are free: built-in
        recommenders and ``hf:``.
        """
        from pytest_recsys_mt.recommenders import NAMES

        bare_spec = spec.partition("?")[0]
        model = identity.get("model")
        for name in (spec, bare_spec, model):
            if isinstance(name, str) and name in self._own:
                return self._own[name]
        is_built_in = "recommender" in identity and bare_spec in NAMES
        if is_built_in or identity.get("provider") == "hf":
            return FREE
        host = identity.get("host")
        if isinstance(host, str) and urlsplit(host).hostname == HOST:
            return self._packaged.get(str(model))
        return None


class SubjectPrices:
    """The prices of the recommenders of a run, each looked up once.

    Args:
        prices: The prices of the models.
    """

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._by_subject: dict[str, Price | None] = {}

    def of(self, subject: Subject, call: Call) -> Price | None:
        """The price of the tokens of a subject's calls; None if it is unknown."""
        name = subject.name
        if name not in self._by_subject:
            self._by_subject[name] = self._prices.of(name, call.content["model"])
        return self._by_subject[name]


def usd_of(price: Price, usage: Usage) -> float:
    """The cost of the reported tokens, in USD."""
    return price.usd(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)


def text_of(path: Path) -> str:
    """The text of a price file."""
    remedy = (
        f"{look_alike(path)}It is a TOML file with a table for each model, and dollars for a million tokens: "
        f"[gpt-4o] input = 2.5, output = 10"
    )
    with failing_as(PriceError, f"the price file {str(path)!r} cannot be read", remedy):
        content = content_of(path, MOST_DATA)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PriceError(
            f"the price file {str(path)!r} cannot be read: it is not UTF-8 text; {remedy}",
        ) from error


def prices_in(text: str, where: str) -> dict[str, Price]:
    """The prices in the text of a TOML file."""
    try:
        tables = toml_of(text.encode())
    except ValueError as error:
        raise PriceError(f"the price file {where!r} is not TOML: {error}") from error
    return {name: _price(table, name, where) for name, table in tables.items()}


_NUMBERS = ("input", "output", "cached_input")
_REQUIRED = {"input", "output"}
_ALLOWED = {*_NUMBERS, "date", "source"}


def _price(table: Any, name: str, where: str) -> Price:
    """The price in a table of a TOML file."""
    if not _is_price(table):
        raise PriceError(
            f"{where!r}: the price of {name!r} is not a table of input and output, both in USD for a "
            f"million tokens (with cached_input, that of cached prompt tokens, a date and a source, if "
            f'you like): ["{name}"] input = 2.5, output = 10; got {repr(table)[:200]}',
        )
    cached_input = table.get("cached_input")
    return Price(
        input=float(table["input"]),
        output=float(table["output"]),
        date=str(table.get("date", "")),
        source=str(table.get("source", "")),
        cached_input=None if cached_input is None else float(cached_input),
    )


def _is_price(table: Any) -> bool:
    if not isinstance(table, dict):
        return False
    names = set(table)
    if not _REQUIRED <= names <= _ALLOWED:
        return False
    return all(_is_amount(table[name]) for name in names.intersection(_NUMBERS))


def _is_amount(value: object) -> bool:
    """Whether a value is a price in USD; `1e9` and more
    is a slip, as are infinity and NaN.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < 1e9


def dollars(usd: float) -> str:
    """An amount to the cent; a small one to two significant digits."""
    if usd >= 1 or usd == 0:
        return f"${usd:,.2f}"
    return f"${usd:.2g}"


_TEXT_MODES = ("chat", "completion", "responses")


def prices_of(path: Path) -> dict[str, Price]:
    """The prices in a file: LiteLLM's ``model_prices_and_context_window.json``, or a
    TOML file of ours.

    LiteLLM's have no date, and get the day on which the file was changed last.
    """
    text = text_of(path)
    if path.suffix != ".json":
        return prices_in(text, str(path))
    changed = datetime.date.fromtimestamp(path.stat().st_mtime).isoformat()
    prices = _litellm_prices(text, path)
    return {name: replace(price, date=changed) for name, price in prices.items()}


def _litellm_prices(text: str, path: Path) -> dict[str, Price]:
    try:
        models = json.loads(
            text,
            parse_float=Decimal,
        )  # 7.5e-08 * 10**6 is 0.075 only in decimals
    except (ValueError, RecursionError) as error:
        raise PriceError(
            f"the price file {str(path)!r} is not JSON: {error}",
        ) from error
    if not isinstance(models, dict):
        models = {}
    entries = [entry for entry in models.values() if isinstance(entry, dict)]
    if not any("input_cost_per_token" in entry for entry in entries):
        raise PriceError(
            f"{str(path)!r} has no 'input_cost_per_token' of any model, so it is not LiteLLM's "
            f"model_prices_and_context_window.json; give that file, or a TOML file of prices",
        )
    prices: dict[str, Price] = {}
    for name, entry in models.items():
        price = _litellm_price(entry, path.name)
        if price is not None:
            prices[name] = price
    return prices


def _litellm_price(entry: Any, file: str) -> Price | None:
    """The price in an entry of LiteLLM's file, or None if it is unknown.

    An entry whose prices are all zero may be of a free model, or of one whose price
    nobody has looked up; so its price counts as unknown.
    """
    if not isinstance(entry, dict) or entry.get("mode") not in _TEXT_MODES:
        return None
    per_input = _usd_per_million(entry.get("input_cost_per_token"))
    per_output = _usd_per_million(entry.get("output_cost_per_token"))
    per_cached = _usd_per_million(entry.get("cache_read_input_token_cost"))
    if per_input is None or per_output is None:
        return None
    if per_input == 0 and per_output == 0:
        return None
    origin = entry.get("source")
    source = f"{file}: {origin}" if isinstance(origin, str) else file
    return Price(per_input, per_output, source=source, cached_input=per_cached)


def _usd_per_million(per_token: object) -> float | None:
    """A price of LiteLLM's file in USD for a million tokens; None if it is none."""
    if isinstance(per_token, bool) or not isinstance(per_token, int | Decimal):
        return None
    if not 0 <= per_token < 1:
        return None
    return float(per_token * _TOKENS)
