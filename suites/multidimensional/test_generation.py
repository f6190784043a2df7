"""How useful a description of the user is, written from
the history: with it and instead of it.
"""

import pytest

from pytest_recsys_mt import Message, Prompt, annotate, dimension, thresholds
from pytest_recsys_mt.oracles import at_least, curve, means_of_users, not_worse
from pytest_recsys_mt.relations import with_profile

LIMIT = thresholds(__file__, "generation")
TASK = "Describe in one short sentence what somebody likes who chose: {}."
PAPER = {"users": 1000, "replicates": 1}

pytestmark = pytest.mark.recsys_design(prompt="rank")


@pytest.fixture
def profiles(recsys, recsys_profiler):
    """A description of every user, written by the profiler or by the model under test."""
    return written_from(recsys, recsys_profiler)


def written_from(recsys, profiler):
    """The descriptions from the histories that `recsys` shows."""
    requests = [case.request for case in recsys.runner.cases]
    prompts = [
        Prompt(
            (
                Message(
                    "user",
                    TASK.format(", ".join(each.item.label for each in shown.history)),
                ),
            ),
        )
        for shown in requests
    ]
    written = profiler.complete(*prompts)
    failed = [each.error or "it wrote nothing" for each in written if not each.text]
    allowed = recsys.run().context.error_limit * len(written)
    assert len(failed) <= allowed, (
        f"{len(failed)} of {len(written)} failed: {failed[0]}"
    )
    return {
        request.user: completion.text
        for request, completion in zip(requests, written, strict=True)
        if completion.text
    }


def test_a_profile_beside_the_history_does_no_harm(recsys, profiles):
    assert not_worse(
        recsys.run(),
        recsys.run(with_profile(profiles)),
        "ndcg@5",
        LIMIT["both"],
    )


def test_a_profile_says_what_matters_of_the_history(recsys, profiles):
    alone = recsys.run(with_profile(profiles, history=False))
    verdict = not_worse(recsys.run(), alone, "ndcg@5", LIMIT["alone"])
    assert dimension(verdict, "profile generation", best="low")


def means(answers, *names):
    return {
        name: points[0][1] for name in names if (points := curve({0: answers}, name))
    }


@pytest.mark.recsys_thorough
@pytest.mark.recsys_design(**PAPER)
def test_table_3_by_profile(recsys, profiles):
    """The line of Table 3 with the profile in place of the history."""
    alone = recsys.run(with_profile(profiles, history=False))
    verdict = at_least(alone, "ndcg@5", LIMIT["blind:ndcg@5"])
    by_user = {name: means_of_users([alone], name) for name in ("hit@5", "ndcg@5")}
    assert annotate(
        verdict,
        means=means(alone, "hit@5", "ndcg@5"),
        group="language models",
        by_user=by_user,
    )


@pytest.mark.recsys_thorough
@pytest.mark.recsys_design(**PAPER)
@pytest.mark.parametrize("length", [1, 2, 5, 10, 20])
def test_figure_6(recsys, recsys_profiler, length):
    """Figure 6: profiles written from histories of several lengths (equation 9), beside
    them and in their place.
    """
    shorter = recsys.using(history=length)
    profiles = written_from(shorter, recsys_profiler)
    together = shorter.run(with_profile(profiles))
    alone = shorter.run(with_profile(profiles, history=False))
    sides = {"history_alone": shorter.run(), "both": together, "profile_alone": alone}
    names = ("hit@5", "ndcg@5", "aplt@5", "serendipity@5")
    found = {side: means(answers, *names) for side, answers in sides.items()}
    verdict = at_least(together, "hit@5", LIMIT["blind:hit@5"])
    assert annotate(verdict, history=length, **found)
