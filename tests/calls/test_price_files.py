"""Price files of others are read, and what they do not know stays unknown."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import PriceError
from tests.support.calls import Price, Prices

DAY = 1_780_000_000
"""A second of 28 May 2026, in every time zone but those 12 hours from Greenwich."""

CHAT = {"litellm_provider": "openai", "mode": "chat"}
LITELLM: dict[str, Any] = {
    "sample_spec": {"mode": "one of: chat, embedding", "input_cost_per_token": 0.0},
    "gpt-4o-mini": {
        **CHAT, "input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07,
        "cache_read_input_token_cost": 7.5e-08, "source": "https://example.org/pricing",
    },
    "claude-opus": {**CHAT, "input_cost_per_token": 1.5e-05, "output_cost_per_token": 7.5e-05},
    "half-known": {**CHAT, "input_cost_per_token": 1e-06},
    "nobody-knows": {**CHAT, "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
    "tiers": {**CHAT, "tiered_pricing": [{"input_cost_per_token": 1e-06}]},
    "odd": {**CHAT, "input_cost_per_token": "1e-06", "output_cost_per_token": True},
    "negative": {**CHAT, "input_cost_per_token": -1, "output_cost_per_token": 1e-06},
    "painter": {"mode": "image_generation", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
}  # fmt: skip


@pytest.fixture
def litellm(tmp_path: Path) -> Path:
    path = tmp_path / "model_prices_and_context_window.json"
    path.write_text(json.dumps(LITELLM))
    os.utime(path, (DAY, DAY))
    return path


def test_what_litellm_knows_are_prices(litellm: Path) -> None:
    prices = Prices.load([litellm])
    assert {name: prices.of(name, {}) for name in LITELLM if prices.of(name, {})} == {
        "gpt-4o-mini": Price(
            0.15,
            0.6,
            "2026-05-28",
            f"{litellm.name}: https://example.org/pricing",
            0.075,
        ),
        "claude-opus": Price(15.0, 75.0, "2026-05-28", litellm.name),
    }


def test_of_several_files_a_later_one_counts(litellm: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours.toml"
    ours.write_text(
        '["gpt-4o-mini"]\ninput = 9\noutput = 9\ndate = "2026-01"\n["shop:Chat?k=\\"1\\""]\ninput = 0\noutput = 1e-3\n',
    )
    prices = Prices.load([litellm, ours])
    assert prices.of("gpt-4o-mini", {}) == Price(9.0, 9.0, "2026-01")
    assert prices.of('shop:Chat?k="1"', {}) == Price(0.0, 0.001)
    opus = prices.of("claude-opus", {})
    assert opus is not None
    assert opus.input == 15.0


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", '{"gpt-4o": {"price": 3}}', "is not LiteLLM's"),
        ("a.json", "[1]", "is not LiteLLM's"),
        ("a.json", '{"gpt-4o": 3}', "is not LiteLLM's"),
        ("a.toml", "[m]\ninput = 1\n", "the price of 'm' is not a table"),
        ("a.toml", None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_price_file_is_named(
    tmp_path: Path,
    name: str,
    text: str | None,
    says: str,
) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    with pytest.raises(PriceError, match=re.escape(says)) as raised:
        Prices.load([file])
    assert str(file) in str(raised.value)
