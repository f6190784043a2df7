"""One recommender must not be behind another, on the same users."""

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.curve import curve
from pytest_recsys_mt.oracles.judging.account import BOTH_ENDS
from pytest_recsys_mt.oracles.scores.score import Score, score_named
from pytest_recsys_mt.oracles.statistics.crossing_point import (
    CrossingPoint,
    crossing_point,
)
from pytest_recsys_mt.oracles.statistics.paired_difference import (
    PairedDifference,
    paired_difference,
)
from pytest_recsys_mt.oracles.user_scores import account_of, incomplete, user_scores
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Status, Verdict

__all__ = ["ahead_when_cold", "not_behind"]


def not_behind(
    ours: Sequence[Answers],
    other: Sequence[Answers],
    score: str | Score = "ndcg@10",
    alpha: float = 0.01,
) -> Verdict:
    """The mean score must not be lower than another recommender's.

    With several initialisations, each user's mean score counts. The test flips the
    signs of the users' differences, so its error rate is declared for differences as
    often above 0 as below it by as much; of others it is approximate.

    Example:
        assert not_behind([recsys.run()], [recsys_against.run()], "ndcg@5")

    Args:
        ours: Answers of the recommender under test, one side per initialisation.
        other: Answers of the other recommender.
        score: As in `at_least`; higher is better.
        alpha: Error rate of the two-sided paired test over users; see
            `paired_difference`.

    Returns:
        ``violated`` if ours is lower and the test rejects, ``holds`` if ours is higher
        and the test rejects, ``inconclusive`` otherwise. The details give both means
        and their spread over initialisations. ``not-applicable`` if fewer than two
        users have scores on all sides; see `incomplete` for sides that lack users.
    """
    named = score_named(score)
    oracle = f"not_behind:{named.name}"
    if not ours or not other:
        raise OracleError(
            f"{oracle}: each recommender needs a side, got {len(ours)}, {len(other)}",
        )
    sides = [*ours, *other]
    context = ours[0].context
    if (lacking := incomplete(oracle, sides, named, bounded=True)) is not None:
        return context.report(lacking)
    mine, theirs = _scores(sides, named, len(ours))
    if len(mine) < 2:
        return context.report(Verdict("not-applicable", oracle, reason="too few users"))
    found = paired_difference(mine.mean(axis=1), theirs.mean(axis=1), alpha)
    status, users = _of_all_users(sides, named, len(ours), alpha)
    return context.report(
        Verdict(
            status,
            oracle,
            metric=named.name,
            value=float(mine.mean()),
            users=found.users,
            account=account_of(sides, named, len(mine)).plain,
            approximate=True,
            reason=_reason(named, mine, theirs, other[0], found.p_value, users),
            details={"figures": _figures(mine, theirs, found, alpha)},
        ),
    )


def _figures(
    mine: Floats,
    theirs: Floats,
    found: PairedDifference,
    alpha: float,
) -> dict[str, float | None]:
    """Both means with their spread over fits, and the result of the test."""
    return {
        **_spread("ours", mine.mean(axis=0)),
        **_spread("other", theirs.mean(axis=0)),
        "difference": found.mean,
        "p": found.p_value,
        "alpha": alpha,
    }


def _reason(
    score: Score,
    mine: Floats,
    theirs: Floats,
    other: Answers,
    p_value: float | None,
    users: int,
) -> str:
    """Both means, the result of the test, and how many of all users are missing."""
    text = f"{_in_words(score, mine, theirs, other)}, two-sided p={p_value:.2g}"
    if missing := users - len(mine):
        text += f"; {_missing_in_words(missing, users)}"
    return text


def _in_words(score: Score, mine: Floats, theirs: Floats, other: Answers) -> str:
    """Both means, the allowed loss, and of how many fits they
    are; the scores are ``(users, fits)``.
    """
    name = getattr(other, "model", "the other recommender")
    fits, their_fits = mine.shape[1], theirs.shape[1]
    return (
        f"{score.name} {mine.mean():.4f} against {theirs.mean():.4f} of {name}, and no difference below 0 "
        f"is allowed; means of {fits} and {their_fits} fits"
    )


def _missing_in_words(missing: int, users: int) -> str:
    return f"{missing} of {users} users got no answer or no score on a side; each {BOTH_ENDS}"


def _of_all_users(
    sides: Sequence[Answers],
    score: Score,
    ours: int,
    alpha: float,
) -> tuple[Status, int]:
    """The claim that the test shows for all users, and their number.

    Users whose answers could not be read count against either claim: for each, they get
    the score that speaks most against it.
    """
    status: Status = "inconclusive"
    users = 0
    claims: tuple[tuple[Status, int, int], ...] = (("holds", 1, 0), ("violated", -1, 1))
    for claim, sign, end in claims:
        ends = [end] * ours + [1 - end] * (len(sides) - ours)
        mine, theirs = _scores(sides, score, ours, ends)
        users = len(mine)
        found = paired_difference(mine.mean(axis=1), theirs.mean(axis=1), alpha)
        if found.significant and sign * found.mean > 0:
            status = claim
    return status, users


def ahead_when_cold(
    ours: Mapping[int, Answers],
    other: Mapping[int, Answers],
    score: str | Score = "ndcg@10",
) -> Verdict:
    """With the shortest histories the recommender must not be overtaken by another.

    Arguments are those of `not_behind`, but by length of the history, of which two at
    least are shared.

    Example:
        ours = {n: recsys.using(history=n).run() for n in (2, 5, 10)}
        other = {n: recsys_against.using(history=n).run() for n in (2, 5, 10)}
        assert ahead_when_cold(ours, other, "ndcg@5")

    Returns:
        ``holds`` if the 95 % interval of the `crossing_point` lies beyond the shortest
        shared length, ``violated`` if it is only that length, ``inconclusive``
        otherwise. The details give both curves and the crossing point.
        ``not-applicable`` if fewer than two users have scores on all sides; see
        `incomplete` for sides that lack users.
    """
    named = score_named(score)
    oracle = f"ahead_when_cold:{named.name}"
    lengths = sorted(ours.keys() & other.keys())
    if len(lengths) < 2:
        raise OracleError(
            f"{oracle}: both need two lengths of histories, shared are {lengths!r}",
        )
    sides = [*(ours[each] for each in lengths), *(other[each] for each in lengths)]
    context = sides[0].context
    if (lacking := incomplete(oracle, sides, named)) is not None:
        return context.report(lacking)
    mine, theirs = _scores(sides, named, len(lengths))
    if len(mine) < 2:
        return context.report(Verdict("not-applicable", oracle, reason="too few users"))
    found = crossing_point(lengths, mine, theirs)
    lines = {
        name: [
            list(point) for point in curve({each: of[each] for each in lengths}, named)
        ]
        for name, of in (("ours", ours), ("other", other))
    }
    return context.report(
        Verdict(
            _status_of(found, lengths[0]),
            oracle,
            users=len(mine),
            account=account_of(sides, named, len(mine)).plain,
            reason=_point_in_words(found),
            details=_curves_and_point(named, lines, found),
        ),
    )


def _status_of(found: CrossingPoint, shortest: int) -> Status:
    """Whether the other recommender is not better with the shortest histories."""
    if found.low != shortest:
        return "holds"
    return "violated" if found.high == shortest else "inconclusive"


def _curves_and_point(
    score: Score,
    lines: Mapping[str, Sequence[Sequence[float]]],
    found: CrossingPoint,
) -> dict[str, object]:
    """The curves of both recommenders, and where they cross."""
    return {
        "curve": {
            "x": "items of the history",
            "y": score.name,
            "points": lines["ours"],
        }
        | {"lines": lines},
        "figures": {
            "crossing_point": found.length,
            "low": found.low,
            "high": found.high,
            "never": found.never,
        },
    }


def _point_in_words(found: CrossingPoint) -> str:
    at = "never" if found.length is None else f"at {found.length} items"
    interval = " to ".join(
        "never" if end is None else str(end) for end in (found.low, found.high)
    )
    return f"overtaken {at}, 95 % interval {interval}"


def _scores(
    sides: Sequence[Answers],
    score: Score,
    ours: int,
    ends: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    scores = np.array(list(user_scores(sides, score, ends=ends).values())).reshape(
        -1,
        len(sides),
    )
    return scores[:, :ours], scores[:, ours:]


def _spread(name: str, means: Floats) -> dict[str, float]:
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return {f"{name}_mean": float(means.mean()), f"{name}_deviation": spread}
