"""The judge under test: what must not influence its
choice between two lists, and what must.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.suites.arena import (
    CONTROLS,
    PROMISES,
    SELDOM,
    judge_keeps,
    judge_sees,
    judge_seldom,
)

JUDGE = thresholds(__file__, "judge")


@pytest.mark.parametrize("promise", PROMISES)
def test_the_judge_keeps(recsys_arena, promise):
    assert judge_keeps(recsys_arena, promise, margin=JUDGE["margin"])


@pytest.mark.parametrize("control", CONTROLS)
def test_the_judge_sees(recsys_arena, control):
    assert judge_sees(recsys_arena, control, least=JUDGE["sees"])


@pytest.mark.parametrize("what", SELDOM)
def test_the_judge_has_seldom(recsys_arena, what):
    assert judge_seldom(recsys_arena, what, most=JUDGE[what])
