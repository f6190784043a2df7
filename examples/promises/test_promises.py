"""What the examples promise of their recommenders."""

from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import at_least, only_candidates, same_ranking
from pytest_recsys_mt.relations import rename_user, reorder_history, shuffle_candidates


@metamorphic(rename_user, reorder_history, shuffle_candidates)
def test_same_list(source, followup):
    """None of these changes what the user likes."""
    assert same_ranking(source, followup, margin=0.1)


def test_offered_items_only(recsys):
    """Whatever is answered was asked about."""
    assert only_candidates(recsys.run(), margin=0.1)


def test_finds_the_next_film(recsys):
    """The held-out film is among the first ten of twenty at least this often."""
    assert at_least(recsys.run(), "hit@10", 0.3)
