"""Scores of single lists besides the comparison, and how
well each distinguishes recommenders.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.steps import step_by_step
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.judging import OVERALL, Appraisal, Showing
from pytest_recsys_mt.suites.arena.outcomes import outcomes, unread_verdicts
from pytest_recsys_mt.suites.arena.trust import Trust, untrusted
from pytest_recsys_mt.verdict.answers import Asked, Pairs
from pytest_recsys_mt.verdict.verdict import Verdict, annotate


def not_scored_lower(
    arena: Arena,
    aspect: str = OVERALL,
    *,
    margin: float,
    trusted: Trust | None = None,
) -> Verdict:
    """The judge scores lists of the recommender under test no lower than the other's.

    Each list is shown alone and gets a score from 0 to 1. All users are asked, and
    their lists are compared too, for the figures.

    Args:
        arena: The two recommenders and a judge that gives scores.
        aspect: Name of one of the arena's aspects, or ``overall``.
        margin: How much lower the mean score may be, at least 0.
        trusted: As in `preferred`.

    Returns:
        A verdict, reported; ``details["figures"]`` has both mean scores, and the
        `discrimination` of the scores and of the comparisons.

    Raises:
        NotApplicable: If the judge gives no scores.
        OracleError: If an argument is invalid.
    """
    arena.require("not_scored_lower", aspect)
    margin = not_negative("not_scored_lower", "margin", margin)
    claim = Claim(
        f"not_scored_lower:{aspect}",
        "at least",
        -margin,
        ask_everybody=True,
        measures=f"lead over {arena.names[1]} in the judge's score",
    )
    context = arena.context
    seen: list[tuple[Floats, Pairs]] = []

    def see(users: int) -> Seen:
        pairs = arena.pairs(users)
        effects, scores, unclear = _scores(arena, pairs, aspect)
        seen.append((scores, pairs))
        return Seen.of(effects, pairs, pairs.source, pairs.followup, unclear=unclear)

    relation = f"{aspect} score against {arena.names[1]}"
    verdict = step_by_step(claim, relation, context, arena.users, see)
    scores, pairs = seen[-1]
    if len(scores):
        compared = outcomes(arena, pairs, aspect).preference
        verdict = annotate(verdict, figures=_figures(scores, compared))
        if verdict.status == "holds" and np.ptp(scores) == 0:
            verdict = _withdrawn(verdict)
    return context.report(
        untrusted(verdict, arena, trusted, aspect=aspect, allowed=margin),
    )


def _figures(scores: Floats, compared: Floats) -> dict[str, float | str]:
    """Both mean scores, and how clearly scores and comparisons distinguish the
    recommenders.
    """
    difference = scores[:, 0] - scores[:, 1]
    return {
        "score": float(scores[:, 0].mean()),
        "score of the other": float(scores[:, 1].mean()),
        "told apart by score": _in_words(discrimination(difference)),
        "told apart by comparison": _in_words(discrimination(compared)),
        "users tied by score": float((difference == 0).mean()),
        "users tied by comparison": float((compared == 0).mean())
        if len(compared)
        else 1.0,
    }


def _withdrawn(verdict: Verdict) -> Verdict:
    """A verdict that claims nothing, because all scores are one."""
    reason = (
        "the judge gives every list one score, which says nothing of the recommenders"
    )
    return dataclasses.replace(
        verdict,
        status="inconclusive",
        p_value=None,
        reason=reason,
    )


def discrimination(differences: Floats) -> float:
    """How clearly a difference is distinguished from 0: its mean over users in standard
    deviations.

    Squared, it is inversely proportional to the number of users that a t-test needs.

    Returns:
        At least 0, without a sign; infinite if all users have the same difference, and
        0 if that is 0.
    """
    if len(differences) < 2:
        return 0.0
    mean, deviation = abs(float(differences.mean())), float(differences.std(ddof=1))
    if deviation < 1e-12:
        return float("inf") if mean > 1e-12 else 0.0
    return mean / deviation


def rated(arena: Arena, answered: Sequence[Asked]) -> list[Appraisal]:
    """The judge's scores of each list."""
    return arena.judge_runner.rated(
        [
            Showing(
                arena.comparison(asked, (), ()).request,
                arena.items(asked),
                arena.aspects,
            )
            for asked in answered
        ],
    )


def _in_words(value: float) -> float | str:
    return "infinite (all users alike)" if math.isinf(value) else value


def _scores(
    arena: Arena,
    pairs: Pairs,
    aspect: str,
) -> tuple[Effects, Floats, list[str]]:
    """The effects, the scores of both lists, ``(n, 2)``, and
    the users of whom a score cannot be read.
    """
    both = zip(pairs.source, pairs.followup, strict=True)
    given = rated(arena, [asked for pair in both for asked in pair])
    rows, numbers, unclear = [], [], []
    failed = defaultdict[str, list[int]](list)
    for row, (one, two) in enumerate(zip(given[::2], given[1::2], strict=True)):
        error = one.error or two.error
        scores = (one.score(aspect), two.score(aspect))
        if error:
            failed[error].append(row)
            continue
        if scores[0] is None or scores[1] is None:
            unclear.append(pairs.source[row].user)
            continue
        rows.append(row)
        numbers.append(scores)
    table = np.array(numbers, np.float64).reshape(-1, 2)
    lead = table[:, 0] - table[:, 1]
    share = len(unclear) / max(1, len(given) / 2)
    limit = arena.context.error_limit
    obstacle = "" if share <= limit else unread_verdicts(share, limit)
    effects = Effects(
        np.array(rows, np.intp),
        lead,
        (-1.0, 1.0),
        failed=failed,
        obstacle=obstacle,
    )
    return effects, table, unclear
