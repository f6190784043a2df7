"""A fitted recommender ignores unknown items: an item that
it never saw does not change its answers.
"""

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import unseen_in_history

MARGIN = thresholds(__file__, "margin")


@metamorphic(unseen_in_history)
def test_an_item_that_training_never_saw_says_nothing(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["same_data"])
