"""The effect of a sentence about popularity in the
prompt: the paper's Table 3, as promises.
"""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import decreases, not_increased, not_worse
from pytest_recsys_mt.relations import popularity_prompt

LIMIT = thresholds(__file__, "instruction")
ACCURACY = thresholds(__file__, "accuracy")

pytestmark = pytest.mark.recsys_design(candidates=0, k=10, prompt="wok")


@metamorphic(popularity_prompt("minimize"))
def test_asking_for_niche_films_lowers_popularity(source, followup):
    assert decreases(
        source,
        followup,
        "log_popularity_difference",
        margin=LIMIT["minimize"],
    )


@metamorphic(popularity_prompt("mitigate"))
def test_asking_for_the_users_own_level_does_not_lead_away_from_it(source, followup):
    assert not_increased(
        source,
        followup,
        "absolute_log_popularity_difference",
        margin=LIMIT["mitigate"],
    )


@metamorphic(popularity_prompt("mitigate"), popularity_prompt("minimize"))
def test_the_instruction_costs_little_accuracy(source, followup):
    assert not_worse(source, followup, metric="hit@10", margin=ACCURACY["lost"])
