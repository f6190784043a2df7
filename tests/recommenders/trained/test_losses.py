from __future__ import annotations

import math

import pytest
import torch

from tests.support.recommenders_trained_extras import bpr, sampled_cross_entropy


def test_bpr_is_minus_the_log_of_the_share_of_won_pairs() -> None:
    found = bpr(torch.tensor([1.0, 0.0]))
    assert float(found) == pytest.approx((math.log(1 + math.exp(-1)) + math.log(2)) / 2)


def test_sampled_cross_entropy_is_over_the_drawn_items_alone() -> None:
    negative = torch.tensor([[0.0, math.log(5), -torch.inf]])
    found = sampled_cross_entropy(torch.tensor([math.log(2)]), negative)
    assert float(found) == pytest.approx(-math.log(2 / 8))


def test_extreme_scores_give_finite_losses() -> None:
    far = torch.tensor([1e4])
    assert float(bpr(-far)) == pytest.approx(1e4)
    assert float(sampled_cross_entropy(-far, far[None])) == pytest.approx(2e4)
