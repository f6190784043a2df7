"""What a price file may say, and what tokens cost by it."""

from pathlib import Path

import pytest

from pytest_recsys_mt import PriceError
from tests.support.calls import Price, Prices


def test_cached_prompt_tokens_cost_their_own_price() -> None:
    price = Price(2.0, 10.0, cached_input=0.5)
    assert price.usd(1_000_000, 100_000, cached_tokens=400_000) == pytest.approx(
        1.2 + 0.2 + 1.0,
    )


def test_without_a_price_of_their_own_they_cost_as_any() -> None:
    price = Price(2.0, 10.0)
    assert price.usd(1_000_000, 100_000, cached_tokens=400_000) == price.usd(
        1_000_000,
        100_000,
    )


def test_a_file_may_give_the_price_of_cached_tokens(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        '["m"]\ninput = 2\ncached_input = 0\noutput = 4\n["n"]\ninput = 2\noutput = 4\n',
    )
    prices = Prices.load([path])
    assert prices.of("m", {}) == Price(2.0, 4.0, cached_input=0.0)
    assert prices.of("n", {}) == Price(2.0, 4.0)


@pytest.mark.parametrize("wrong", ["-1", "true", '"free"', "nan"])
def test_a_price_of_cached_tokens_is_a_price_too(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(f'["m"]\ninput = 2\noutput = 4\ncached_input = {wrong}\n')
    with pytest.raises(PriceError, match="'m' is not a table of input and output"):
        Prices.load([path])
