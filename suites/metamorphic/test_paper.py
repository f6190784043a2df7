"""The protocol of "Metamorphic Evaluation of ChatGPT as a Recommender System", as
published.

Open generation over the whole catalogue, k = 5, the last 20 films of the history, ten
runs of each transformed prompt against one baseline list, an unpaired t-test
(https://arxiv.org/abs/2411.12121, sections 3 and 4). Table 2 shows only films rated
above 3, as the paper says of it alone. The missing places of a short list do not count
as items. Each table has Kendall's tau, RBO and the overlap. `recsys-mt paper
metamorphic RECORD` makes the paper's tables of the record.

These tests reproduce the paper's tables. A correct recommender whose answers vary may
fail them: each test errs at rate alpha, and none allows for noise. The other tests of
this suite judge the same promises per user, with declared error rates. So these tests
run only if this file is named, or with --recsys-effort=thorough.
"""

import pytest

from pytest_recsys_mt import annotate, metamorphic, thresholds
from pytest_recsys_mt.oracles import paper_t_test, self_agreement
from pytest_recsys_mt.relations import (
    add_spaces,
    random_words,
    scale_ratings,
    shift_ratings,
)

pytestmark = pytest.mark.recsys_thorough

LIMIT = thresholds(__file__, "stability")
RUNS = 10
SIMILARITIES = ("rbo", "kendall", "overlap")
PAPER = {"k": 5, "history": 20, "candidates": 0}


def skip_without_noise(recsys):
    if recsys.deterministic:
        pytest.skip(
            f"{recsys.model} always gives the same answer, so runs have no variance to test with",
        )


def assert_stable(answers, **size):
    """Answers to the same request agree, by each of the paper's three measures."""
    verdicts = [
        self_agreement(answers, similarity=each, threshold=LIMIT[each], published=True)
        for each in SIMILARITIES
    ]
    for verdict in [annotate(each, **size) for each in verdicts]:
        assert verdict


@pytest.mark.recsys_design(**PAPER, replicates=RUNS + 1)
@metamorphic(
    scale_ratings(2, paper=True),
    shift_ratings(1, paper=True),
    add_spaces(),
    random_words(),
)
def test_table_4(source, followup, recsys):
    skip_without_noise(recsys)
    for verdict in [
        paper_t_test(source, followup, similarity=each) for each in SIMILARITIES
    ]:
        assert verdict


@pytest.mark.recsys_design(**PAPER, rated_above=3, replicates=2)
@pytest.mark.parametrize("k", [5, 10, 15, 20], ids="k{}".format)
def test_table_2(recsys, k):
    assert_stable(recsys.using(k=k, history=1000).run(), k=k)


@pytest.mark.recsys_design(**PAPER, replicates=RUNS)
@pytest.mark.parametrize("m", [5, 10, 20, 30], ids="m{}".format)
def test_table_3(recsys, m):
    assert_stable(recsys.using(history=m).run(), m=m)
