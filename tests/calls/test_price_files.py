"""`recsys-mt prices`: price files of others become ours, and what they do not know stays unknown."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.calls.prices import Price, Prices
from pytest_recsys_mt.cli import main

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


def run(*arguments: object) -> int:
    return main(["prices", *map(str, arguments)])


def test_what_litellm_knows_becomes_a_price_file(litellm: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours.toml"
    assert run(litellm, "-o", ours) == 0
    prices = Prices.load(ours)
    assert {name: prices.of(name, {}) for name in LITELLM if prices.of(name, {})} == {
        "gpt-4o-mini": Price(
            0.15, 0.6, "2026-05-28", f"{litellm.name}: https://example.org/pricing", 0.075
        ),
        "claude-opus": Price(15.0, 75.0, "2026-05-28", litellm.name),
    }


def test_only_the_named_models_are_taken_and_the_others_stay(
    litellm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = tmp_path / "ours.toml"
    ours.write_text(
        '["gpt-4o-mini"]\ninput = 9\noutput = 9\n["shop:Chat?k=\\"1\\""]\ninput = 0\noutput = 1e-3\n'
    )
    assert run(litellm, "gpt-*", "-o", ours) == 0
    assert capsys.readouterr().out == f"{ours}: 0 prices added, 1 changed, 2 in all\n"
    prices = Prices.load(ours)
    assert prices.of("claude-opus", {}) is None
    assert prices.of('shop:Chat?k="1"', {}) == Price(0.0, 0.001)
    found = prices.of("gpt-4o-mini", {})
    assert found is not None
    assert found.input == 0.15
    again = ours.read_text()
    assert run(litellm, "gpt-*", "-o", ours) == 0
    assert ours.read_text() == again


def test_a_file_of_ours_is_read_too(tmp_path: Path) -> None:
    mine, ours = tmp_path / "mine.toml", tmp_path / "ours.toml"
    mine.write_text('["m"]\ninput = 1\noutput = 2\ncached_input = 0.0\ndate = "2026-01"\n')
    assert run(mine, "-o", ours) == 0
    assert Prices.load(ours).of("m", {}) == Price(1.0, 2.0, "2026-01", "mine.toml", 0.0)


def test_a_model_without_a_price_stays_unknown_and_is_named(
    litellm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = tmp_path / "ours.toml"
    assert run(litellm, "gpt-4o-mini", "nobody-knows", "painter", "-o", ours) == 1
    said = capsys.readouterr()
    assert said.out == f"{ours}: 1 price added, 0 changed, 1 in all\n"
    assert said.err.splitlines() == [
        f"recsys-mt: {str(litellm)!r} has no price of 'nobody-knows'",
        f"recsys-mt: {str(litellm)!r} has no price of 'painter'",
    ]
    assert Prices.load(ours).of("nobody-knows", {}) is None


def test_no_price_found_makes_no_file(
    litellm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, ours = tmp_path / "new.toml", tmp_path / "ours.toml"
    assert run(litellm, "nosuch", "-o", new) == 1
    assert not new.exists()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"recsys-mt: {str(litellm)!r} has no price of 'nosuch'\n"
    ours.write_text("# mine\n")
    assert run(litellm, "nosuch", "-o", ours) == 1
    assert ours.read_text() == "# mine\n"


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
def test_a_file_that_is_no_price_file_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None, says: str
) -> None:
    file, ours = tmp_path / name, tmp_path / "ours.toml"
    if text is not None:
        file.write_text(text)
    ours.write_text('["m"]\ninput = 1\noutput = 2\n')
    before = ours.read_text()
    assert run(file, "-o", ours) == 2
    assert says in capsys.readouterr().err
    assert ours.read_text() == before
