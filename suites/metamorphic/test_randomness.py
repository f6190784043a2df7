"""How much a recommender agrees with itself, by length of the history and of the
answer.

The tests by length are Tables 2 and 3 of "Metamorphic Evaluation of ChatGPT as a
Recommender System", which chooses k = 5 and 20 history items from them. They run with
--recsys-effort=thorough, or if this file is named.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import self_agreement

LIMIT = thresholds(__file__, "stability")


def test_self_agreement(recsys):
    assert self_agreement(
        recsys.run(),
        similarity="rbo",
        threshold=LIMIT["self_agreement"],
    )


@pytest.mark.recsys_thorough
@pytest.mark.parametrize("k", [5, 10, 15, 20], ids="k{}".format)
def test_self_agreement_by_k(recsys, k):
    answers = recsys.using(k=k).run()
    assert self_agreement(answers, similarity="rbo", threshold=LIMIT["self_agreement"])


@pytest.mark.recsys_thorough
@pytest.mark.parametrize("m", [5, 10, 20, 30], ids="m{}".format)
def test_self_agreement_by_m(recsys, m):
    answers = recsys.using(k=5, history=m).run()
    assert self_agreement(answers, similarity="rbo", threshold=LIMIT["self_agreement"])
