"""The promises on training data that found most faults, for recommenders that are
fitted in a moment.

The order of the rows and the numbers of users and items say nothing. They run by
default, and the others of this folder with --recsys-effort=thorough.
"""

import pytest

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import permute_rows, renumber_items, renumber_users

MARGIN = thresholds(__file__, "margin")
MOST = thresholds(__file__, "seconds")


@pytest.fixture
def quickly_fitted(recsys):
    if recsys.fit_seconds > MOST["fit"] and recsys.effort != "thorough":
        raise NotApplicable(
            f"a fit takes {recsys.fit_seconds:.1f} s, and more than {MOST['fit']:g} s are spent with "
            f"--recsys-effort=thorough alone",
        )


@metamorphic(permute_rows, renumber_users)
def test_how_the_data_are_written_is_irrelevant(source, followup, quickly_fitted):
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["same_data"])


@metamorphic(renumber_items)
def test_how_the_items_are_numbered_is_irrelevant(source, followup, quickly_fitted):
    # Items with equal scores may stand in the order of their numbers.
    assert same_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["numbered_items"],
    )
