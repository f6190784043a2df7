"""All users and groups of them, judged as one family of claims.

A claim that the promise is broken is made of all users and of each group by Holm's
procedure, so that any such claim is wrong with probability at most alpha. All users
have half of alpha: the mean of all is what a promise is about, and many groups must not
make it hard to judge. The groups share the other half.

A claim that the promise holds is made of all users at alpha, as without groups, and
then of the groups by Holm's procedure. No group is said to hold unless all users do. So
a false claim needs a false one of all users, or, where that one is true, a false one of
a group: either has probability at most alpha (fixed sequence; Maurer, Hothorn and
Lehmacher 1995).

The p-values of bets hold at all numbers of users at once, so this is true whenever
the questions end, for any reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_recsys_mt.oracles.judging.claim import Claim, p_value, p_value_of_opposite
from pytest_recsys_mt.oracles.statistics.bounds import Mean
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.verdict.verdict import Status


@dataclass(frozen=True)
class Family:
    """The claims about all users, who come first, and about each group.

    Attributes:
        statuses: The claimed status of each.
        p_values: Of the hypotheses that the promise holds for each, without any
            correction.
        p_value: Of the hypothesis that it holds for all of them.
    """

    statuses: Sequence[Status]
    p_values: Sequence[float]
    p_value: float

    @property
    def status(self) -> Status:
        """``violated`` if any member is, else that of all users."""
        return "violated" if "violated" in self.statuses else self.statuses[0]


def weights(groups: int) -> list[float]:
    """The shares of alpha of all users and of each group."""
    if not groups:
        return [1.0]
    return [0.5] + [0.5 / groups] * groups


def judge_family(
    claim: Claim,
    members: Sequence[Mean | None],
    alpha: float,
    capped: Sequence[Mean | None] | None = None,
) -> Family:
    """Judge all users and each group.

    Of two claims that could be made, that with the smaller p-value is. With `capped`
    means, both claims can be true where few users lose much: ``violated`` is made.

    Args:
        claim: The claim to judge.
        members: The estimates of the mean effects of all users and of each group; None
            if nobody was scored.
        alpha: The error rate.
        capped: The same for ``holds``, if effects count only up to a cap for it.
    """
    against = [1.0 if mean is None else p_value(mean, claim) for mean in members]
    for_holds = capped or members
    opposite = [
        1.0 if mean is None else p_value_of_opposite(mean, claim) for mean in for_holds
    ]
    broken = holm(against, weights(len(members) - 1))
    gate = opposite[0] <= alpha
    of_groups = holm(opposite[1:]) if gate else [1.0] * (len(members) - 1)
    kept = [opposite[0], *of_groups]
    # A promise that breaks in one of several ways is tested in each; groups are then
    # corrected for both.
    level = alpha / claim.ways if len(members) > 1 else alpha
    statuses: list[Status] = []
    for place in range(len(members)):
        is_broken = broken[place] <= level
        is_kept = kept[place] <= alpha
        rather_broken = capped is not None or against[place] < opposite[place]
        statuses.append(_status(is_broken, is_kept, rather_broken=rather_broken))
    return Family(statuses, against, min(broken))


def _status(is_broken: bool, is_kept: bool, *, rather_broken: bool) -> Status:
    """The claim that is made; `rather_broken` decides if both could be."""
    if is_broken and (rather_broken or not is_kept):
        return "violated"
    return "holds" if is_kept else "inconclusive"
