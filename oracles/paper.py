"""The procedure of the paper on metamorphic testing of ChatGPT as a recommender, as
published.

It compares ten runs of the changed prompt, and ten of the unchanged one, with one
baseline list, and the means of the runs by an unpaired t-test (section 4.3 of
https://arxiv.org/abs/2411.12121). As a test of a promise it has two faults: its unit is
the run, so with enough runs any difference is significant, and a p-value above alpha
shows nothing. `same_ranking` fixes both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles.arguments import two_sides
from pytest_recsys_mt.oracles.arrays import Floats, Lists
from pytest_recsys_mt.oracles.judging.account import (
    NO_ANSWER,
    missing_in_words,
    too_many_unread,
    unreadable,
)
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.conclusion import verdict_of
from pytest_recsys_mt.oracles.judging.effect import (
    Effects,
    agreement_of,
    others,
    places_of,
    under,
)
from pytest_recsys_mt.oracles.judging.encoding import encode, filled
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.similarities.similarity import (
    Similarity,
    similarity_named,
)
from pytest_recsys_mt.oracles.statistics.bounds import Certain, Mean
from pytest_recsys_mt.oracles.statistics.two_samples import TwoSamples
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict, annotate

__all__ = ["paper_t_test"]

TOO_FEW_RUNS = (
    "the paper's test needs two runs of the unchanged request besides the baseline and two of the "
    "changed one; ask for three replicates or more (--recsys-replicates=10), or use same_ranking"
)
NO_VARIANCE = "all runs of a side are equal, so the paper's t-test has no variance; use same_ranking"


def paper_t_test(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
) -> Verdict:
    """The paper's unpaired t-test of changed against unchanged runs; see the module for
    its faults.

    The baseline is the first answer of the source. The other answers of the source are
    the unchanged runs, and as many answers of the follow-up are the changed ones. For
    each run, the similarities with the baseline are averaged over users. The two sets
    of means are compared by Student's unpaired two-sided t-test with equal variances.

    The paper counts any difference against the recommender. Here a difference counts
    only if the changed runs agree less: a promise that the answer stays is not broken
    by runs that agree more.

    Arguments are those of `same_ranking`: the source has three replicates or more, and
    the follow-up two.

    Example:
        assert paper_t_test(source, followup, similarity="rbo")

    Returns:
        ``violated`` if the test rejects at alpha and the changed runs agree less, and
        ``holds`` otherwise, which means only that no loss was shown. ``inconclusive``
        if there are too few runs or they have no variance, and instead of ``holds`` if
        an answer could not be read; without means if such are of too many users. The
        details have ``t``, ``p``, and ``without`` and ``with`` the change the ``mean``,
        the standard deviation ``sd`` and the number of ``runs``, in the paper's unit:
        Kendall's as tau, from -1 to 1.
    """
    function = similarity_named(similarity)
    measures = "difference of the runs' mean agreement"
    claim = Claim(f"paper_t_test:{similarity}", "within", 0.0, measures=measures)
    two_sides(claim.oracle, source, followup)
    context = source.context
    pairs = source.pair(followup)
    effects, runs, kindest = _run_effects(pairs.whole(), context, function)
    seen = _seen(effects, pairs)
    verdict = verdict_of(claim, followup.label or source.label, seen, context)
    if too_many_unread(pairs, context):
        return context.report(verdict)
    verdict = annotate(
        verdict,
        **_printed(runs, similarity),
        **unreadable(pairs, _places(pairs)),
    )
    if (
        verdict.estimate is None
        or not isinstance(effects.mean, TwoSamples)
        or kindest is None
    ):
        return context.report(verdict)
    return context.report(_tested(verdict, effects.mean, kindest, seen, context))


def _tested(
    verdict: Verdict,
    samples: TwoSamples,
    kindest: TwoSamples,
    seen: Seen,
    context: Context,
) -> Verdict:
    """The verdict with the result of the test.

    Args:
        verdict: The verdict on the means, of which some users have answers.
        samples: The runs without and with the change.
        kindest: Those that speak most for equality.
        seen: The effects of all users.
        context: The rules of the run.
    """
    t, p = samples.test()
    differ = p < context.alpha
    loss = verdict.estimate or 0.0
    rejected = differ and loss > 0
    missing = seen.account.missing
    if rejected and missing:
        without_runs = missing - sum(
            user in seen.tally.unread_users for user in verdict.per_user
        )
        rejected = _stands(kindest, without_runs, seen.effects, context)
    test = (
        f"the paper's unpaired two-sided t-test of {samples.runs_in_words}: t={t:.2f}"
    )
    shown = _shown(loss, differ=differ, rejected=rejected)
    return dataclasses.replace(
        verdict,
        status="violated" if rejected else "inconclusive" if missing else "holds",
        p_value=p,
        details={**verdict.details, "t": t, "p": p},
        # The test is two-sided: it allows no side, and equal runs would give 0.
        allowed=None,
        approximate=True,
        reason="; ".join((test, shown, *missing_in_words(seen.account))),
    )


def _shown(loss: float, *, differ: bool, rejected: bool) -> str:
    """The result of the test of the loss of agreement: whether the runs differ, and
    whether the promise is rejected.
    """
    if not differ:
        return "no difference was shown, which does not show equality"
    if loss <= 0:
        return "the runs differ, but with the change they agree more, which breaks no promise"
    if not rejected:
        return "the runs differ, but the users without an answer may make up for it"
    return "the runs differ: with the change they agree less"


def _printed(runs: Sequence[Floats], similarity: str) -> dict[str, dict[str, float]]:
    scale, shift = (2, -1) if similarity == "kendall" else (1, 0)
    return {
        name: {
            "mean": scale * float(run.mean()) + shift,
            "sd": scale * float(run.std(ddof=1)),
            "runs": len(run),
        }
        for name, run in zip(("without", "with"), runs, strict=False)
    }


def _stands(
    kindest: TwoSamples,
    without_runs: int,
    effects: Effects,
    context: Context,
) -> bool:
    """Whether the runs differ with any answers in place of those
    that could not be read or did not come.
    """
    of_all = kindest.with_unread(without_runs, len(effects.rows))
    return of_all.estimate > 0 and of_all.test()[1] < context.alpha


def _places(pairs: Pairs) -> dict[str, int]:
    """Before which of the other users each user stands who
    has an answer that could not be read.
    """
    unread = set(pairs.unread_users)
    others_in_order = [user for user in pairs.order if user not in unread]
    of_unread = [user for user in pairs.order if user in unread]
    return dict(
        zip(of_unread, places_of(unread, others_in_order, pairs.order), strict=True),
    )


def _seen(effects: Effects, pairs: Pairs) -> Seen:
    """The effects of all users, where those with some unread answers have runs too.

    The published test knows no bounds, so its effects have no users of unknown effect;
    the account names them.
    """
    whole = pairs.whole()
    users = [asked.user for asked in whole.source]
    unread = set(pairs.unread_users)
    with_runs = {users[row] for row in effects.rows}
    seen = Seen.of(
        effects,
        whole,
        whole.source,
        whole.followup,
        unclear=unread - with_runs,
    )
    partly = len(unread & with_runs)
    account = dataclasses.replace(
        seen.account,
        answered=seen.account.answered - partly,
        unread=seen.account.unread + partly,
    )
    return dataclasses.replace(seen, effects=effects, tally=pairs, account=account)


def _unread(side: Sequence[Asked]) -> NDArray[np.bool_]:
    """Of which answers nothing could be read, ``(users, runs)``."""
    return np.array(
        [[answer.unread for answer in asked.answers] for asked in side],
        np.bool_,
    )


def _run_effects(
    pairs: Pairs,
    context: Context,
    similarity: Similarity,
) -> tuple[Effects, Sequence[Floats], TwoSamples | None]:
    """The effects, the means of the runs without and with the change, and the samples
    that speak most for equality.

    An answer of which nothing could be read agrees with no answer. Where that is
    kindest to the recommender, it agrees.
    """
    encoded = encode(pairs, context)
    rows = encoded.rows
    source, followup = filled(encoded.source), filled(encoded.followup)
    baseline = source[:, 0]
    size = max(1, source.shape[1] - 1)
    unchanged = _run_similarities(baseline, source[:, 1:], similarity)
    changed = _run_similarities(baseline, followup[:, :size], similarity)
    effects = Effects(
        rows=rows,
        effect=np.zeros(len(rows)),
        reach=(-1.0, 1.0),
        failed=under(NO_ANSWER, _without_items(pairs, rows)),
    )
    if not len(rows):
        return effects, (), None
    silent, silent_too = _unread(pairs.source)[rows], _unread(pairs.followup)[rows]
    of_baseline = silent[:, :1]
    unchanged[of_baseline | silent[:, 1:]] = 0.0
    unknown = of_baseline | silent_too[:, :size]
    changed[unknown] = 0.0
    runs = (unchanged.mean(axis=0), changed.mean(axis=0))
    few = min(len(run) for run in runs) < 2
    flat = few or all(np.ptp(run) == 0 for run in runs)
    mean: Mean = Certain(0.0)
    kindest = None
    if not flat:
        mean = TwoSamples.of(runs)
        kind_runs = (runs[0], np.where(unknown, 1.0, changed).mean(axis=0))
        differ = any(np.ptp(run) > 0 for run in kind_runs)
        kindest = TwoSamples.of(kind_runs) if differ else TwoSamples.of(runs)
    found = dataclasses.replace(
        effects,
        mean=mean,
        obstacle=TOO_FEW_RUNS if few else NO_VARIANCE if flat else "",
        floor=None if few else unchanged.mean(axis=1),
        agreement=changed.mean(axis=1),
        effect=np.zeros(len(rows))
        if few
        else unchanged.mean(axis=1) - changed.mean(axis=1),
    )
    return found, () if few else runs, kindest


def _without_items(pairs: Pairs, rows: Collection[int]) -> list[int]:
    """The users whose answers could be read and name nothing."""
    return [
        row
        for row in others(len(pairs.source), rows)
        if not (pairs.source[row].unread or pairs.followup[row].unread)
    ]


def _run_similarities(baseline: Lists, runs: Lists, similarity: Similarity) -> Floats:
    out = np.empty((len(baseline), runs.shape[1]))
    for run in range(runs.shape[1]):
        out[:, run] = agreement_of(baseline, runs[:, run], similarity)
    return out
