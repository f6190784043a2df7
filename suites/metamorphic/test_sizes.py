"""The same promises at other sizes: caps, truncations and fallbacks begin above a size
that the other tests never ask.

Few users are asked at each size, so only faults that most users meet are found. A text
model and an endpoint are asked with --recsys-effort=thorough only.
"""

from statistics import fmean

import pytest

from pytest_recsys_mt import NotApplicable, thresholds
from pytest_recsys_mt.oracles import (
    complete_list,
    different_ranking,
    few_unchanged,
    never_differs,
    unmoved,
)
from pytest_recsys_mt.relations import ask_k, shuffle_candidates, truncate_history

MARGIN = thresholds(__file__, "margin")
USERS = thresholds(__file__, "users")
HIT = thresholds(__file__, "hit")
STABILITY = thresholds(__file__, "stability")
EVERYTHING = 1_000_000
SHORTEST = 5


@pytest.fixture
def sized(recsys):
    """The recommender under a design of a few users; of one
    that varies, as many as a verdict needs.
    """
    if recsys.effort != "thorough" and (recsys.reads_text or recsys.saves_calls):
        raise NotApplicable(
            "other sizes cost more than they tell, without --recsys-effort=thorough",
        )

    few = int(USERS["of_a_size"]) if recsys.deterministic else recsys.design.users

    def at(**sizes):
        return recsys.using(users=min(few, recsys.design.users), **sizes)

    return at


def kept(source, followup, depth):
    """The verdict on what says nothing, unless noise hides
    at this size what `unmoved` looks for.
    """
    if not source.context.deterministic:
        shared = [
            len({*first.items[:depth]} & {*second.items[:depth]}) / depth
            for first, second, *_ in (
                asked.answers
                for asked in source.sample(int(USERS["of_a_size"])).asked
                if len(asked.answers) > 1
            )
        ]
        if not shared or fmean(shared) < STABILITY["of_a_size"]:
            raise NotApplicable(
                "answers to one request differ too much at this size to see more",
            )
    return unmoved(source, followup, margin=MARGIN["size"], changed=MARGIN["size"])


@pytest.mark.parametrize("candidates", [150, 1000], ids="of{}".format)
def test_many_candidates_may_stand_in_any_order(sized, candidates):
    recsys = sized()
    if len(recsys.dataset.items) < 2 * candidates:
        raise NotApplicable(f"the catalogue has fewer than {2 * candidates} items")
    recsys = sized(candidates=candidates)
    assert kept(recsys.run(), recsys.run(shuffle_candidates), recsys.design.k)


def test_a_long_list_is_complete(sized):
    assert complete_list(sized(candidates=150, k=50).run(), margin=MARGIN["size"])


@pytest.mark.parametrize("k", [1, 50], ids="k{}".format)
def test_lists_of_any_length_begin_alike(sized, k):
    recsys = sized(candidates=150, k=10)
    assert kept(recsys.run(), recsys.run(ask_k(k)), min(k, recsys.design.k))


@pytest.mark.parametrize("latest", [20, 50, 100], ids="latest{}".format)
def test_the_older_part_of_a_long_history_counts(sized, recsys, latest):
    sized()  # whether other sizes are asked at all
    if "recency" in recsys.promises:
        raise NotApplicable("reading the latest items alone hides what else is read")
    if recsys.reads_latest is not None and recsys.reads_latest <= latest:
        raise NotApplicable(
            f"it declares that it reads the latest {recsys.reads_latest} items alone",
        )
    if latest > 20 and not recsys.deterministic:
        raise NotApplicable(
            "noise hides what few users with so long a history would show",
        )
    whole = recsys.using(history=EVERYTHING)
    source, followup = whole.run(), whole.run(truncate_history(latest))
    if source.context.deterministic and recsys.design.k >= SHORTEST:
        assert few_unchanged(source, followup, margin=HIT["unchanged_by_old_items"])
        return
    assert different_ranking(source, followup, similarity="rbo", margin=MARGIN["moved"])


def test_what_is_declared_unread_changes_nothing(sized, recsys):
    sized()
    if recsys.reads_latest is None:
        raise NotApplicable(
            "it declares no limit to what it reads of a history (reads_latest = 50)",
        )
    whole = recsys.using(history=EVERYTHING)
    source, followup = whole.run(), whole.run(truncate_history(recsys.reads_latest))
    if source.context.deterministic:
        # One list that changes refutes the declaration, and few users have so long a
        # history.
        assert never_differs(source, followup)
        return
    assert kept(source, followup, recsys.design.k)
