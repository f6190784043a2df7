"""An answer depends only on its request: not on other requests, and not on the process
that answers.

For a recommender that declares itself deterministic, one counterexample is proof, so
few users are asked.
"""

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import never_differs, same_ranking
from pytest_recsys_mt.relations import (
    ask_after_another,
    ask_alone,
    ask_elsewhere,
    ask_in_one_batch,
)

MARGIN = thresholds(__file__, "margin")
USERS = thresholds(__file__, "users")


def unmoved(source, followup, recsys):
    if source.context.deterministic:
        users = USERS["endpoint_asked_alone" if recsys.saves_calls else "asked_alone"]
        return never_differs(source, followup, users=int(users))
    return same_ranking(
        source,
        followup,
        similarity="rbo",
        margin=MARGIN["asked_alone"],
    )


@metamorphic(ask_alone, ask_elsewhere)
def test_who_asks_and_who_answers_is_irrelevant(source, followup, recsys):
    assert unmoved(source, followup, recsys)


@metamorphic(ask_in_one_batch)
def test_the_batch_is_irrelevant(source, followup):
    if not source.context.deterministic:
        raise NotApplicable("noise hides the few answers that a batch mixes up")
    assert never_differs(source, followup, users=int(USERS["in_one_batch"]))


def test_what_was_asked_before_is_irrelevant(recsys):
    assert unmoved(recsys.run(ask_alone), recsys.run(ask_after_another), recsys)
