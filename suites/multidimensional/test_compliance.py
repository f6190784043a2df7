"""Whether answers follow the request: existing items, from
the candidates, in the requested number.
"""

import pytest

from pytest_recsys_mt import dimension, thresholds
from pytest_recsys_mt.oracles import at_least, at_most

LIMIT = thresholds(__file__, "compliance")
RATES = tuple(name for name in LIMIT if name != "compliance")

pytestmark = pytest.mark.recsys_design(prompt="rank")


@pytest.mark.parametrize("score", RATES)
def test_rates(recsys, score):
    verdict = at_most(recsys.run(), score, LIMIT[score])
    assert (
        dimension(verdict, "no hallucination", best="low")
        if score == "hallucination"
        else verdict
    )


def test_compliance(recsys):
    assert dimension(
        at_least(recsys.run(), "compliance", LIMIT["compliance"]),
        "compliance",
    )
