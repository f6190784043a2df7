"""The judge under test: what must not influence its choice between two lists, and what must."""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.arena import PROMISES, judge_keeps

JUDGE = thresholds(__file__, "judge")


@pytest.mark.parametrize("promise", PROMISES)
def test_the_judge_keeps(recsys_arena, promise):
    assert judge_keeps(recsys_arena, promise, margin=JUDGE["margin"])
