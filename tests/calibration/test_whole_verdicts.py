"""Whole verdicts are wrong as rarely as they say, whatever
their units, ranges and missing answers are.
"""

import pytest

from benchmarks.calibration import bound
from benchmarks.whole_verdicts import ALPHA, LAWS, wrong

RUNS = 30
QUICK = [name for name in LAWS if "nights" in name or "questions" in name]


@pytest.mark.parametrize(
    "laws",
    [QUICK, pytest.param(list(LAWS), marks=pytest.mark.slow)],
    ids=["quick", "all"],
)
def test_no_law_at_its_limit_is_claimed_more_often_than_declared(
    laws: list[str],
) -> None:
    limit = bound(RUNS, ALPHA, 2 * len(LAWS))
    assert limit < 0.5
    found = {name: wrong(LAWS[name], RUNS) for name in laws}
    often = {
        name: of
        for name, of in found.items()
        if any(n > limit * RUNS for n in of.values())
    }
    assert often == {}
