"""The protocol of "Metamorphic Evaluation of ChatGPT as a Recommender System", as published.

Open generation over the whole catalogue, k = 5, the last 20 films of the history, ten runs of each
transformed prompt against one baseline list, an unpaired t-test (https://arxiv.org/abs/2411.12121,
sections 3 and 4). The control experiments use only films rated above 3. In Tables 2 and 3, an empty place
of an answer counts as a difference; for full lists these are the paper's numbers.

These tests reproduce the paper's tables. A correct recommender whose answers vary may fail them: each test
errs at rate alpha, and none allows for noise. The other tests of this suite judge the same promises per
user, with declared error rates. So these tests run only if this file is named, or with
--recsys-effort=thorough.
"""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import paper_t_test, self_agreement
from pytest_recsys_mt.relations import add_spaces, random_words, scale_ratings, shift_ratings

pytestmark = pytest.mark.recsys_thorough

LIMIT = thresholds(__file__, "stability")
RUNS = 10
PAPER = {"k": 5, "history": 20, "candidates": 0}


def skip_without_noise(recsys):
    if recsys.deterministic:
        pytest.skip(
            f"{recsys.model} always gives the same answer, so runs have no variance to test with"
        )


@pytest.mark.recsys_design(**PAPER, replicates=RUNS + 1)
@metamorphic(
    scale_ratings(2, paper=True), shift_ratings(1, paper=True), add_spaces(), random_words()
)
def test_table_4(source, followup, recsys):
    skip_without_noise(recsys)
    assert paper_t_test(source, followup, similarity="rbo")


@pytest.mark.recsys_design(**PAPER, rated_above=3, replicates=2)
@pytest.mark.parametrize("k", [5, 10, 15, 20], ids="k{}".format)
def test_table_2(recsys, k):
    answers = recsys.using(k=k, history=1000).run()
    assert self_agreement(answers, similarity="rbo", threshold=LIMIT["self_agreement"])


@pytest.mark.recsys_design(**PAPER, rated_above=3, replicates=RUNS)
@pytest.mark.parametrize("m", [5, 10, 20, 30], ids="m{}".format)
def test_table_3(recsys, m):
    answers = recsys.using(history=m).run()
    assert self_agreement(answers, similarity="rbo", threshold=LIMIT["self_agreement"])
