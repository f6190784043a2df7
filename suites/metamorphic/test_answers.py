"""Promises about every answer, to any request."""

import pytest

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import (
    complete_list,
    never_differs,
    no_repeats,
    only_candidates,
    same_answer,
)
from pytest_recsys_mt.relations import same_seed_same_answer

MARGIN = thresholds(__file__, "margin")


@pytest.mark.recsys_quick
def test_no_repeats(recsys):
    assert no_repeats(recsys.run(), margin=MARGIN["faulty_answer"])


@pytest.mark.recsys_quick
def test_only_candidates(recsys):
    assert only_candidates(recsys.run(), margin=MARGIN["faulty_answer"])


@pytest.mark.recsys_quick
def test_complete_list(recsys):
    assert complete_list(recsys.run(), margin=MARGIN["faulty_answer"])


@metamorphic(same_seed_same_answer)
def test_the_same_seed_gives_the_same_answer(source, followup, recsys):
    if source.context.deterministic:
        assert never_differs(source, followup)
    elif recsys.seeded:
        assert same_answer(source, followup, margin=MARGIN["repeat"])
    else:
        raise NotApplicable(
            f"{recsys.model} does not promise the same answer for the same seed (seeded = True says so)",
        )
