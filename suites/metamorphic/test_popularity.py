"""A recommender that is asked for less popular films recommends less popular films."""

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import decreases
from pytest_recsys_mt.relations import popularity_prompt

MARGIN = thresholds(__file__, "margin")


@metamorphic(popularity_prompt("mitigate"), popularity_prompt("minimize"))
def test_asking_for_niche_films_lowers_popularity(source, followup):
    assert decreases(
        source,
        followup,
        score="log_popularity",
        margin=MARGIN["popularity"],
    )
