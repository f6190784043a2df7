"""Files of prices as people have them, and ours made of them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_recsys_mt.calls.prices import Price, prices_in, text_of
from pytest_recsys_mt.errors import PriceError
from pytest_recsys_mt.sanitize import one_line

_TEXT_MODES = ("chat", "completion", "responses")
_MILLION = 10**6

HEADER = """\
# What a million tokens cost in USD, by the name of the model or the spec of the recommender, for
# --recsys-prices. Written by `recsys-mt prices`, which replaces the tables that it finds anew and
# keeps the others, but no comments. `date` is when `source` said so: prices change, check them.
"""


def prices_of(path: Path) -> dict[str, Price]:
    """The prices in a file: LiteLLM's ``model_prices_and_context_window.json``, or a TOML file of ours.

    Prices without a date get the day on which the file was changed last, those without a source the
    name of the file.
    """
    text = text_of(path)
    found = _litellm(text, path) if path.suffix == ".json" else prices_in(text, str(path))
    changed = datetime.date.fromtimestamp(path.stat().st_mtime).isoformat()
    return {
        name: replace(price, date=price.date or changed, source=price.source or path.name)
        for name, price in found.items()
    }


def as_toml(prices: Mapping[str, Price]) -> str:
    """Prices, by the name of the model or the spec of the recommender, as the text of a TOML file of ours."""
    tables = [HEADER]
    for name, price in sorted(prices.items()):
        said = {field.name: getattr(price, field.name) for field in fields(price)}
        lines = (
            f"{key} = {_toml(value)}\n" for key, value in said.items() if value not in ("", None)
        )
        tables.append(f"[{_toml(name)}]\n{''.join(lines)}")
    return "\n".join(tables)


def _toml(value: str | float) -> str:
    # A text in JSON is one in TOML, but for a character that `one_line` takes away.
    return (
        json.dumps(one_line(value), ensure_ascii=False) if isinstance(value, str) else repr(value)
    )


def _litellm(text: str, path: Path) -> dict[str, Price]:
    """The prices of text models in LiteLLM's file, by its names of them."""
    try:
        models = json.loads(text, parse_float=Decimal)  # 7.5e-08 * 10**6 is 0.075 only in decimals
    except ValueError as error:
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
    """The price in an entry of LiteLLM's file, or None if it is unknown.

    An entry whose prices are all zero may be of a free model, or of one whose price nobody has
    looked up; so its price counts as unknown.
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
    """USD for a million tokens, from those for one."""
    if isinstance(cost, bool) or not isinstance(cost, int | Decimal) or not 0 <= cost < 1:
        return None
    return float(cost * _MILLION)
