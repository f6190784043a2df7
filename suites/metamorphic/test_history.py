"""Which changes of the history may change the answer, and which may not."""

import pytest

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import (
    different_ranking,
    few_unchanged,
    low_churn,
    monotone,
    same_ranking,
    unmoved,
)
from pytest_recsys_mt.relations import (
    drop_history,
    duplicate_history,
    noisy_profile,
    rename_user,
    reorder_history,
    reverse_history,
    swap_history,
    truncate_history,
)

MARGIN = thresholds(__file__, "margin")
CAP = thresholds(__file__, "cap")
HIT = thresholds(__file__, "hit")
SHORTEST = 5
LATEST = 5


@metamorphic(reorder_history, duplicate_history, rename_user)
def test_same_taste_same_answer(source, followup):
    assert unmoved(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["order"],
        changed=HIT["changed"],
        cap=CAP["loss"],
    )


@pytest.mark.recsys_quick("noisy_profile(1)")
@metamorphic(noisy_profile(1), drop_history(1))
def test_one_film_changes_little(source, followup):
    whole = same_ranking(source, followup, similarity="rbo", margin=MARGIN["one_item"])
    if whole.status not in ("violated", "error"):
        # No doubt about the mean hides that a few lose all.
        assert low_churn(
            source,
            followup,
            "rbo",
            beyond=HIT["beyond"],
            margin=HIT["one_item"],
        )
    assert whole


@pytest.mark.recsys_quick
@metamorphic(swap_history)
def test_another_history_changes_the_answer(source, followup):
    assert different_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["another_user"],
    )


@metamorphic(reverse_history)
def test_another_order_changes_the_answer(source, followup):
    assert different_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["reversed"],
    )


@metamorphic(swap_history, truncate_history(LATEST))
def test_nobody_gets_an_answer_that_no_history_changes(source, followup, recsys):
    if not source.context.deterministic or "recency" in recsys.promises:
        raise NotApplicable(
            "noise, or reading the latest items alone, hides what else is read",
        )
    if recsys.reads_latest is not None and recsys.reads_latest <= LATEST:
        raise NotApplicable(
            f"it declares that it reads the latest {recsys.reads_latest} items alone",
        )
    if recsys.design.k < SHORTEST:
        raise NotApplicable(
            f"a list of fewer than {SHORTEST} items often stays the same by chance",
        )
    assert few_unchanged(source, followup, margin=HIT["unchanged"])


def test_a_longer_history_does_not_hurt(recsys):
    full, short = recsys.run(), recsys.run(truncate_history(5))
    assert monotone([short, full], "auc", margin=MARGIN["quality"])


def test_few_ratings_count(recsys):
    if recsys.saves_calls:
        raise NotApplicable(
            "an endpoint is asked this with --recsys-effort=thorough only",
        )
    few = truncate_history(3)
    source, followup = recsys.run(few), recsys.run(few, swap_history)
    if source.context.deterministic and recsys.design.k >= SHORTEST:
        assert few_unchanged(source, followup, margin=HIT["unchanged"])
    else:
        assert different_ranking(
            source,
            followup,
            similarity="rbo",
            margin=MARGIN["another_user"],
        )
