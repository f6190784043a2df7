"""The two promises on training data that found most faults, for recommenders that are fitted in a moment.

The order of the rows and the numbers of the users say nothing. They run by default, and the others of this folder with
--recsys-effort=thorough.
"""

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import permute_rows, renumber_users

MARGIN = thresholds(__file__, "margin")
MOST = thresholds(__file__, "seconds")


@metamorphic(permute_rows, renumber_users)
def test_how_the_data_are_written_is_irrelevant(source, followup, recsys):
    if recsys.fit_seconds > MOST["fit"] and recsys.effort != "thorough":
        raise NotApplicable(
            f"a fit takes {recsys.fit_seconds:.1f} s, and more than {MOST['fit']:g} s are spent with "
            f"--recsys-effort=thorough alone"
        )
    assert same_ranking(source, followup, similarity="rbo", margin=MARGIN["same_data"])
