"""The wording of the prompt says nothing about the user's taste."""

import pytest

from pytest_recsys_mt import metamorphic, thresholds
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import (
    add_spaces,
    change_case,
    paraphrase_task,
    random_words,
    typos,
)

MARGIN = thresholds(__file__, "margin")
CAP = thresholds(__file__, "cap")


@pytest.mark.recsys_quick("paraphrase_task", "typos(0.1)")
@metamorphic(add_spaces(), random_words(), change_case(), typos(), paraphrase_task)
def test_wording_is_irrelevant(source, followup):
    assert same_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["wording"],
        cap=CAP["loss"],
    )
