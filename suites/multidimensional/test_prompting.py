"""Other prompts: pointing at the latest item, showing an
example, the same task in other words.
"""

import pytest

from pytest_recsys_mt import dimension, metamorphic, thresholds
from pytest_recsys_mt.oracles import not_worse, same_ranking
from pytest_recsys_mt.relations import demonstrations, focus_on_recent, paraphrase_task

LIMIT = thresholds(__file__, "prompting")

pytestmark = pytest.mark.recsys_design(prompt="rank")


@metamorphic(focus_on_recent, demonstrations(3))
def test_another_strategy_is_not_worse(source, followup):
    assert not_worse(source, followup, "ndcg@5", LIMIT["strategy"])


@metamorphic(paraphrase_task)
def test_other_words_change_nothing(source, followup):
    verdict = same_ranking(source, followup, similarity="rbo", margin=LIMIT["wording"])
    assert dimension(verdict, "paraphrase", best="low")
